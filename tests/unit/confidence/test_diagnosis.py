"""Who answers for a failed delegation: the table of shares, worked out by hand."""

from __future__ import annotations

import pytest

from governance_pipeline.confidence.diagnosis import Outcome, Side, diagnosis
from governance_pipeline.confidence.terms import Domain, Severity

LEAD, DEV = Side("lead", "openclaw/opus-4-6/high"), Side("dev", "openclaw/sonnet-4-5/high")


def _found(outcome, severity=Severity.SEVERE, executor=DEV):
    found = diagnosis(outcome, LEAD, executor, Domain.TECH, severity)
    return [(one["subject_id"], one["pattern_code"], one["domain"], one.get("severity")) for one in found]


def test_bad_context_is_the_orchestrators_alone():
    assert _found(Outcome.BAD_CONTEXT) == [("lead", "DELEGATION_FAIL", "ORCH", "severe")]


@pytest.mark.parametrize(
    ("severity", "quarter"), [("mild", None), ("medium", "mild"), ("severe", "mild"), ("critical", "medium")]
)
def test_with_good_context_the_executor_answers_whole_and_the_orchestrator_a_quarter(severity, quarter):
    rows = _found(Outcome.GOOD_CONTEXT, Severity(severity))
    assert rows[0] == ("dev", "EXECUTION_FAIL", "TECH", severity)
    assert rows[1:] == ([("lead", "EXECUTION_FAIL", "ORCH", quarter)] if quarter else [])


def test_unreviewed_work_is_both_sides_whole():
    assert _found(Outcome.UNREVIEWED) == [
        ("dev", "EXECUTION_FAIL", "TECH", "severe"),
        ("lead", "EXECUTION_FAIL", "ORCH", "severe"),
    ]


def test_a_fault_caught_in_review_is_a_gain_of_the_orchestrator():
    assert _found(Outcome.CAUGHT) == [("lead", "REVIEW_CATCH", "ORCH", None)]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_inside_one_pool_nothing_is_recorded(outcome):
    assert _found(outcome, executor=Side("architect", LEAD.runtime)) == []
