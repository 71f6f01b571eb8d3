"""Goal substitution: all four conditions at once, each of three values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.verdict.goal import GoalFacts, judge_goal
from governance_pipeline.verdict.policy_document import read_policy, shipped_policy
from governance_pipeline.vocabulary import ContractState

FIRES = GoalFacts(ContractState.VALID, 12, 627, ("KR1",), {"KR1": 0}, 11, 0)


def policy(**members):
    return read_policy({"schema": "govern/policy/v1", "version": "1", "goal_substitution": "warn", **members})


@pytest.mark.parametrize(
    ("change", "fires"),
    [
        ({}, True),
        ({"contract": ContractState.ABSENT}, False),
        ({"contract": ContractState.INVALID}, False),
        ({"files": 9, "churn": 399}, False),
        ({"files": 10, "churn": 0}, True),
        ({"files": 0, "churn": 400}, True),
        ({"files": None, "churn": 400}, True),
        ({"files": 9, "churn": None}, None),
        ({"files": None, "churn": None}, None),
        ({"contributes_to": ()}, False),
        ({"contributes_to": None}, None),
        ({"evidence": {"KR1": 1}}, False),
        ({"evidence": {"KR1": None}}, None),
        ({"evidence": {}}, None),
        ({"contributes_to": ("KR1", "KR2"), "evidence": {"KR1": None, "KR2": 1}}, False),
        ({"contributes_to": ("KR1", "KR2"), "evidence": {"KR1": 0, "KR2": 0}}, True),
        ({"files_outside_scope": 0, "files_in_non_goals": 0}, False),
        ({"files_outside_scope": None, "files_in_non_goals": 1}, True),
        ({"files_outside_scope": None, "files_in_non_goals": 0}, None),
        ({"files_outside_scope": 0, "files_in_non_goals": None}, None),
        ({"files": None, "churn": None, "files_outside_scope": 0, "files_in_non_goals": 0}, False),
    ],
)
def test_one_false_silences_then_one_unknown_leaves_it_open_else_it_fires(change, fires):
    outcome = judge_goal(replace(FIRES, **change), policy())
    assert outcome.fires is fires
    assert outcome.decision == ("warn" if fires else None)


def test_a_policy_that_looks_without_warning_records():
    assert judge_goal(FIRES, shipped_policy()).decision == "record"


def test_a_policy_that_is_off_is_silent():
    outcome = judge_goal(FIRES, policy(goal_substitution="off"))
    assert (outcome.active, outcome.fires, outcome.decision) == (False, False, None)


def test_thresholds_are_those_of_the_policy():
    assert judge_goal(replace(FIRES, files=2, churn=0), policy(material_files=2)).fires is True


UNKNOWN = st.sampled_from([None, 0, 1, 20, 500])


@given(
    st.sampled_from(ContractState), UNKNOWN, UNKNOWN, st.sampled_from([None, (), ("KR1",)]), UNKNOWN, UNKNOWN, UNKNOWN
)
def test_what_is_known_later_never_contradicts_what_was_decided_before(
    state, files, churn, ids, evidence, outside, inside
):
    """Filling an unknown in may decide an open question; it never turns yes into no or no into yes."""
    facts = GoalFacts(state, files, churn, ids, {"KR1": evidence}, outside, inside)
    before = judge_goal(facts, policy()).fires
    if before is None:
        return
    for known in (0, 500):
        filled = replace(
            facts,
            files=known if files is None else files,
            churn=known if churn is None else churn,
            contributes_to=("KR1",) if ids is None else ids,
            evidence={"KR1": known if evidence is None else evidence},
            files_outside_scope=known if outside is None else outside,
            files_in_non_goals=known if inside is None else inside,
        )
        assert judge_goal(filled, policy()).fires is before
