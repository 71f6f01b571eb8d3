"""A sound frame for any contract, made from its rules, so that a new table is covered as soon as it is registered."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from governance_pipeline.contracts.frames import column_dtypes
from governance_pipeline.contracts.registry import contract_of, frame_of
from governance_pipeline.contracts.rules import rules_of

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = ("r{i}", "{i:064x}", "case-{i:064x}", "0", "1.0.{i}", "a", "A", "2026-03-01")
"""Texts that keep a pattern of some contract; alternatives such as `(a|b)` are found by themselves."""


def sound_text(pattern: str, i: int) -> str:
    words = [*(example.format(i=i) for example in EXAMPLES), *re.findall(r"[A-Za-z_0-9-]+", pattern)]
    fitting = [word for word in words if re.fullmatch(pattern, word)]
    assert fitting, f"add an example of {pattern} to EXAMPLES"
    return fitting[0]


def sound_value(  # noqa: PLR0911 - one return per kind of column
    name: str, dtype: Any, rules: dict[str, Any], i: int
) -> Any:
    if "isin" in rules:
        return rules["isin"][i % len(rules["isin"])]
    if "matches" in rules:
        return sound_text(rules["matches"], i)
    if isinstance(dtype, pd.StringDtype):
        return f"{name}-{i}"
    if isinstance(dtype, pd.BooleanDtype):
        return rules.get("eq", bool(i % 2))
    if isinstance(dtype, pd.Int64Dtype):
        return rules.get("ge", 0) + i
    if isinstance(dtype, pd.Float64Dtype):
        return float(rules.get("ge", 0))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return datetime(2026, 11, 30, 12, 0, 0, 123456, UTC) + timedelta(seconds=i)
    return Decimal("1.000000000000000001") + i


def make_sound_frame(table: str, rows: int) -> pd.DataFrame:
    """Give a frame that keeps the contract of `table`, every cell filled, rows distinct in their key."""
    model = contract_of(table)
    of_column: dict[str, dict[str, Any]] = {name: {} for name in column_dtypes(model)}
    for rule in rules_of(model):
        if len(rule.columns) == 1:
            of_column[rule.columns[0]][rule.kind] = rule.argument
    return frame_of(
        table,
        (
            {name: sound_value(name, dtype, of_column[name], i) for name, dtype in column_dtypes(model).items()}
            for i in range(rows)
        ),
    )


@pytest.fixture
def sound_frame() -> Callable[[str, int], pd.DataFrame]:
    return make_sound_frame
