"""Claims about escalations: everything not accepted opens exactly one case, and nothing in it is decided."""

from __future__ import annotations

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import breaches, empty_frame
from governance_pipeline.crosscheck.escalations import escalations


def all_kinds(tables):
    """Return checks with a match, a mismatch and two unverifiables."""
    tables.declare("1.25").declare("9", "step_count").declare('"many"', "run_count").declare("4", "lines_added")
    return tables.costs("1.25").checks()


def test_each_record_that_is_not_accepted_opens_one_case_and_no_other_does(tables):
    checks = all_kinds(tables)
    cases = escalations(checks)
    not_accepted = checks.loc[checks["action"] != "accept", "record_id"]
    assert cases["record_id"].tolist() == not_accepted.tolist()
    assert len(cases) == 3
    assert breaches("audit_escalations", cases).empty


def test_the_reason_is_mismatch_or_the_reason_code(tables):
    checks = all_kinds(tables)
    fields = dict(zip(checks["record_id"], checks["field"], strict=True))
    reasons = {fields[row["record_id"]]: row["reason"] for row in plain_rows(escalations(checks))}
    assert reasons == {
        "step_count": "mismatch", "run_count": "declared_not_a_number", "lines_added": "components_missing",
    }  # fmt: skip


def test_a_case_shows_both_values_as_they_are_and_is_open_without_a_clock(tables):
    tables.declare("9", "step_count").costs("1.25")
    (case,) = plain_rows(escalations(tables.checks()))
    assert (case["declared"], case["computed"], case["assignee"]) == ("9", "1", "round_owner")
    assert (case["state"], case["opened_at"], case["age_days"]) == ("open", None, None)
    assert case["case_id"] == f"case-{case['record_id']}"


def test_the_same_input_opens_the_same_cases(tables):
    checks = all_kinds(tables)
    assert escalations(checks).equals(escalations(checks.copy()))


def test_nothing_to_ask_opens_no_case(tables):
    assert escalations(tables.declare("1.25").costs("1.25").checks()).empty
    assert breaches("audit_escalations", escalations(empty_frame("audit_cross_checks"))).empty
