"""The decision table over random sets of signals: what statistics and models may never do, and that more is never less."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.rounds.contract import Mode
from governance_pipeline.verdict.decide import DecideInput, decide
from governance_pipeline.verdict.decision_table import check_gaps, decide_signal, exit_code, severity_of, status_of
from governance_pipeline.verdict.goal import GoalFacts
from governance_pipeline.verdict.policy_document import read_policy, shipped_policy
from governance_pipeline.verdict.signals import (
    CLASS_OF_CODE,
    Calibration,
    Check,
    Cohort,
    Decision,
    Extremity,
    Fact,
    Gap,
    GapReason,
    Judgement,
    Severity,
    SignalClass,
    Statistic,
    Status,
)
from governance_pipeline.vocabulary import ContractState

CODES = st.sampled_from([*sorted(set(CLASS_OF_CODE) - {"goal-substitution"}), "model-note", "own-code"])
IDS = st.just("s")
FACTS = st.builds(Fact, IDS, CODES)
GAPS = st.builds(Gap, IDS, CODES, st.booleans(), st.sampled_from(GapReason))
STATISTICS = st.builds(
    Statistic, IDS, CODES, st.sampled_from(Calibration), st.sampled_from(Extremity), st.sampled_from(Cohort)
)
JUDGEMENTS = st.builds(Judgement, IDS, CODES)
SIGNALS = st.lists(st.one_of(FACTS, GAPS, STATISTICS, JUDGEMENTS), max_size=6).map(tuple)
CHECKS = st.lists(  # as an input can state them: nothing in it says that a gap reports a check
    st.builds(Check, IDS, st.booleans(), st.sampled_from([True, False, None]), st.just(False)), max_size=3
).map(tuple)
COUNTS = st.one_of(st.none(), st.integers(0, 20))
GOALS = st.one_of(
    st.none(),
    st.builds(
        GoalFacts,
        st.sampled_from(ContractState),
        COUNTS,
        COUNTS,
        st.one_of(st.none(), st.just(()), st.just(("KR1",))),
        st.dictionaries(st.just("KR1"), COUNTS),
        COUNTS,
        COUNTS,
    ),
)
SEVERITIES = st.sampled_from(["blocking", "warning", "observe"])
POLICIES = st.fixed_dictionaries(
    {"schema": st.just("govern/policy/v1"), "version": st.just("1")},
    optional={
        "severity": st.dictionaries(CODES, SEVERITIES, max_size=4),
        "default_severity": SEVERITIES,
        "final_block": st.lists(
            st.sampled_from([code for code, of in CLASS_OF_CODE.items() if of == SignalClass.GAP]), max_size=4
        ),
        "goal_substitution": st.sampled_from(["off", "observe", "warn"]),
        "material_files": st.integers(1, 20),
    },
).map(read_policy)
RAN = (Check("unit", required=True, ran=True),)
WORSE = [Status.PASS, Status.WARN, Status.UNKNOWN, Status.BLOCK]


@given(st.sampled_from(Mode), POLICIES, st.lists(st.one_of(STATISTICS, JUDGEMENTS), max_size=8).map(tuple), GOALS)
def test_no_set_of_statistics_and_judgements_blocks_nor_makes_a_round_unknown(mode, policy, signals, goal):
    assert decide(DecideInput(mode, policy, signals, RAN, goal))["status"] in {"pass", "warn"}


@settings(max_examples=100)
@given(st.sampled_from(Mode), POLICIES, SIGNALS, CHECKS, GOALS, st.one_of(FACTS, GAPS, STATISTICS, JUDGEMENTS))
def test_one_more_signal_never_makes_the_verdict_milder(mode, policy, signals, checks, goal, more):
    before = decide(DecideInput(mode, policy, signals, checks, goal))
    after = decide(DecideInput(mode, policy, (*signals, more), checks, goal))
    assert WORSE.index(after["status"]) >= WORSE.index(before["status"])
    assert after["requires_justification"] >= before["requires_justification"]


@given(st.sampled_from(Mode), POLICIES, SIGNALS, CHECKS, GOALS)
def test_one_more_required_check_that_did_not_run_never_makes_the_verdict_milder(mode, policy, signals, checks, goal):
    before = decide(DecideInput(mode, policy, signals, checks, goal))
    after = decide(DecideInput(mode, policy, signals, (*checks, Check("e2e", required=True, ran=None)), goal))
    assert WORSE.index(after["status"]) >= WORSE.index(before["status"])


@given(POLICIES, SIGNALS, CHECKS, GOALS)
def test_final_mode_is_never_milder_than_quick_mode(policy, signals, checks, goal):
    quick, final = (decide(DecideInput(mode, policy, signals, checks, goal))["status"] for mode in Mode)
    assert WORSE.index(final) >= WORSE.index(quick)


@given(st.sampled_from(Mode), POLICIES, SIGNALS, CHECKS, GOALS)
def test_a_pass_has_a_required_check_that_ran_and_none_that_did_not(mode, policy, signals, checks, goal):
    if decide(DecideInput(mode, policy, signals, checks, goal))["status"] in {"pass", "warn"}:
        required = [check for check in checks if check.required]
        assert required
        assert all(check.ran for check in required)


@given(st.sampled_from(Mode), POLICIES, FACTS)
def test_a_fact_is_decided_by_the_policy_alone(mode, policy, fact):
    assert decide_signal(fact, mode, policy) == decide_signal(fact, Mode.QUICK, policy)


@given(STATISTICS)
def test_a_weak_cohort_is_one_rung_down_and_never_lower_than_record(signal):
    sound = Statistic(signal.id, signal.code, signal.calibration, signal.extremity, Cohort.OK)
    ladder = [Decision.RECORD, Decision.WARN, Decision.PAUSE]
    policy = shipped_policy()
    found, best = (ladder.index(decide_signal(s, Mode.FINAL, policy).decision) for s in (signal, sound))
    if signal.cohort in {Cohort.SMALL, Cohort.NOT_COMPARABLE}:
        assert found == max(best - 1, 0)
    elif signal.cohort != Cohort.OK:
        assert found == 0


def test_a_substituted_goal_is_a_warning_at_most_whatever_the_policy_says_of_facts():
    policy = read_policy(
        {"schema": "govern/policy/v1", "version": "1", "default_severity": "blocking", "goal_substitution": "warn"}
    )
    assert severity_of("goal-substitution", policy) == Severity.WARNING
    assert severity_of("goal-substitution", shipped_policy()) == Severity.OBSERVE


def test_a_gap_that_another_finding_reports_still_counts_as_not_run():
    reported = Check("cross-check", required=True, ran=None, is_reported=True)
    assert [gap.id for gap in check_gaps([reported])] == ["checks"]
    assert check_gaps([reported, *RAN]) == []


@pytest.mark.parametrize(
    ("status", "fail_on", "code"),
    [
        ("block", "block", 1), ("block", "warn", 1), ("block", "never", 0),
        ("unknown", "block", 3), ("unknown", "warn", 3), ("unknown", "never", 0),
        ("warn", "block", 0), ("warn", "warn", 1), ("warn", "never", 0),
        ("pass", "block", 0), ("pass", "warn", 0), ("pass", "never", 0),
    ],
)  # fmt: skip
def test_the_exit_code_follows_status_and_threshold(status, fail_on, code):
    assert exit_code(Status(status), fail_on) == code


def test_nothing_found_is_a_pass_and_a_recorded_finding_stays_one():
    assert status_of([]) == Status.PASS
    assert status_of([Decision.RECORD, Decision.PROPOSAL]) == Status.PASS
