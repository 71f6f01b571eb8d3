"""Rows become typed frames without any value being bent to fit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.frames import from_arrow, to_arrow
from governance_pipeline.contracts.registry import contract_of, empty_frame, frame_of
from governance_pipeline.errors import ContractBreach
from governance_pipeline.strict.lexeme import Lexeme

NOW = datetime(2026, 11, 30, tzinfo=UTC)

MISFITS = [
    ("line", True, "not a whole number"),
    ("line", 1.0, "not a whole number"),
    ("line", 1.5, "not a whole number"),
    ("line", "7", "not a whole number"),
    ("line", Lexeme("7"), "not a whole number"),
    ("line", Decimal(7), "not a whole number"),
    ("line", np.bool_(True), "not a whole number"),
    ("line", float("nan"), "not a whole number"),
    ("line", 2**63, "beyond 64 bits"),
    ("line", -(2**63) - 1, "beyond 64 bits"),
    ("is_cache_inside_input", 1, "not true or false"),
    ("is_cache_inside_input", "true", "not true or false"),
    ("run_id", 7, "not a text"),
    ("run_id", b"x", "not a text"),
    ("run_id", float("nan"), "not a text"),
    ("run_id", "\udcff", "holds a lone surrogate, which UTF-8 cannot store"),
    ("cost_usd", 1.25, "not a Decimal"),
    ("cost_usd", True, "not a Decimal"),
    ("cost_usd", "1.25", "not a Decimal"),
    ("cost_usd", Decimal("NaN"), "not finite; unknown is None"),
    ("cost_usd", Decimal("Infinity"), "not finite; unknown is None"),
    ("cost_usd", Decimal("0.0000000000000000001"), "does not fit DECIMAL(38, 18)"),
    ("cost_usd", Decimal(100000000000000000000), "does not fit DECIMAL(38, 18)"),
    ("cost_usd", Decimal("1E+400"), "does not fit DECIMAL(38, 18)"),
    ("at", datetime(2026, 1, 1), "has no time zone, so it names no instant"),  # noqa: DTZ001 - the fault under test
    ("at", "2026-01-01T00:00:00Z", "not a time"),
    ("at", 1767225600, "not a time"),
    ("at", pd.Timestamp("2026-01-01T00:00:00.000000001Z"), "finer than a microsecond"),
]


@pytest.mark.parametrize(("column", "value", "why"), MISFITS, ids=lambda x: repr(x)[:40])
def test_a_value_that_does_not_fit_is_refused_with_its_row_and_column(column, value, why):
    with pytest.raises(ContractBreach) as caught:
        frame_of("core_usage", [{}, {column: value}])
    (row,) = caught.value.rows.to_dict("records")
    assert (row["column"], row["rule"], row["row"]) == (column, f"type: {why}", 1)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (float("nan"), "not finite; unknown is None"),
        (float("inf"), "not finite; unknown is None"),
        (10**400, "beyond binary64"),
        (2**53 + 1, "not exact in binary64"),
        (True, "not a number"),
        ("0.5", "not a number"),
        (Lexeme("0.5"), "not a number"),
        (Decimal("0.5"), "not a number"),
    ],
)
def test_a_binary_column_takes_only_finite_numbers_it_holds_exactly(value, why):
    with pytest.raises(ContractBreach) as caught:
        frame_of("core_evidence", [{"strength": value}])
    assert list(caught.value.rows["rule"]) == [f"type: {why}"]


def test_every_misfit_of_a_frame_is_reported_at_once():
    with pytest.raises(ContractBreach, match="column line, row 0: type: not a whole number") as caught:
        frame_of("core_usage", [{"line": 1.5, "cost_usd": 1.5}, {"surplus": 1, "line": "x"}])
    found = set(zip(caught.value.rows["column"], caught.value.rows["row"], strict=True))
    assert found == {("line", 0), ("cost_usd", 0), ("surplus", 1), ("line", 1)}


def test_a_column_the_contract_does_not_have_is_refused():
    with pytest.raises(ContractBreach, match="column runid, row 1: no_such_column, found 'x'"):
        frame_of("core_usage", [{}, {"runid": "x"}])


class Colour(StrEnum):
    RED = "red"


def test_values_that_fit_are_kept_to_the_last_digit():
    offset = timezone(timedelta(hours=2))
    row = {
        "run_id": Colour.RED,
        "call_id": Lexeme("1e5"),
        "line": np.int64(2**62 + 1),
        "input_tokens": -(2**63),
        "is_cache_inside_input": np.bool_(False),
        "cost_usd": Decimal("-12345678901234567890.123456789012345678"),
        "at": datetime(2026, 1, 1, 2, 0, 0, 1, offset),
    }
    frame = frame_of("core_usage", [row, {"cost_usd": 3, "at": pd.Timestamp(NOW)}, {"at": pd.NaT, "line": pd.NA}])
    assert [type(frame[name].iloc[0]) for name in ("run_id", "call_id")] == [str, str]
    assert list(frame.loc[0, ["run_id", "call_id", "line", "input_tokens"]]) == ["red", "1e5", 2**62 + 1, -(2**63)]
    assert frame["is_cache_inside_input"].iloc[0] is np.False_
    assert list(frame["cost_usd"])[:2] == [row["cost_usd"], Decimal(3)]
    assert list(frame["at"])[:2] == [pd.Timestamp("2026-01-01T00:00:00.000001Z"), pd.Timestamp(NOW)]
    assert frame.loc[2].isna().all()


def test_no_rows_give_the_empty_frame_and_rows_may_come_from_a_generator():
    pd.testing.assert_frame_equal(frame_of("core_usage", iter(())), empty_frame("core_usage"))
    assert len(frame_of("core_usage", ({"line": i} for i in range(1, 4)))) == 3


TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"]))
MONEY = st.none() | st.decimals(-(10**20) + 1, 10**20 - 1, places=18, allow_nan=False)
TIME = st.none() | st.datetimes(datetime(1970, 1, 1), datetime(2262, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "run_id": TEXT,
                "line": st.none() | st.integers(-(2**63), 2**63 - 1),
                "is_cache_inside_input": st.none() | st.booleans(),
                "cost_usd": MONEY,
                "at": TIME,
            }
        ),
        max_size=5,
    )
)
def test_what_goes_in_comes_out_of_frame_and_arrow_unchanged(rows):
    model = contract_of("core_usage")
    frame = from_arrow(model, to_arrow(model, frame_of("core_usage", rows)))
    pd.testing.assert_frame_equal(frame, frame_of("core_usage", rows))
    for name in ("run_id", "line", "is_cache_inside_input", "cost_usd", "at"):
        assert [None if pd.isna(cell) else cell for cell in frame[name]] == [row[name] for row in rows]
