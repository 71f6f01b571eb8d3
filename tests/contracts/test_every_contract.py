"""Every table of the registry: sound frames pass, and each rule, broken alone, is named with column, row and value."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from governance_pipeline.contracts import rules, sql_rules
from governance_pipeline.contracts.breach import Breach, breach_frame, shown
from governance_pipeline.contracts.frames import column_dtypes
from governance_pipeline.contracts.registry import REGISTRY, breaches, contract_of, empty_frame, validate
from governance_pipeline.contracts.rules import in_order, rules_of
from governance_pipeline.errors import ContractBreach

TABLES = list(REGISTRY)
WAYS = {"pandera": rules.value_breaches, "sql": sql_rules.frame_breaches}


BROKEN = {
    "not_null": lambda _, __: pd.NA,
    "ge": lambda bound, _: bound - 1,
    "le": lambda bound, _: bound + 1,
    "eq": lambda only, _: not only,
    "finite": lambda _, __: float("inf"),
    "matches": lambda _, sound: f"{sound}\n",
    "isin": lambda _, __: "no such word",
}
"""Kind of rule -> a value that breaks it, from the rule's argument and a sound value."""


def _break_each(model, frame: pd.DataFrame) -> list[Breach]:
    """Break rule number i in row i, the key in the two rows after the last; gives the failures this must cause."""
    expected = []
    for row, rule in enumerate(rules_of(model)):
        if rule.kind == "unique":
            cells = [frame[name].iloc[row] for name in rule.columns]
            for name in rule.columns:
                frame.loc[row + 1, name] = frame.loc[row, name]
            value = json.dumps([shown(cell) for cell in cells]) if len(cells) > 1 else shown(cells[0])
            expected += [Breach(rule.column, "unique", row, value), Breach(rule.column, "unique", row + 1, value)]
        else:
            name = rule.columns[0]
            frame.loc[row, name] = BROKEN[rule.kind](rule.argument, frame[name].iloc[row])
            value = shown(frame[name].iloc[row])
            expected.append(Breach(name, rule.name, row, value))
            if rule.kind == "finite":  # an infinity is above any upper bound as well
                bounds = [other for other in rules_of(model) if other.columns == rule.columns and other.kind == "le"]
                expected += [Breach(name, bound.name, row, value) for bound in bounds]
    return in_order(model, expected)


@pytest.mark.parametrize("table", TABLES)
def test_a_sound_frame_and_the_empty_frame_keep_their_contract(table, sound_frame):
    frame = sound_frame(table, 4)
    assert validate(table, frame) is frame
    assert validate(table, empty_frame(table)).empty
    assert contract_of(table).validate(frame) is not None  # pandera alone, dtypes included, agrees


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("table", TABLES)
def test_each_broken_rule_is_named_with_its_column_row_and_value(table, way, sound_frame):
    model = contract_of(table)
    frame = sound_frame(table, len(rules_of(model)) + 1)
    expected = _break_each(model, frame)
    assert WAYS[way](model, frame) == expected


def test_every_kind_of_rule_occurs_in_some_contract_so_none_is_tested_in_vain():
    kinds = {rule.kind for model in REGISTRY.values() for rule in rules_of(model)}
    assert kinds == {*BROKEN, "unique"}


@pytest.mark.parametrize("table", TABLES)
def test_a_column_of_another_dtype_is_named_with_the_dtype_found(table, sound_frame):
    frame = sound_frame(table, 2).astype(object)
    expected = [
        Breach(name, f"dtype({dtype})", None, "object") for name, dtype in column_dtypes(contract_of(table)).items()
    ]
    pd.testing.assert_frame_equal(breaches(table, frame), breach_frame(expected))


@pytest.mark.parametrize("table", TABLES)
def test_missing_unexpected_and_unordered_columns_are_named(table, sound_frame):
    frame = sound_frame(table, 2)
    first, last = frame.columns[0], frame.columns[-1]
    found = breaches(table, frame.drop(columns=last).assign(surplus=1))
    assert found.to_dict("records") == [
        {"column": last, "rule": "column_missing", "row": None, "value": None},
        {"column": "surplus", "rule": "column_unexpected", "row": None, "value": None},
    ]
    turned = breaches(table, frame[[last, *frame.columns[1:-1], first]])
    assert list(turned["rule"]) == ["column_order"]


@pytest.mark.parametrize("way", [None, 0])
def test_a_text_with_a_lone_surrogate_is_a_breach_because_no_file_can_hold_it(way, sound_frame):
    frame = sound_frame("core_criteria", 3)
    frame.loc[1, "statement"] = "half \ud800"
    assert breaches("core_criteria", frame, large_rows=way).to_dict("records") == [
        {"column": "statement", "rule": "utf8", "row": 1, "value": "half \\ud800"}
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_nan_hidden_in_a_float_column_is_no_null_and_breaks_its_bounds(way, sound_frame):
    frame = sound_frame("core_evidence", 3)
    hidden = pd.arrays.FloatingArray(np.array([0.5, np.nan, 0.5]), np.array([False, False, True]))
    frame["strength"] = hidden
    found = WAYS[way](contract_of("core_evidence"), frame)
    assert [(b.rule, b.row, b.value) for b in found] == [("ge(0)", 1, "nan"), ("le(1)", 1, "nan"), ("finite", 1, "nan")]


def test_row_numbers_are_positions_whatever_the_index_of_the_frame(sound_frame):
    frame = sound_frame("core_criteria", 3).set_index(pd.Index([7, 7, 7]))
    frame.iloc[2, frame.columns.get_loc("is_required")] = pd.NA
    assert list(breaches("core_criteria", frame)["row"]) == [2]
    assert list(breaches("core_criteria", frame, large_rows=0)["row"]) == [2]


def test_the_error_names_the_first_failures_and_holds_all(sound_frame):
    frame = sound_frame("core_criteria", 9)
    frame["weight"] = pd.array([-1.0] * 9, dtype="Float64")
    with pytest.raises(ContractBreach, match=r"column weight, row 0: ge\(0\), found '-1.0'.*and 4 more") as caught:
        validate("core_criteria", frame)
    assert len(caught.value.rows) == 9


def test_text_of_a_log_is_escaped_and_masked_where_it_is_shown(sound_frame):
    frame = sound_frame("core_evidence", 1)
    frame["state"] = pd.array(["\x1b[31mAWS AKIA" + "Q" * 16], dtype="string")
    (value,) = breaches("core_evidence", frame)["value"]
    assert "\x1b" not in value
    assert "AKIA" + "Q" * 16 not in value


def test_a_check_that_crashes_is_our_fault_and_not_a_breach(sound_frame, monkeypatch):
    frame = sound_frame("core_usage", 2)
    schema = rules._value_schema(contract_of("core_usage"))
    monkeypatch.setattr(schema.columns["line"].checks[0], "_check_fn", lambda _, **__: 1 / 0)
    with pytest.raises(Exception, match="ZeroDivisionError") as caught:
        breaches("core_usage", frame)
    assert not isinstance(caught.value, ContractBreach)


def test_money_is_exact_to_the_last_of_its_eighteen_decimals(sound_frame):
    assert list(sound_frame("core_usage", 1)["cost_usd"]) == [Decimal("1.000000000000000001")]
