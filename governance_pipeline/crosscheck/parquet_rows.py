"""Parquet sources, row by row.

What belongs here: the raw text of binary columns. What does not: what all formats share (`crosscheck.sources`).
A binary number has no spelling, so its lexeme is the shortest decimal that reads back in the type of its column.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from governance_pipeline.crosscheck.rows import MISSING, Value
from governance_pipeline.crosscheck.sources import SourceAccount, SourceRow, usable_key
from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lines import read_blocks
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BATCH_ROWS = 8192
"""Rows decoded at once: a few megabytes, whatever the row groups of the file."""

_FAILURES = (pa.ArrowException, OSError, ValueError, OverflowError)


class _NotUtf8:
    """Stands for a text that is not UTF-8: the row cannot be used."""


_NOT_UTF8 = _NotUtf8()


def parquet_rows(
    path: Path,
    stream: BinaryIO,
    key: str,
    columns: frozenset[str],
    account: SourceAccount,
    on_bytes: Callable[[int], None],
) -> Iterator[SourceRow]:
    """Yield the rows of a Parquet file; `line` is the row number from 1. A row that cannot be used has key None.

    Raises:
        UnreadableError: not a Parquet file, damaged, or a column name is repeated.
    """
    digest = hashlib.sha256()
    for block in read_blocks(stream):
        digest.update(block)
        account.bytes += len(block)
        on_bytes(len(block))
    account.sha256 = digest.hexdigest()
    stream.seek(0)
    try:
        yield from _decoded_rows(pq.ParquetFile(stream), key, columns)
    except _FAILURES as error:
        why = excerpt(str(error), 120)
        raise UnreadableError(f"{excerpt(str(path))} cannot be read as Parquet: {why}; write it again") from None


def _decoded_rows(file: Any, key: str, columns: frozenset[str]) -> Iterator[SourceRow]:
    names = file.schema_arrow.names
    if len(set(names)) < len(names):
        raise ValueError("a column name is repeated")
    wanted = sorted(name for name in columns if name in names)
    if key not in names or not _can_be_key(file.schema_arrow.field(key).type):
        yield from (SourceRow(None, number, {}) for number in range(1, file.metadata.num_rows + 1))
        return
    number = 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=sorted({*wanted, key})):
        keys = _values(batch.column(key))
        cells = [_values(batch.column(name)) for name in wanted]
        for index, key_value in enumerate(keys):
            number += 1
            row = [column[index] for column in cells]
            subject = None if isinstance(key_value, _NotUtf8) else usable_key(key_value)
            if subject is None or any(isinstance(value, _NotUtf8) for value in row):
                yield SourceRow(None, number, {})
            else:
                yield SourceRow(subject, number, dict(zip(wanted, row, strict=True)))  # type: ignore[arg-type]  # checked above


def _can_be_key(kind: Any) -> bool:
    """Texts and integers; a float is none even where its shortest decimal looks like one."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(kind) or _is_text(kind))


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def parquet_values(column: Any) -> list[Value]:
    """Return the values of an Arrow column; its texts are known to be UTF-8.

    Raises:
        ValueError: a text is not UTF-8 after all.
    """
    values = []
    for value in _values(column):
        if isinstance(value, _NotUtf8):
            raise ValueError("a text is not UTF-8")  # noqa: TRY004 - a fault of the text, not of its type
        values.append(value)
    return values


def _values(column: Any) -> list[Value | _NotUtf8]:
    """The values of one column of a batch."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _values(column.dictionary_decode())
    if pa.types.is_floating(kind):
        known = column.is_valid().to_pylist()
        numbers = column.to_numpy(zero_copy_only=False)
        return [_float(value) if is_known else MISSING for value, is_known in zip(numbers, known, strict=True)]
    if _is_text(kind):
        # As bytes, so that one bad text costs its own row and not the file.
        column = column.cast(pa.large_binary())
        return [MISSING if value is None else _text(value) for value in column.to_pylist()]
    spell = _spelling(kind)
    return [MISSING if value is None else spell(value) for value in column.to_pylist()]


def _spelling(kind: Any) -> Callable[[Any], Value]:
    types = pa.types
    if types.is_boolean(kind):
        return lambda value: Value(ValueKind.BOOLEAN, "true" if value else "false")
    if types.is_integer(kind):
        return lambda value: Value(ValueKind.NUMBER, str(value))
    if types.is_decimal(kind):
        return lambda value: Value(ValueKind.NUMBER, format(value, "f"))
    if types.is_map(kind) or types.is_struct(kind):
        return lambda _value: Value(ValueKind.OBJECT, "object")
    if types.is_nested(kind):
        return lambda _value: Value(ValueKind.ARRAY, "array")
    return lambda value: Value(ValueKind.TEXT, value.hex() if isinstance(value, bytes) else str(value))


def _float(value: Any) -> Value:
    """A float of any width; the shortest decimal depends on the width, so the value is never widened."""
    if np.isnan(value):
        return Value(ValueKind.NOT_FINITE, "NaN")
    if np.isinf(value):
        return Value(ValueKind.NOT_FINITE, "Infinity" if value > 0 else "-Infinity")
    return Value(ValueKind.NUMBER, np.format_float_positional(value, unique=True, trim="-"))


def _text(value: bytes) -> Value | _NotUtf8:
    try:
        return Value(ValueKind.TEXT, value.decode("utf-8"))
    except UnicodeDecodeError:
        return _NOT_UTF8
