"""Goal substitution: a round that changed much, elsewhere, and proved nothing of what it was for.

What belongs here: the four conditions and their conjunction, each true, false or unknown. What does not: where the
counts come from (`detectors.goal_substitution`). It is a fact of the contract, not a statistic. Source:
spec/verdict.md §2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from governance_pipeline.verdict.policy_document import GoalSwitch, Policy
from governance_pipeline.verdict.signals import Decision
from governance_pipeline.vocabulary import ContractState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class GoalFacts:
    """What is known of a round; None is unknown throughout.

    Attributes:
        contract: state of the round contract.
        files: distinct files changed.
        churn: lines added and deleted.
        contributes_to: ids of the key results the round says it works for.
        evidence: per key result the criteria with observable evidence: last state proven, or unproven with
            strength above 0.
        files_outside_scope: files outside `include`.
        files_in_non_goals: files inside a non-goal.
    """

    contract: ContractState
    files: int | None = None
    churn: int | None = None
    contributes_to: tuple[str, ...] | None = None
    evidence: Mapping[str, int | None] = field(default_factory=dict)
    files_outside_scope: int | None = None
    files_in_non_goals: int | None = None


@dataclass(frozen=True, slots=True)
class GoalOutcome:
    """The four conditions, and what follows when all hold at once.

    Attributes:
        fires: True when all four hold, False when one does not, None when none is false and one is unknown.
        active: a valid contract and a policy that looks.
        material: the surface reaches a threshold.
        no_evidence: no key result has any evidence.
        deviation: a file lies outside the scope or inside a non-goal.
        decision: warn or record when it fires, else None.
    """

    fires: bool | None
    active: bool
    material: bool | None
    no_evidence: bool | None
    deviation: bool | None
    decision: Decision | None


def judge_goal(goal: GoalFacts, policy: Policy) -> GoalOutcome:
    """Judge one round under the policy in force for it."""
    active = goal.contract == ContractState.VALID and policy.goal_substitution != GoalSwitch.OFF
    material = _any((_reaches(goal.files, policy.material_files), _reaches(goal.churn, policy.material_churn)))
    deviation = _any((_reaches(goal.files_outside_scope, 1), _reaches(goal.files_in_non_goals, 1)))
    no_evidence = _no_evidence(goal)
    fires = _all((active, material, no_evidence, deviation))
    warns = policy.goal_substitution == GoalSwitch.WARN
    decision = (Decision.WARN if warns else Decision.RECORD) if fires else None
    return GoalOutcome(fires, active, material, no_evidence, deviation, decision)


def _no_evidence(goal: GoalFacts) -> bool | None:
    if goal.contributes_to is None:
        return None
    if not goal.contributes_to:
        return False
    counts = [goal.evidence.get(key_result) for key_result in goal.contributes_to]
    return _all(None if count is None else count == 0 for count in counts)


def _reaches(count: int | None, threshold: int) -> bool | None:
    return None if count is None else count >= threshold


def _all(conditions: Iterable[bool | None]) -> bool | None:
    """Conjunction of three values: one false decides, else one unknown."""
    values = list(conditions)
    if False in values:
        return False
    return None if None in values else True


def _any(conditions: Iterable[bool | None]) -> bool | None:
    """Disjunction of three values: one true decides, else one unknown."""
    values = list(conditions)
    if True in values:
        return True
    return None if None in values else False
