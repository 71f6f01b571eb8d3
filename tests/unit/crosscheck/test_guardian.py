"""Claims about the guardian: each structural test is a result, and one false claim blocks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.crosscheck import guardian
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.guardian import judge
from governance_pipeline.crosscheck.mutation import MutationProof
from governance_pipeline.crosscheck.report import json_text, report_document
from governance_pipeline.crosscheck.report_file import text_violations
from governance_pipeline.crosscheck.run import run_checks
from governance_pipeline.vocabulary import Action

if TYPE_CHECKING:
    from governance_pipeline.crosscheck.batch import Batch

CHECKS = """\
schema: govern/checks/v1
sources:
  d: {path: d.jsonl, key: id, role: declared}
  p: {path: p.jsonl, key: id, role: components}
checks:
  - {id: a, field: n, declared: d.n, recompute: sum(p.x), data_type: currency, epsilon_reason: cent, escalate_to: owner}
"""


@pytest.fixture
def batch(tmp_path) -> Batch:
    (tmp_path / "checks.yaml").write_text(CHECKS)
    (tmp_path / "d.jsonl").write_text('{"id":"A","n":3}\n{"id":"B","n":9.50}\n{"id":"C","n":1}\n')
    (tmp_path / "p.jsonl").write_text('{"id":"A","x":3}\n{"id":"B","x":9}\n')
    return run_checks(load_check_set(tmp_path / "checks.yaml"))


def altered(batch: Batch, subject: str, **members) -> Batch:
    """Return the batch with members of one record changed, as a fault of ours would."""
    records = [replace(r, **members) if r.subject_id == subject else r for r in batch.records["a"]]
    return replace(batch, records={"a": records})


def test_mismatches_and_unknowns_that_are_shown_and_escalated_are_no_reason_to_block(batch):
    judgement = judge(batch)
    assert judgement.guardian == "pass"
    assert all(judgement.structural_tests.values())
    assert all(judgement.validation.values())
    assert judgement.codes == frozenset()


@pytest.mark.parametrize(
    ("subject", "members", "claim"),
    [
        ("A", {"epsilon": "0.01"}, "epsilon_justified"),
        ("A", {"epsilon_reason": " "}, "epsilon_justified"),
        ("B", {"delta": "-0.5"}, "records_recomputed"),
        ("A", {"mismatch": None}, "records_recomputed"),
        ("C", {"reason_code": None}, "records_recomputed"),
        ("B", {"computed": None}, "mismatches_visible"),
        ("B", {"action": Action.ACCEPT}, "mismatches_escalated"),
        ("B", {"declared": "9"}, "silent_correction_blocked"),
        ("A", {"overwritten": True}, "silent_correction_blocked"),
        ("A", {"unit": "EUR"}, "validator_passed"),
    ],
)
def test_a_record_that_is_wrong_makes_its_claim_false_and_blocks(batch, subject, members, claim):
    judgement = judge(altered(batch, subject, **members))
    assert not judgement.validation[claim]
    assert not judgement.structural_tests["validator_passed"]
    assert judgement.guardian == "block"


@pytest.mark.parametrize(
    ("proof", "test"),
    [
        (MutationProof("a", 2, 1, components_moved=True), "injected_mismatch_flagged"),
        (MutationProof("a", 0, 0, components_moved=True), "injected_mismatch_flagged"),
        (MutationProof("a", 2, 2, components_moved=False), "recompute_independent"),
    ],
)
def test_a_survived_mutation_fails_its_structural_test(batch, proof, test):
    judgement = judge(replace(batch, proofs={"a": proof}))
    failed = {name for name, passed in judgement.structural_tests.items() if not passed}
    assert failed == {test, "validator_passed"}
    assert {name for name, claim in judgement.validation.items() if not claim} == {
        "structural_tests_passed", "validator_passed",
    }  # fmt: skip
    assert judgement.is_blocked


def test_a_static_proof_that_found_something_fails_its_structural_test(batch):
    lineage = replace(batch.check_set.lineage["a"], faults=(("recompute_uses_declared", "d.n"),))
    dependent = replace(batch, check_set=replace(batch.check_set, lineage={"a": lineage}))
    judgement = judge(dependent)
    assert not judgement.structural_tests["recompute_independent"]
    assert not judgement.validation["fields_verifiable"]


@pytest.mark.parametrize("name", ["d.jsonl", "p.jsonl"])
def test_a_source_whose_bytes_changed_meanwhile_fails_the_test_of_overwriting(batch, tmp_path, name):
    text = (tmp_path / name).read_text()
    (tmp_path / name).write_text(text.replace("9", "8"))
    assert not judge(batch).structural_tests["silent_overwrite_rejected"]
    (tmp_path / name).unlink()
    assert not judge(batch).structural_tests["silent_overwrite_rejected"]


def test_a_log_that_grew_meanwhile_still_begins_with_the_bytes_that_were_read(batch, tmp_path):
    with (tmp_path / "d.jsonl").open("a") as stream:
        stream.write('{"id":"D","n":1}\n')
    assert judge(batch).guardian == "pass"


@pytest.mark.parametrize("code", ["overwritten_true", "declared_altered"])
def test_a_validator_that_lets_an_overwritten_value_pass_is_found(batch, monkeypatch, code):
    honest = guardian.record_faults
    monkeypatch.setattr(guardian, "record_faults", lambda r, rules: (f for f in honest(r, rules) if f[0] != code))
    assert not judge(batch).structural_tests["silent_overwrite_rejected"]


def test_overwriting_is_tried_on_made_up_mismatches_where_there_is_none(tmp_path, batch, monkeypatch):
    (tmp_path / "d.jsonl").write_text("")
    (tmp_path / "p.jsonl").write_text("")
    empty = run_checks(load_check_set(tmp_path / "checks.yaml"))
    assert empty.records == {"a": []}
    assert judge(empty).structural_tests["silent_overwrite_rejected"]
    honest = guardian.record_faults
    monkeypatch.setattr(
        guardian, "record_faults", lambda r, rules: (f for f in honest(r, rules) if f[0] != "declared_altered")
    )
    assert not judge(empty).structural_tests["silent_overwrite_rejected"]


def test_the_report_of_a_batch_that_passed_has_no_violation_offline(batch):
    text = json_text(report_document(batch, judge(batch))).encode()
    assert text_violations(text, "report.json") == []


def test_the_report_of_a_batch_that_was_blocked_is_refused_offline_for_the_same_reasons(batch):
    wrong = altered(batch, "B", declared="9")
    judgement = judge(wrong)
    found = {v.code for v in text_violations(json_text(report_document(wrong, judgement)).encode(), "r")}
    assert judgement.codes <= found
    assert "validation_wrong" not in found, "the report claims exactly what it bears out"
    assert "guardian_wrong" not in found


def test_the_golden_cases_that_pass_have_no_violation_and_those_that_block_have_one():
    cases = Path(__file__).parent / "cases"
    for file in sorted(cases.glob("*/expected.json")):
        text = file.read_bytes()
        if b'"guardian"' in text:
            assert bool(text_violations(text, file.name)) == (b'"guardian": "block"' in text), file
