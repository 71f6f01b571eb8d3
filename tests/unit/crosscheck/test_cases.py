"""Claims about which records make a case: a mismatch alone, the unverifiables of one check and reason together."""

from __future__ import annotations

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.crosscheck.cases import cases_of
from governance_pipeline.crosscheck.escalations import escalations
from governance_pipeline.trust.case_statement import case_sha256


def cases(checks):
    return cases_of(escalations(checks), checks)


def test_no_record_makes_no_case():
    assert cases_of(empty_frame("audit_escalations"), empty_frame("audit_cross_checks")) == []


def test_what_matches_makes_no_case(tables):
    assert cases(tables.declare("1.25").costs("1.25").checks()) == []


def test_each_mismatch_is_a_case_of_its_own_with_both_values(tables):
    tables.declare("9", "step_count").declare("8").costs("1")
    found = cases(tables.checks())
    assert [case.reason for case in found] == ["mismatch", "mismatch"]
    assert [len(case.records) for case in found] == [1, 1]
    assert [case.case_id for case in found] == [f"case-{case.records[0].record_id}" for case in found]
    assert sorted((r.declared, r.computed) for case in found for r in case.records) == [("8", "1"), ("9", "1")]


def test_unverifiables_of_one_check_and_reason_are_one_case_that_lists_them_all(tables):
    for n in range(3):
        tables.declare("4", "lines_added", subject=f"run-{n}")
    tables.declare('"many"', "lines_added", subject="run-9").declare("1.25").costs("1.25")
    found = cases(tables.checks())
    assert sorted((case.reason, len(case.records)) for case in found) == [
        ("components_missing", 3),
        ("declared_not_a_number", 1),
    ]
    for case in found:
        assert case.case_id == f"case-{case_sha256(case.round_id, case.reason, case.records)}"
        assert (case.field, case.assignee) == ("lines_added", "round_owner")


def test_a_record_more_makes_another_case(tables):
    [before] = cases(tables.declare("4", "lines_added", subject="run-0").checks())
    [after] = cases(tables.declare("4", "lines_added", subject="run-1").checks())
    assert before.case_id != after.case_id


def test_cases_are_the_same_whatever_the_order_of_the_rows(tables):
    for n in range(4):
        tables.declare("4", "lines_added", subject=f"run-{n}")
    checks = tables.declare("9", "step_count").costs("1").checks()
    shuffled = checks.sample(frac=1, random_state=7).reset_index(drop=True)
    assert {case.ref for case in cases(checks)} == {case.ref for case in cases(shuffled)}
