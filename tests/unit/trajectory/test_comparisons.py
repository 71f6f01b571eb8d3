"""Which of an event's own numbers are held against its files, and how each comparison ends."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from governance_pipeline.rounds.globs import Globs
from governance_pipeline.rounds.modules import ModuleMap
from governance_pipeline.trajectory.comparisons import compared
from governance_pipeline.trajectory.event_rows import Origin
from governance_pipeline.trajectory.events import Declared, Event
from governance_pipeline.trajectory.rules import RoundRules
from governance_pipeline.trajectory.terms import Counted
from governance_pipeline.vocabulary import ContractState, RecordStatus, UnknownReason

COUNT = Counted(files=2, churn=9, modules=2, public=1, entropy=0.5, outside=1, are_modules_named=False)
ALL = Declared(2, 9, 2, 1, "0.5")


def run(declared: Declared, count: Counted = COUNT, *, modules=True, public=True, has_files=True, is_contested=False):
    event = Event("r-1", 1, Origin.NATIVE, None, None, "changes.jsonl", "0" * 64, 1, None, has_files, declared)
    rules = RoundRules(
        "r-1", ContractState.VALID, None, Globs(["a"]) if public else None, ModuleMap(), modules, None, ()
    )
    return {one.field: one for one in compared(event, count, rules, is_contested=is_contested)}


def fields(*arguments, **options) -> str:
    return "".join(run(*arguments, **options))


def test_nothing_is_compared_for_an_event_that_lists_no_files():
    assert fields(ALL, has_files=False) == ""


def test_only_numbers_the_event_carries_are_compared_in_the_order_f_l_m_p_h():
    assert fields(ALL) == "FLMPH"
    assert fields(Declared(L=9, H="0")) == "LH"
    assert fields(Declared()) == ""


def test_m_and_h_are_compared_only_where_modules_are_declared_by_the_contract_or_by_every_file():
    assert fields(ALL, modules=False) == "FLP"
    assert fields(ALL, replace(COUNT, are_modules_named=True), modules=False) == "FLMPH"


def test_p_is_compared_only_where_boundaries_are_declared_or_nothing_changed():
    assert fields(ALL, public=False) == "FLMH"
    nothing = Counted(0, 0, 0, 0, 0.0, 0, are_modules_named=True)
    found = run(Declared(P=1), nothing, public=False)
    assert found["P"].result.status == RecordStatus.MISMATCH


@pytest.mark.parametrize("field", ["F", "L", "M", "P"])
def test_counts_are_compared_exactly(field):
    assert run(ALL)[field].result.status == RecordStatus.MATCH
    found = run(ALL._replace(**{field: getattr(ALL, field) + 1}))[field].result
    assert (found.status, found.delta, found.epsilon) == (RecordStatus.MISMATCH, 1, 0)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("0.5", RecordStatus.MATCH),
        ("0.500001", RecordStatus.MATCH),
        ("0.499999", RecordStatus.MATCH),
        ("0.50000100001", RecordStatus.MISMATCH),
        ("0", RecordStatus.MISMATCH),
    ],
)
def test_h_may_differ_by_a_millionth_of_a_nat_and_equality_is_a_match(text, status):
    assert run(Declared(H=text))["H"].result.status == status


def test_numbers_whose_files_are_unread_cannot_be_verified_and_are_never_called_equal():
    found = run(ALL, replace(COUNT, churn=None, entropy=None))
    states = {name: (one.result.status, one.result.reason) for name, one in found.items() if name in "LH"}
    unread = (RecordStatus.UNVERIFIABLE, UnknownReason.COMPONENT_MISSING_VALUE)
    assert states == {"L": unread, "H": unread}
    assert found["L"].declared.value == Decimal(9)


def test_numbers_of_a_step_that_another_event_claims_are_nobodys():
    found = run(ALL, is_contested=True).values()
    assert {one.result.reason for one in found} == {UnknownReason.DUPLICATE_SUBJECT}
    assert all(one.declared.value is not None and one.computed.value is not None for one in found)
