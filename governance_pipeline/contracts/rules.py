"""The rules of a contract as data, read from its pandera model, and the failures pandera finds.

What belongs here: the list of rules that the SQL pass (`sql_rules`), the catalogue and the tests all work from. What
does not: any rule of a particular table. A model with a check that is not one of the kinds below is refused, so that
the SQL pass can never be weaker than the model.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pandera.pandas as pandera
from pandera.errors import SchemaError, SchemaErrorReason, SchemaErrors

from governance_pipeline.contracts.breach import Breach, shown
from governance_pipeline.contracts.fields import FINITE_MAX, TableModel, whole_pattern_body
from governance_pipeline.contracts.frames import column_dtypes, unstorable
from governance_pipeline.strict.text_codes import text_codes

_CHECKS: Final = {
    "greater_than_or_equal_to": ("ge", "min_value"),
    "less_than_or_equal_to": ("le", "max_value"),
    "equal_to": ("eq", "value"),
    "str_matches": ("matches", "pattern"),
    "isin": ("isin", "allowed_values"),
}
"""pandera check -> kind of rule, and the statistic that holds its argument."""


_FINITE: Final = {"min_value": -FINITE_MAX, "max_value": FINITE_MAX, "include_min": True, "include_max": True}


class Rule(NamedTuple):
    """One rule: the columns it is about, its kind, its argument.

    Kinds: not_null, finite, ge, le, eq, matches, isin, unique.
    """

    columns: tuple[str, ...]
    kind: str
    argument: Any = None

    @property
    def column(self) -> str:
        """Name of the column as a failure shows it: the key's columns joined by a comma for `unique`."""
        return ", ".join(self.columns)

    @property
    def name(self) -> str:
        """Name of the rule as a failure shows it: kind, and its argument where it has one."""
        if self.argument is None:
            return self.kind
        if self.kind == "isin":
            return f"isin({', '.join(map(str, self.argument))})"
        return f"{self.kind}({self.argument})"


@cache
def rules_of(model: type[TableModel]) -> tuple[Rule, ...]:
    """List the rules of a contract: column by column in order, the key last.

    Raises:
        NotImplementedError: the model has no key, or a check that has no SQL form; add that to `_CHECKS` and
            `sql_rules`.
    """
    schema = model.to_schema()
    rules = [rule for name, column in schema.columns.items() for rule in _column_rules(str(name), column)]
    if schema.checks or not schema.unique:
        raise NotImplementedError(f"{model.__name__} must have a key (`Config.unique`) and no other rule over columns")
    return (*rules, Rule(tuple(schema.unique), "unique"))


def _column_rules(name: str, column: pandera.Column) -> Iterator[Rule]:
    if not column.nullable:
        yield Rule((name,), "not_null")
    for check in column.checks:
        yield _check_rule(name, check)


def _check_rule(name: str, check: pandera.Check) -> Rule:
    if check.name == "in_range" and check.statistics == _FINITE:
        return Rule((name,), "finite")
    if check.name not in _CHECKS:
        raise NotImplementedError(f"column {name} has the check {check.name}, which has no SQL form")
    kind, statistic = _CHECKS[check.name]
    argument = (check.statistics or {})[statistic]
    return Rule((name,), kind, whole_pattern_body(argument) if kind == "matches" else argument)


def structure_breaches(model: type[TableModel], frame: pd.DataFrame) -> list[Breach]:
    """Find what is wrong with the columns themselves: missing, unexpected, out of order, of another dtype.

    Values can be judged only where this is empty. Read from the model by hand because pandera's own dtype check costs
    about a millisecond a column, whatever the size of the frame (measured: 20 columns, 10 rows, 20 ms against 9).
    """
    dtypes = column_dtypes(model)
    present = [str(name) for name in frame.columns]
    found = [Breach(name, "column_missing", None, None) for name in dtypes if name not in present]
    found += [Breach(name, "column_unexpected", None, None) for name in present if name not in dtypes]
    if not found and present != list(dtypes):
        found = [Breach(", ".join(present), "column_order", None, None)]
    if found:
        return found
    return [
        Breach(name, f"dtype({dtype})", None, str(frame[name].dtype))
        for name, dtype in dtypes.items()
        if frame[name].dtype != dtype
    ]


def value_breaches(model: type[TableModel], frame: pd.DataFrame) -> list[Breach]:
    """Find the rules that rows of a frame with the right columns break, by pandera; texts no file can hold first.

    Raises:
        SchemaErrors: a check crashed: a fault of the contract, not of the data.
    """
    if frame.empty:
        return []
    found = unstorable(model, frame)
    if found:
        return found
    numbered = frame.reset_index(drop=True)
    found = list(_repeated_keys(rules_of(model)[-1], numbered))
    try:
        with warnings.catch_warnings():  # pandera 0.35 joins its lists of failures in a way pandas 3 will change
            warnings.simplefilter("ignore", FutureWarning)
            _value_schema(model).validate(numbered, lazy=True)
    except SchemaErrors as errors:
        found += [breach for error in errors.schema_errors for breach in _error_breaches(numbered, error, errors)]
    return in_order(model, found)


@cache
def _value_schema(model: type[TableModel]) -> pandera.DataFrameSchema:
    schema = model.to_schema()
    by_column = schema.update_columns({name: {"dtype": None} for name in schema.columns})
    by_column.unique = None  # `_repeated_keys` compares whole texts, pandera only up to a NUL
    return by_column


def _repeated_keys(rule: Rule, frame: pd.DataFrame) -> Iterator[Breach]:
    """Find every row whose key another row has too; in a key, null is equal to null."""
    keys = {
        name: text_codes(frame[name])[0] if isinstance(frame[name].dtype, pd.StringDtype) else frame[name]
        for name in rule.columns
    }
    cells = [frame[name].array for name in rule.columns]
    for row in np.flatnonzero(pd.DataFrame(keys).duplicated(keep=False)).tolist():
        yield row_breach(rule, row, [column[row] for column in cells])


def _error_breaches(frame: pd.DataFrame, error: SchemaError, errors: SchemaErrors) -> Iterator[Breach]:
    if error.reason_code is SchemaErrorReason.SERIES_CONTAINS_NULLS:
        rule = Rule((str(error.schema.name),), "not_null")
    elif error.reason_code is SchemaErrorReason.DATAFRAME_CHECK and isinstance(error.check, pandera.Check):
        rule = _check_rule(str(error.schema.name), error.check)
    else:
        raise errors
    cells = frame[rule.column].array
    for row in sorted(set(error.failure_cases["index"])):
        yield row_breach(rule, int(row), [cells[row]])


def row_breach(rule: Rule, row: int, cells: list[Any]) -> Breach:
    """Describe the failure of one row: the cell, or for a key the JSON list of its cells."""
    values = [shown(cell) for cell in cells]
    return Breach(rule.column, rule.name, row, values[0] if len(values) == 1 else json.dumps(values))


def in_order(model: type[TableModel], found: list[Breach]) -> list[Breach]:
    """Sort failures by rule, in the order of the contract, then by row."""
    place = {(rule.column, rule.name): index for index, rule in enumerate(rules_of(model))}
    return sorted(found, key=lambda breach: (place[breach.column, breach.rule], breach.row or 0))
