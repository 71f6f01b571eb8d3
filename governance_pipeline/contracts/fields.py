"""Column kinds of the contracts: one dtype and one constructor each, so that a contract reads as a list.

What belongs here: pandas dtypes and pandera fields. What does not: any column of a particular table.
A description is mandatory: it becomes the Dagster column text and the README catalogue.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd
import pandera.pandas as pandera
import pyarrow as pa

from governance_pipeline.vocabulary import ROUND_ID_PATTERN, SHA256_PATTERN

Text = pd.StringDtype
Count = pd.Int64Dtype
Flag = pd.BooleanDtype
Real = pd.Float64Dtype
Utc = pd.DatetimeTZDtype
Money = pd.ArrowDtype

MONEY_TYPE = pa.decimal128(38, 18)
FINITE_MAX = sys.float_info.max
NUMBER_PATTERN = r"^(0|-?(0\.[0-9]*[1-9]|[1-9][0-9]*(\.[0-9]*[1-9])?))$"


def text(description: str, *, null: bool = False, pattern: str | None = None, among: type | None = None) -> Any:
    """Text column; `among` is an enumeration whose values are the only ones allowed."""
    rules: dict[str, Any] = {}
    if pattern is not None:
        rules["str_matches"] = _whole(pattern)
    if among is not None:
        rules["isin"] = [str(value) for value in among]  # type: ignore[attr-defined]  # an enumeration is iterable
    return pandera.Field(nullable=null, description=description, **rules)


def _whole(pattern: str) -> str:
    """Anchor `^…$` at the very end of the text: `$` alone also matches before a final line feed."""
    return f"^(?:{pattern.removeprefix('^').removesuffix('$')})\\Z"


def whole_pattern_body(pattern: str) -> str:
    """Give back what `_whole` anchored, for an engine that matches whole texts."""
    return pattern.removeprefix("^(?:").removesuffix(")\\Z")


def round_id() -> Any:
    """Round id column: the partition key, never null."""
    return pandera.Field(nullable=False, str_matches=_whole(ROUND_ID_PATTERN), description="Round: the partition key.")


def sha256(description: str, *, null: bool = False) -> Any:
    """Lower-case hex SHA-256 column."""
    return pandera.Field(nullable=null, str_matches=_whole(SHA256_PATTERN), description=description)


def lexeme(description: str, *, null: bool = True) -> Any:
    """Exact number kept as canonical text (spec/crosscheck.md §12); the warehouse adds a numeric twin."""
    return pandera.Field(
        nullable=null, str_matches=_whole(NUMBER_PATTERN), description=description, metadata={"lexeme": True}
    )


def count(description: str, *, null: bool = False, at_least: int = 0) -> Any:
    """Whole number column, never below `at_least`."""
    return pandera.Field(nullable=null, ge=at_least, description=description)


def integer(description: str, *, null: bool = True) -> Any:
    """Whole number column of any sign."""
    return pandera.Field(nullable=null, description=description)


def flag(description: str, *, null: bool = False, always: bool | None = None) -> Any:
    """Boolean column; null, where allowed, means unknown and never false. `always` is the only value allowed."""
    return pandera.Field(nullable=null, eq=always, description=description)


def real(description: str, *, null: bool = True, low: float | None = None, high: float | None = None) -> Any:
    """Binary64 column of finite numbers: NaN is not null, and an infinity is no measurement."""
    rules: dict[str, Any] = {"in_range": {"min_value": -FINITE_MAX, "max_value": FINITE_MAX}}
    if low is not None:
        rules["ge"] = low
    if high is not None:
        rules["le"] = high
    return pandera.Field(nullable=null, description=description, **rules)


def utc(description: str, *, null: bool = True) -> Any:
    """Time column in UTC, microseconds."""
    return pandera.Field(nullable=null, description=description, dtype_kwargs={"unit": "us", "tz": "UTC"})


def money(description: str, *, null: bool = True) -> Any:
    """DECIMAL(38, 18) column."""
    return pandera.Field(nullable=null, description=description, dtype_kwargs={"pyarrow_dtype": MONEY_TYPE})


class TableModel(pandera.DataFrameModel):
    """Base of every contract: exact columns in order, no coercion, one key.

    The first line of a contract's docstring is its grain, the rest says what null means. `Config.unique` is the
    key; `Config.metadata["version"]` changes whenever a column changes its meaning, `metadata["by_round"]` is False
    for a table that is kept as one over all rounds (default: round by round), and `metadata["reads_all_rounds"]` is
    True for one that is made over all rounds at once (default: of any rounds by themselves).
    """

    class Config:
        """Pandera configuration shared by all tables."""

        strict = True
        ordered = True
        coerce = False
        metadata: dict[str, Any] = {}
