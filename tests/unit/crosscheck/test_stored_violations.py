"""Claims about the set-based validator: it finds in stored records what the other one finds in those that are held."""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.guardian import judge
from governance_pipeline.crosscheck.report import all_records, check_set_member, escalation_members, field_members
from governance_pipeline.crosscheck.report_field import field_rules
from governance_pipeline.crosscheck.report_validator import body_violations
from governance_pipeline.crosscheck.run import run_checks
from governance_pipeline.crosscheck.stored_records import StoredRecords, stored_table
from governance_pipeline.crosscheck.stored_violations import accepted_mutants, stored_violations
from governance_pipeline.vocabulary import Action, RecordStatus, UnknownReason

CHECKS = """\
schema: govern/checks/v1
sources:
  d: {path: d.jsonl, key: id, role: declared}
  p: {path: p.jsonl, key: id, role: components}
checks:
"""
CHECK = "  - {{id: {0}, field: n, declared: d.n, recompute: sum(p.x), data_type: {0}, epsilon_reason: why, escalate_to: me}}"
DECLARED = [("A", "3"), ("B", "9.50"), ("C", "1"), ("D", "4"), ("D", "4"), ("E", "null"), ("G", "-2.25"), ("H", "7")]


@pytest.fixture(scope="module", params=["integer", "currency", "float", "percent"])
def batch(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("checks")
    (folder / "checks.yaml").write_text(CHECKS + CHECK.format(request.param) + "\n")
    (folder / "d.jsonl").write_text("".join(f'{{"id":"{key}","n":{value}}}\n' for key, value in DECLARED))
    parts = [("A", "3"), ("B", "9"), ("B", "0.5"), ("D", "4"), ("F", "1"), ("G", "-2.25"), ("H", "8")]
    (folder / "p.jsonl").write_text("".join(f'{{"id":"{key}","x":{value}}}\n' for key, value in parts))
    return run_checks(load_check_set(folder / "checks.yaml"))


def codes(batch, records, folder):
    """Return the violations both validators find in a batch whose records are these."""
    ((check_id, _),) = batch.records.items()
    (check,) = batch.check_set.checks
    held = replace(batch, records={check_id: records})
    pq.write_table(stored_table(records), folder / "records.parquet")
    stored = StoredRecords(folder / "records.parquet", check, batch.accounts["d"].sha256)
    check_set, fields = check_set_member(batch), field_members(batch)
    by_row = (record.to_json() for record in all_records(held))
    return (
        sorted(body_violations(check_set, fields, by_row, escalation_members(held))),
        sorted(stored_violations(check_set, fields, {check_id: stored}, escalation_members(batch))),
    )


def test_sound_records_have_no_violation(batch, tmp_path):
    assert codes(batch, list(all_records(batch)), tmp_path) == ([], [])


@pytest.mark.parametrize("gone", ["A", "H", "E"])
def test_a_record_that_was_taken_out_is_missed(batch, gone, tmp_path):
    """The counts are those of the records that are left, so only the rows of the source tell."""
    left = [record for record in all_records(batch) if record.subject_id != gone]
    for found in codes(batch, left, tmp_path):
        assert ("count_wrong", "/check_set/sources/0/rows") in [(v.code, v.where) for v in found]


@pytest.mark.parametrize(
    "members",
    [
        {"delta": "-7"}, {"delta": "0.10"}, {"declared": "3.1"}, {"declared_raw": "5"}, {"declared_raw": "03"},
        {"computed": "4"}, {"computed": None}, {"epsilon": "0.004"}, {"epsilon": None}, {"mismatch": None},
        {"mismatch": True}, {"mismatch": False}, {"overwritten": True}, {"record_id": "0" * 64}, {"components_count": 0},
        {"components_digest": None}, {"reason_code": UnknownReason.OVERFLOW}, {"action": Action.CONFIRM},
        {"reason_code": UnknownReason.DUPLICATE_SUBJECT}, {"declared": "-0"}, {"components_digest": "x"},
    ],
)  # fmt: skip
def test_each_wrong_member_is_found_wherever_it_stands(batch, members, tmp_path):
    records = list(all_records(batch))
    wrong = [replace(r, **members) if r.subject_id in {"A", "G", "H", "E"} else r for r in records]
    by_row, by_set = codes(batch, wrong, tmp_path)
    # A case is made of its record, so it is held against the sound one here: its own faults are left out. And an id
    # that is not that of its place is wrong already, whether or not it is there twice.
    by_row, by_set = (
        [f for f in found if not f.where.startswith(("/escalations", "case-")) and f.code != "duplicate_record"]
        for found in (by_row, by_set)
    )
    assert by_set == by_row
    assert by_set


def test_order_and_repeated_records_are_found_across_batches(batch, tmp_path, monkeypatch):
    monkeypatch.setattr("governance_pipeline.crosscheck.stored_violations.BATCH_ROWS", 2)
    records = list(all_records(batch))
    for wrong in (records[::-1], [records[0], *records], records[1:3] + records[:1] + records[3:]):
        by_row, by_set = codes(batch, wrong, tmp_path)
        assert {found.code for found in by_row} - {"escalation_extra", "count_wrong"} <= {
            found.code for found in by_set
        }


def test_a_case_that_is_missing_extra_or_another_is_found(batch, tmp_path):
    ((check_id, records),) = batch.records.items()
    (check,) = batch.check_set.checks
    pq.write_table(stored_table(records), tmp_path / "records.parquet")
    stored = {check_id: StoredRecords(tmp_path / "records.parquet", check, batch.accounts["d"].sha256)}
    cases = list(escalation_members(batch))
    check_set, fields = check_set_member(batch), field_members(batch)

    def found(escalations):
        return {violation.code for violation in stored_violations(check_set, fields, stored, escalations)}

    assert found(cases) == set()
    assert found(cases[:-1]) == {"escalation_missing"}
    assert found([*cases, cases[0]]) == {"escalation_extra"}
    assert found([{**cases[0], "assignee": "nobody"}, *cases[1:]]) == {"field_wrong"}
    assert found([{**case, "computed": None} for case in cases]) == {"value_hidden"}


def test_an_unmatched_record_is_one_that_goes_to_a_person(batch):
    assert {record.action is Action.ACCEPT for record in all_records(batch) if record.status is RecordStatus.MATCH} == {
        True
    }


def test_no_overwritten_record_is_called_sound_and_a_validator_that_says_so_is_noticed(batch, tmp_path, monkeypatch):
    ((check_id, records),) = batch.records.items()
    (check,) = batch.check_set.checks
    pq.write_table(stored_table(records), tmp_path / "records.parquet")
    stored = StoredRecords(tmp_path / "records.parquet", check, batch.accounts["d"].sha256)
    check_set, (field,) = check_set_member(batch), field_members(batch)
    rules = field_rules(field, {source["name"]: source for source in check_set["sources"]}, batch.check_set.policy)
    assert rules is not None
    assert accepted_mutants(stored, rules) == 0
    assert not judge(replace(batch, records={check_id: stored})).codes
    monkeypatch.setattr("governance_pipeline.crosscheck.stored_violations._soundness", lambda _rules: "true")
    assert accepted_mutants(stored, rules) > 0
    assert not judge(replace(batch, records={check_id: stored})).structural_tests["silent_overwrite_rejected"]
