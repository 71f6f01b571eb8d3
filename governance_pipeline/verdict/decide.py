"""`govern verdict decide`: one `govern/decide-input/v1` document in, one `govern/decision/v1` document out.

What belongs here: reading the input strictly, and composing table and goal. What does not: any rule of the table.
Source: spec/verdict.md §7.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused, UsageError
from governance_pipeline.rounds.contract import Mode
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.json_text import BOM, parse_json
from governance_pipeline.verdict.decision_table import check_gaps, decide_signal, status_of
from governance_pipeline.verdict.document_schema import document_fault
from governance_pipeline.verdict.goal import GoalFacts, judge_goal
from governance_pipeline.verdict.policy_document import Policy, read_policy
from governance_pipeline.verdict.signals import (
    GOAL_SUBSTITUTION,
    Calibration,
    Check,
    Cohort,
    Decision,
    Extremity,
    Fact,
    Gap,
    GapReason,
    Judgement,
    Signal,
    SignalClass,
    Statistic,
)
from governance_pipeline.vocabulary import ContractState

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA: Final = "govern/decision/v1"


@dataclass(frozen=True, slots=True)
class DecideInput:
    """Everything a decision is made from; no other thing can enter."""

    mode: Mode
    policy: Policy
    signals: tuple[Signal, ...]
    checks: tuple[Check, ...]
    goal: GoalFacts | None = None


def read_decide_input(data: bytes) -> DecideInput:
    """Read a `govern/decide-input/v1` document.

    Raises:
        UsageError: not strict JSON, not the schema, or a repeated id. PolicyError, a subclass: the policy is at fault.
    """
    try:
        document = parse_json(data.removeprefix(BOM))
    except RecordRefused as refusal:
        raise UsageError(f"the input is no strict JSON document: {refusal}") from None
    fault = document_fault("decide-input-v1.json", document)
    if fault is not None:
        raise UsageError(f"the input is refused: {fault}")
    goal = document.get("goal")
    _refuse_repeated("signals", (signal["id"] for signal in document["signals"]))
    _refuse_repeated("checks", (check["id"] for check in document["checks"]))
    _refuse_repeated("goal.contributes_to", (goal or {}).get("contributes_to") or ())
    return DecideInput(
        mode=Mode(document["mode"]),
        policy=read_policy(document["policy"]),
        signals=tuple(map(_signal, document["signals"])),
        checks=tuple(Check(check["id"], check["required"], check["ran"]) for check in document["checks"]),
        goal=None if goal is None else _goal(goal),
    )


def decide(given: DecideInput) -> dict[str, Any]:
    """Return the `govern/decision/v1` document: the same input gives the same document."""
    outcome = None if given.goal is None else judge_goal(given.goal, given.policy)
    signals: list[Signal] = [*given.signals, *check_gaps(given.checks)]
    findings = [_finding(signal, *decide_signal(signal, given.mode, given.policy)) for signal in signals]
    if outcome is not None and outcome.decision is not None:
        findings.append(_finding(Fact(GOAL_SUBSTITUTION, GOAL_SUBSTITUTION), outcome.decision, None))
    decisions = [Decision(finding["decision"]) for finding in findings]
    return {
        "schema": SCHEMA,
        "status": str(status_of(decisions)),
        "requires_justification": Decision.PAUSE in decisions,
        "findings": findings,
        "goal_substitution": None if outcome is None else asdict(outcome),
        "policy_digest": given.policy.digest,
    }


def _finding(signal: Signal, decision: Decision, reason: str | None) -> dict[str, Any]:
    return {
        "id": signal.id,
        "class": str(signal.signal_class),
        "code": signal.code,
        "decision": str(decision),
        "reason": None if reason is None else str(reason),
    }


def _signal(row: dict[str, Any]) -> Signal:
    match SignalClass(row["class"]):
        case SignalClass.FACT:
            return Fact(row["id"], row["code"])
        case SignalClass.GAP:
            required = True if row.get("required") is None else row["required"]
            return Gap(row["id"], row["code"], required, GapReason(row.get("reason") or GapReason.NO_EVIDENCE))
        case SignalClass.STATISTIC:
            return Statistic(
                row["id"], row["code"], Calibration(row["calibration"]), Extremity(row["extremity"]),
                Cohort(row["cohort"]),
            )  # fmt: skip
        case SignalClass.JUDGEMENT:
            return Judgement(row["id"], row["code"])


def _goal(row: dict[str, Any]) -> GoalFacts:
    contributes_to = row.get("contributes_to")
    return GoalFacts(
        contract=ContractState(row["contract"]),
        files=row.get("files"),
        churn=row.get("churn"),
        contributes_to=None if contributes_to is None else tuple(contributes_to),
        evidence=row.get("evidence") or {},
        files_outside_scope=row.get("files_outside_scope"),
        files_in_non_goals=row.get("files_in_non_goals"),
    )


def _refuse_repeated(place: str, ids: Iterable[str]) -> None:
    repeated = sorted(id_ for id_, count in Counter(ids).items() if count > 1)
    if repeated:
        raise UsageError(f"the input is refused: {place} repeats the id {excerpt(repeated[0], 80)}; ids are unique")
