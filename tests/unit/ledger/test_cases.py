"""Claims about cases in the ledger: opened once, whole, and never under an id their records do not bear out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import StorageError
from governance_pipeline.ledger import cases as module
from governance_pipeline.ledger.cases import Case, CaseEvent, open_cases, opening_events, read_cases
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.trust.case_statement import CaseRecord, case_sha256

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def record(number: int, declared="10", computed="9") -> CaseRecord:
    return CaseRecord(sha256_hex(f"record {number}".encode()), declared, computed)


def mismatch(number=0, round_id="r-1", **values) -> Case:
    one = record(number, **values)
    return Case(round_id, f"case-{one.record_id}", "cost", "total", "mismatch", "finance", (one,))


def group(count=3, round_id="r-1", reason="components_missing") -> Case:
    records = tuple(sorted(record(n, computed=None) for n in range(count)))
    return Case(round_id, f"case-{case_sha256(round_id, reason, records)}", "cost", "total", reason, "ops", records)


BODY = dict(next(iter(opening_events(mismatch(), ["coder"], NOON))).body)


@pytest.mark.parametrize(
    "change",
    [
        {"records": []}, {"records": None}, {"records": [["x"]]}, {"round_id": "../up"}, {"round_id": 3}, {"sha256": "0" * 64},
        {"records": [[record(0).record_id, "10", "10"]]}, {"records": [[record(0).record_id, 10, "9"]]},
        {"case_id": "case-" + "0" * 64}, {"reason": "accepted"}, {"assignee": None}, {"actors": [1]}, {"actors": None},
        {"check_id": 5}, {"records": [[*record(0)], [*record(1)]]}, {"parts": 0}, {"parts": "1"},
    ],
)  # fmt: skip
def test_an_opening_that_does_not_bear_out_its_digest_opens_nothing(ledger, change):
    ledger.append(CaseEvent.OPENED, "forger", {**BODY, **change}, ts=NOON)
    assert read_cases(ledger).opened == {}


@pytest.mark.parametrize("kind", list(CaseEvent))
def test_an_event_without_its_members_is_named_and_the_others_are_read(ledger, kind):
    ledger.append(kind, "forger", {}, ts=NOON)
    open_cases(ledger, [mismatch()], [], NOON)
    history = read_cases(ledger)
    assert [(fault.seq, fault.code) for fault in history.unusable] == [(1, "unusable")]
    assert list(history.opened) == [mismatch().ref]


def test_a_junk_event_that_takes_the_key_of_an_opening_is_named(ledger):
    event = next(iter(opening_events(mismatch(), [], NOON)))
    ledger.append(event.type, "forger", {**event.body, "records": []}, ts=NOON, unique=event.unique)
    with pytest.raises(StorageError, match="event 1 of the ledger opens a case and cannot be used"):
        open_cases(ledger, [mismatch()], [], NOON)


def test_the_same_audit_opens_a_case_once_whatever_the_time(ledger):
    asked = [mismatch(), group()]
    assert open_cases(ledger, asked, ["coder"], NOON) == 2
    assert open_cases(ledger, asked, ["somebody else"], NOON + timedelta(days=9)) == 0
    opened = read_cases(ledger).opened
    assert {o.opened_at for o in opened.values()} == {NOON}
    assert {o.actors for o in opened.values()} == {("coder",)}
    assert [o.case for o in opened.values()] == asked


def test_a_record_whose_values_changed_is_asked_anew_under_the_same_id(ledger):
    open_cases(ledger, [mismatch()], [], NOON)
    open_cases(ledger, [mismatch(computed="8")], [], NOON)
    assert [ref.case_id for ref in read_cases(ledger).opened] == [mismatch().case_id] * 2
    assert len({ref.sha256 for ref in read_cases(ledger).opened}) == 2


def test_the_same_record_in_two_rounds_is_two_cases(ledger):
    open_cases(ledger, [mismatch(), mismatch(round_id="r-2")], [], NOON)
    assert [ref.round_id for ref in read_cases(ledger).opened] == ["r-1", "r-2"]


def test_a_case_larger_than_an_event_lists_every_record_in_parts(ledger, monkeypatch):
    monkeypatch.setattr(module, "RECORDS_PER_EVENT", 4)
    case = group(10)
    open_cases(ledger, [case], [], NOON)
    assert [len(event.body["records"]) for event in ledger.events()] == [4, 4, 2]
    [opened] = read_cases(ledger).opened.values()
    assert sorted(opened.case.records) == sorted(case.records)
    assert open_cases(ledger, [case], [], NOON) == 0


def test_a_full_part_with_the_longest_values_fits_an_event(ledger):
    number = "-" + "9" * 38 + "." + "9" * 30
    records = tuple(record(n, declared=number, computed=number) for n in range(module.RECORDS_PER_EVENT + 1))
    case = Case(
        "r" * 80, f"case-{case_sha256('r' * 80, 'overflow', records)}", "c", "f" * 10**6, "overflow", "o", records
    )
    assert open_cases(ledger, [case], [], NOON) == 1
    assert ledger.size() == 2


def test_no_text_of_a_log_makes_an_event_too_large_or_steers_a_screen(ledger):
    case = Case("r-1", mismatch().case_id, "c" * 10**6, "\x1b[2J" * 10**5, "mismatch", "a" * 10**6, mismatch().records)
    open_cases(ledger, [case], [], NOON)
    [opened] = read_cases(ledger).opened.values()
    assert len(opened.case.field) <= 200
    assert opened.case.field.isprintable()


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(5)))
def test_the_id_of_a_group_does_not_depend_on_the_order_of_its_records(order):
    records = [record(n) for n in order]
    assert case_sha256("r-1", "overflow", records) == case_sha256("r-1", "overflow", map(record, range(5)))
