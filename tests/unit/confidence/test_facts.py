"""Verified facts: only what the tables prove counts, nobody is guessed, and the same tables give the same events."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from governance_pipeline.confidence.attribution import runtime_of
from governance_pipeline.confidence.event_rows import fact_row
from governance_pipeline.confidence.facts import FACT_TABLES, facts_of
from governance_pipeline.contracts.registry import empty_frame, frame_of, validate

SHA = "a" * 64
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PLACE = {"path": "declared.jsonl", "file_sha256": SHA, "line": 3, "pointer": ""}
RUN = {
    "round_id": "r-1", "run_id": "build", "agent_id": "ada", "format": "native", "platform": "bench 2.4",
    "model_id": "m-1", "thinking": "high", "ended_at": AT, "self_reported_status": "done",
    "opaque_step_count": 0, "path": "logs/audit.jsonl", "file_sha256": SHA,
}  # fmt: skip
FAILED = {
    "round_id": "r-1", "finding_id": "f" * 64, "fingerprint": SHA, "code": "focused-check-failed", "class": "A",
    "severity": "blocking", "is_required": True, "decision": "block", "message": "m",
    "factors": json.dumps({"evidence_state": "refuted"}), **PLACE,
}  # fmt: skip
NO = {
    "round_id": "r-1", "form": "envelope", "result": "FAILED", "attestation_sha256": "b" * 64,
    "validator_run_id": "check", "producer_run_id": "build", "producer_agent_ids": "[]",
    "is_signature_verified": True, "is_independent": True, **PLACE,
}  # fmt: skip
CHECKER = {**RUN, "run_id": "check", "agent_id": "eve", "model_id": "m-2"}
MISMATCH = {
    "round_id": "r-1", "record_id": "c" * 64, "check_id": "k", "subject_id": "r-1", "field": "cost",
    "data_type": "count", "declared": "2", "computed": "1", "status": "mismatch", "mismatch": True,
    "declared_path": "declared.jsonl", "declared_line": 3, "declared_pointer": "", "declared_file_sha256": SHA,
}  # fmt: skip
DECLARED = {"round_id": "r-1", "subject_id": "r-1", "field": "cost", "format": "native", **PLACE}
SOURCE_WRONG = ("r-1", "c" * 64, "source_wrong", AT)


def tables(**rows):
    return {table: frame_of(table, rows[table]) if table in rows else empty_frame(table) for table in FACT_TABLES}


def found(decided=(), **rows):
    made = [fact_row("r-1", fact) for fact in facts_of(tables(**rows), "r-1", decided)]
    validate("confidence_events", frame_of("confidence_events", made))
    return made


@pytest.mark.parametrize("change", [{"platform": None}, {"model_id": None}, {"thinking": None}, {"model_id": "a b"}])
def test_a_runtime_with_an_unknown_or_illegal_part_is_none(change):
    assert runtime_of({**RUN, **change}) is None
    assert runtime_of(RUN) == "bench/m-1/high"


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ([], "no_run"),
        ([RUN, {**RUN, "run_id": "b2"}], "several_runs"),
        ([{**RUN, "agent_id": None}], "no_agent"),
        ([{**RUN, "agent_id": "two words"}], "no_agent"),
        ([{**RUN, "thinking": None}], "no_runtime"),
        ([{**RUN, "ended_at": None}], "no_time"),
    ],
)
def test_a_false_claim_nobody_can_be_named_for_is_listed_with_its_reason_and_makes_no_event(runs, reason):
    claimed = {**FAILED, "factors": json.dumps({"evidence_state": "proven"})}
    (row,) = found(core_runs=runs, verdict_findings=[claimed])
    assert (row["state"], row["reason"], row["event"]) == ("unattributed", reason, None)
    assert row["evidence"] == "f" * 64


@pytest.mark.parametrize(
    "change",
    [
        {"decision": "dismissed"},
        {"class": "B", "severity": None},
        {"code": "required-check-not-run"},
        {"code": "cross-check-mismatch"},
    ],
)
def test_a_dismissed_finding_a_gap_and_a_code_that_is_not_listed_are_no_facts(change):
    assert found(core_runs=[RUN], verdict_findings=[{**FAILED, **change}]) == []


def test_a_failed_check_is_a_false_claim_only_where_success_was_claimed():
    assert found(core_runs=[{**RUN, "self_reported_status": None}], verdict_findings=[FAILED]) == []
    assert found(core_runs=[{**RUN, "self_reported_status": "gave up"}], verdict_findings=[FAILED]) == []
    (row,) = found(core_runs=[RUN], verdict_findings=[FAILED])
    event = json.loads(row["event"])
    assert (event["pattern_code"], event["severity"]) == ("HALLUCINATION", "severe")
    assert (event["subject_id"], event["runtime"], event["evidence"]) == ("ada", "bench/m-1/high", "f" * 64)


@pytest.mark.parametrize("outcome", ["computation_wrong", "data_conflict", "accepted"])
def test_a_mismatch_is_a_fact_only_when_a_person_found_the_source_wrong(outcome):
    rows = {"core_runs": [RUN], "core_declared": [DECLARED], "audit_cross_checks": [MISMATCH]}
    assert found(**rows) == []
    assert found([("r-1", "c" * 64, outcome, AT)], **rows) == []
    assert found([("r-2", "c" * 64, "source_wrong", AT)], **rows) == []
    (row,) = found([SOURCE_WRONG], **rows)
    assert (row["kind"], row["state"], row["severity"]) == ("mismatch_confirmed", "derived", "medium")


def test_a_number_a_runtime_wrote_into_its_log_is_not_the_word_of_an_agent():
    log = {**DECLARED, "format": "claude_code"}
    (row,) = found([SOURCE_WRONG], core_runs=[RUN], core_declared=[log], audit_cross_checks=[MISMATCH])
    assert (row["state"], row["reason"]) == ("unattributed", "written_by_runtime")


@pytest.mark.parametrize(
    "change",
    [{"is_independent": None}, {"is_independent": False}, {"is_signature_verified": None}, {"result": "PASSED"}],
)
def test_a_no_counts_only_signed_and_of_somebody_independent(change):
    assert found(core_runs=[RUN, CHECKER], audit_independence=[{**NO, **change}]) == []


def test_a_caught_review_is_one_gain_of_the_reviewer_and_nothing_inside_one_pool():
    twice = [NO, {**NO, "producer_run_id": "scout"}]
    runs = [RUN, CHECKER, {**RUN, "run_id": "scout", "agent_id": "bob"}]
    (row,) = found(core_runs=runs, audit_independence=twice)
    assert (row["subject_id"], row["pattern_code"], row["domain"]) == ("eve", "REVIEW_CATCH", "ORCH")
    (same,) = found(core_runs=[RUN, {**CHECKER, "model_id": "m-1"}], audit_independence=[NO])
    assert (same["state"], same["reason"], same["event"]) == ("unattributed", "one_pool", None)


def test_a_rejection_only_a_log_reports_is_listed_and_never_scored():
    rejected = {"round_id": "r-1", "run_id": "build", "kind": "rejected", "by": "human", "at": AT, **PLACE}
    (row,) = found(core_runs=[RUN], core_approvals=[rejected, {**rejected, "kind": "approved", "line": 4}])
    assert (row["state"], row["reason"]) == ("unattributed", "log_only")


def test_facts_are_the_same_whatever_order_rows_stand_in_and_whatever_else_is_there():
    one = found(core_runs=[RUN, CHECKER], verdict_findings=[FAILED], audit_independence=[NO])
    stranger = [{**FAILED, "round_id": "r-0"}, FAILED]
    other = found(core_runs=[CHECKER, RUN], verdict_findings=stranger, audit_independence=[NO])
    assert one == other
    assert len({row["event_id"] for row in one}) == 2
