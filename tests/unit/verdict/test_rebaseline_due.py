"""`rebaseline-due` reads what the governed folder says is due: for the round it was seen in, or for a whole baseline."""

from __future__ import annotations

import pytest

from governance_pipeline.contracts.audit_rebaseline import AuditRebaseline
from governance_pipeline.contracts.frames import typed
from governance_pipeline.verdict.controls import CONTROL_ROUND, control_tables
from governance_pipeline.verdict.detectors import DETECTORS
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.round_view import RoundView, RowsByRound

[DETECTOR] = [detector for detector in DETECTORS if detector.code == "rebaseline-due"]
ROW = {
    "trigger": "new_log_format",
    "subject": "atif",
    "pointer": "r/logs/a.jsonl",
    "state": "due",
    "baseline_version": "2",
}


def hits(row, **of_round):
    folder = {"audit_rebaseline": typed(AuditRebaseline, "audit_rebaseline", [ROW | row])}
    tables = control_tables({"core_rounds": [{"baseline_version": "2", **of_round}]})
    return list(DETECTOR.detect(RoundView(RowsByRound(tables, folder=folder), CONTROL_ROUND, shipped_policy())))


@pytest.mark.parametrize(
    ("row", "of_round"),
    [
        ({"state": "declared", "round_id": CONTROL_ROUND}, {}),
        ({"state": "open"}, {}),
        ({"round_id": "another"}, {}),
        ({}, {"baseline_version": "1"}),
        ({}, {"baseline_version": None}),
        ({}, {"contract_state": "invalid"}),
        ({"baseline_version": None, "trigger": "baseline_not_noted"}, {"baseline_version": None}),
    ],
)
def test_what_is_declared_or_concerns_another_round_or_baseline_is_silent(row, of_round):
    assert hits(row, **of_round) == []


@pytest.mark.parametrize(
    ("row", "of_round"),
    [({}, {}), ({"round_id": CONTROL_ROUND}, {}), ({"round_id": CONTROL_ROUND}, {"contract_state": "absent"})],
)
def test_what_is_due_makes_the_round_stale_and_says_where_to_look(row, of_round):
    (hit,) = hits(row, **of_round)
    assert (hit.reason, hit.required) == ("stale", True)
    assert hit.factors["pointer"] == "r/logs/a.jsonl"
    assert "nobody has declared a re-baseline" in hit.message


def test_no_governed_folder_means_that_nothing_is_due_by_it():
    view = RoundView(RowsByRound(control_tables({})), CONTROL_ROUND, shipped_policy())
    assert list(DETECTOR.detect(view)) == []


def test_a_round_of_a_baseline_that_is_over_is_told_to_name_the_one_in_force():
    row = {"trigger": "old_baseline", "subject": "1", "round_id": CONTROL_ROUND}
    (hit,) = hits(row, baseline_version="1")
    assert "version 2 is in force: the round must name that one" in hit.message
