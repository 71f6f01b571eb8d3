"""Frames typed by a contract: from rows of Python values, from Arrow, and back to Arrow.

What belongs here: the one mapping between a contract's pandas dtypes, Python values and Arrow types. What does not:
rules about values (`rules`) and files (storage). Nothing is coerced: a value that does not fit its column is an error
naming row and column, because a rounded or re-typed number is a changed number (design §3, law 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from governance_pipeline.contracts.breach import Breach, breach_frame, contract_breach, shown
from governance_pipeline.contracts.fields import MONEY_TYPE, TableModel

_FEW: Final = 1_000  # values up to which looking at each costs less than an Arrow array
_INT64: Final = range(-(2**63), 2**63)
_MONEY_STEP: Final = Decimal(1).scaleb(-MONEY_TYPE.scale)
_MONEY_CONTEXT: Final = Context(prec=MONEY_TYPE.precision, traps=[Inexact, InvalidOperation])


class Misfit(Exception):  # noqa: N818 - caught where row and column are known, never seen outside
    """A value that does not fit its kind of column."""


class Kind(NamedTuple):
    """One kind of column: how Arrow stores it and what Python values it takes.

    `fit` returns the value to store or raises Misfit saying why it does not fit. A column that holds nothing but the
    exact type `plain` and None needs no look at each value once `are_sound` has seen them all; most columns do.
    """

    arrow: pa.DataType
    fit: Callable[[Any], Any]
    plain: type | None = None
    are_sound: Callable[[list[Any]], bool] = lambda _: True


def _fit_text(value: Any) -> str:
    if not isinstance(value, str):
        raise Misfit("not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Misfit("holds a lone surrogate, which UTF-8 cannot store") from None
    return str.__str__(value)


def _fit_count(value: Any) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise Misfit("not a whole number")
    if int(value) not in _INT64:
        raise Misfit("beyond 64 bits")
    return int(value)


def _fit_flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise Misfit("not true or false")
    return bool(value)


def _fit_real(value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer | float | np.floating):
        raise Misfit("not a number")
    try:
        number = float(value)
    except OverflowError:
        raise Misfit("beyond binary64") from None
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 - only NaN differs from itself
        raise Misfit("not finite; unknown is None")
    if number != value:
        raise Misfit("not exact in binary64")
    return number


def _fit_time(value: Any) -> datetime:
    if not isinstance(value, datetime):
        raise Misfit("not a time")
    if value.tzinfo is None:
        raise Misfit("has no time zone, so it names no instant")
    if getattr(value, "nanosecond", 0):
        raise Misfit("finer than a microsecond")
    return value.astimezone(UTC)


def _fit_money(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise Misfit("not a Decimal")
    number = Decimal(value)
    if not number.is_finite():
        raise Misfit("not finite; unknown is None")
    try:
        return number.quantize(_MONEY_STEP, context=_MONEY_CONTEXT)
    except (Inexact, InvalidOperation):
        raise Misfit(f"does not fit DECIMAL({MONEY_TYPE.precision}, {MONEY_TYPE.scale})") from None


def _are_utf8(values: Iterable[Any]) -> bool:
    if isinstance(values, list) and len(values) <= _FEW and all(v is None or v.isascii() for v in values):
        return True
    try:
        pa.array(values, type=pa.string(), from_pandas=True)
    except UnicodeEncodeError:
        return False
    return True


def _are_64_bit(values: list[Any]) -> bool:
    whole = [value for value in values if value is not None]
    return not whole or (min(whole) in _INT64 and max(whole) in _INT64)


_KINDS: Final[Mapping[type, Kind]] = {
    pd.StringDtype: Kind(pa.string(), _fit_text, str, _are_utf8),
    pd.Int64Dtype: Kind(pa.int64(), _fit_count, int, _are_64_bit),
    pd.BooleanDtype: Kind(pa.bool_(), _fit_flag, bool),
    pd.Float64Dtype: Kind(pa.float64(), _fit_real),
    pd.DatetimeTZDtype: Kind(pa.timestamp("us", "UTC"), _fit_time),
    pd.ArrowDtype: Kind(MONEY_TYPE, _fit_money),
}


_NULLABLE: Final[Mapping[pa.DataType, Any]] = {
    pa.string(): pd.StringDtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int8(): pd.Int8Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
}


@cache
def column_dtypes(model: type[TableModel]) -> Mapping[str, Any]:
    """Give the pandas dtype of each column of a contract, in order."""
    columns = model.to_schema().columns.items()
    return MappingProxyType({str(name): column.dtype.type for name, column in columns})


def arrow_schema(model: type[TableModel]) -> pa.Schema:
    """Give the Arrow schema of a contract; nullability stays with the contract's rules, which name the row."""
    return pa.schema([(name, _KINDS[type(dtype)].arrow) for name, dtype in column_dtypes(model).items()])


def empty(model: type[TableModel]) -> pd.DataFrame:
    """Give the frame of a contract without rows; shape: every column, in order, with its dtype."""
    return _empty(model).copy()


def typed(model: type[TableModel], table: str, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Make the frame of a contract from rows; a column a row leaves out is null there.

    Raises:
        ContractBreach: a row names a column the contract does not have, or a value does not fit its column; all such
            cells are listed with column and row (from 0).
    """
    dtypes = column_dtypes(model)
    cells, faults = _columns(tuple(dtypes), rows)
    arrays: dict[str, Any] = {}
    for name, dtype in dtypes.items():
        arrays[name], misfits = _typed_array(name, dtype, cells[name])
        faults += misfits
    if faults:
        raise contract_breach(table, breach_frame(faults))
    return pd.DataFrame(arrays, copy=False)  # the arrays are new, nobody else holds them


@cache
def _empty(model: type[TableModel]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.array([], dtype=dtype) for name, dtype in column_dtypes(model).items()})


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Give one dict per row with plain Python values; every null is None."""
    names = [str(name) for name in frame.columns]
    columns = [_plain_cells(frame[name]) for name in names]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _plain_cells(column: pd.Series) -> list[Any]:
    cells = zip(column.astype(object).tolist(), column.isna().tolist(), strict=True)
    return [None if missing else value for value, missing in cells]


def to_arrow(model: type[TableModel], frame: pd.DataFrame) -> pa.Table:
    """Give a frame with the right columns and storable texts (see `unstorable`) as an Arrow table without metadata."""
    schema = arrow_schema(model)
    columns = [pa.array(frame[field.name], type=field.type, from_pandas=True) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def from_arrow(model: type[TableModel], table: pa.Table) -> pd.DataFrame:
    """Give an Arrow table of a contract's schema as a frame with the contract's dtypes."""
    dtypes = column_dtypes(model)
    return pd.DataFrame({name: dtype.__from_arrow__(table.column(name)) for name, dtype in dtypes.items()}, copy=False)


def pandas_dtype(arrow: pa.DataType) -> Any:
    """Give the pandas dtype that holds an Arrow type without changing a value; None leaves it to pyarrow."""
    if pa.types.is_decimal(arrow):
        return pd.ArrowDtype(arrow)
    return _NULLABLE.get(arrow)


def unstorable(model: type[TableModel], frame: pd.DataFrame) -> list[Breach]:
    """Find texts with a lone surrogate, which neither Parquet nor UTF-8 can hold."""
    found: list[Breach] = []
    for name, dtype in column_dtypes(model).items():
        if isinstance(dtype, pd.StringDtype) and not _are_utf8(frame[name]):
            found += [
                Breach(name, "utf8", row, shown(value)) for row, value in enumerate(frame[name]) if not _is_utf8(value)
            ]
    return found


def _is_utf8(value: Any) -> bool:
    try:
        return not isinstance(value, str) or bool(value.encode()) or not value
    except UnicodeEncodeError:
        return False


def _columns(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> tuple[dict[str, list[Any]], list[Breach]]:
    known = frozenset(names)
    cells: dict[str, list[Any]] = {name: [] for name in names}
    appends = [(name, cells[name].append) for name in names]
    faults: list[Breach] = []
    for index, row in enumerate(rows):
        for name, append in appends:
            append(row.get(name))
        if not known.issuperset(row):
            faults += [
                Breach(str(name), "no_such_column", index, shown(row[name])) for name in row if name not in known
            ]
    return cells, faults


def _typed_array(name: str, dtype: Any, values: list[Any]) -> tuple[Any, list[Breach]]:
    kind = _KINDS[type(dtype)]
    if kind.plain is not None and {kind.plain, type(None)}.issuperset(map(type, values)) and kind.are_sound(values):
        return pd.array(values, dtype=dtype), []
    fitted: list[Any] = []
    faults: list[Breach] = []
    for index, value in enumerate(values):
        if value is None or value is pd.NA or value is pd.NaT:
            fitted.append(None)
            continue
        try:
            fitted.append(kind.fit(value))
        except Misfit as reason:
            fitted.append(None)
            faults.append(Breach(name, f"type: {reason}", index, shown(value)))
    return pd.array(fitted, dtype=dtype), faults
