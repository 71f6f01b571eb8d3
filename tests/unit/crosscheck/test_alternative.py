"""What a catalogue may say about explanations: everything that cannot be meant is refused, with the check's id."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.crosscheck import catalogue as module
from governance_pipeline.crosscheck.alternative import Rounding, Rows
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.errors import UsageError
from governance_pipeline.vocabulary import Hypothesis

TOLD = {"hypothesis": "unit", "reads": "a sentence", "recompute": "1000 * {}"}
ENTRY = {
    "id": "x", "field": "total", "recompute": "sum(parts.cost)", "data_type": "currency", "unit": "USD",
    "epsilon_reason": "a reason", "escalate_to": "owner", "evidence": "code", "semantics": "a sentence",
}  # fmt: skip


def read(**told):
    item = {key: value for key, value in {**TOLD, **told}.items() if value is not None}
    document = {"schema": module.SCHEMA, "format": "x", "checks": [ENTRY | {"explanations": [item]}]}
    ((found,),) = [entry.explanations for entry in module.read_entries("x.yaml", json.dumps(document))]
    return found


@pytest.mark.parametrize(
    "fault",
    [
        {"hypothesis": "guess"}, {"hypothesis": None}, {"hypothesis": "none_holds"}, {"reads": None}, {"reads": " "},
        {"excuse": "yes"}, {"recompute": "{}"}, {"recompute": None}, {"recompute": "sum(declared.total)"},
        {"recompute": "sum(parts.cost"}, {"recompute": "parts.cost"}, {"recompute": "count(*)"}, {"recompute": ""},
        {"rows": "some"}, {"rows": "prefix", "recompute": "sum(a.x) + sum(b.x)"}, {"until": "y"},
        {"rows": "prefix", "recompute": "count(parts.cost)"}, {"without_zero": "cost"}, {"rounding": "sideways"},
        {"decimals": 1}, {"rounding": "down", "decimals": -1}, {"rounding": "down", "decimals": 31}, {"subject": ""},
    ],
    ids=str,
)  # fmt: skip
def test_an_explanation_that_cannot_be_meant_is_refused_with_file_and_check(fault):
    with pytest.raises(UsageError, match=r"^catalogue x\.yaml: x: "):
        read(**fault)


def test_an_explanation_that_is_no_mapping_is_refused():
    document = {"schema": module.SCHEMA, "format": "x", "checks": [ENTRY | {"explanations": ["unit"]}]}
    with pytest.raises(UsageError, match=r"^catalogue x\.yaml: x: "):
        module.read_entries("x.yaml", json.dumps(document))


def test_the_expression_of_the_check_stands_in_braces_as_one_operand():
    assert read().formula.text == "1000 * (sum(parts.cost))"


def test_every_member_is_read():
    found = read(recompute="{}", rows="distinct", without_zero="parts.cost", subject="/a", rounding="down", decimals=2)
    assert (found.hypothesis, found.rows, found.without_zero) == (Hypothesis.UNIT, Rows.DISTINCT, ("parts", "cost"))
    assert (found.rounding, found.decimals, found.formula.text) == (Rounding.DOWN, 2, "sum(parts.cost)")
    assert found.is_about("logs/a")
    assert not found.is_about("logs/b")
    assert not found.is_about(None)


SHIPPED = [(entry, found) for entry in catalogue().entries for found in entry.explanations]


def test_every_shipped_explanation_is_read_and_says_what_it_reads():
    assert len(SHIPPED) == sum(len(entry.told) for entry in catalogue().entries) > 300
    assert all(found.reads.strip() for _, found in SHIPPED)
    for entry in catalogue().entries:
        told = [(f.formula.text, f.rows, f.without_zero, f.rounding, f.subject) for f in entry.explanations]
        assert len(set(told)) == len(told), f"{entry.check.id} tries the same twice"


def test_where_a_log_ended_is_told_by_a_check_of_the_same_format_over_the_same_rows():
    entries = {entry.check.id: entry for entry in catalogue().entries}
    for entry, found in SHIPPED:
        if found.until is not None:
            sister = entries[found.until]
            assert sister.format == entry.format
            assert sister.check.formula.sources == found.formula.sources


def test_every_kind_of_hypothesis_is_declared_by_some_format():
    assert {found.hypothesis for _, found in SHIPPED} == set(Hypothesis) - {Hypothesis.NONE_HOLDS}
