"""The decision table: what follows from one signal, and what a round's decisions add up to.

What belongs here: the table, total over every signal, mode and policy. What does not: where signals come from. The
weights (severities, what blocks in final mode) are data: the policy document. Source: spec/verdict.md §3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from governance_pipeline.rounds.contract import Mode
from governance_pipeline.verdict.signals import (
    GOAL_SUBSTITUTION,
    NO_REQUIRED_CHECK_RAN,
    REQUIRED_CHECK_NOT_RUN,
    Calibration,
    Cohort,
    Decision,
    Extremity,
    Fact,
    Gap,
    GapReason,
    Severity,
    Statistic,
    Status,
)
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from governance_pipeline.verdict.policy_document import Policy
    from governance_pipeline.verdict.signals import Check, Signal

_OF_SEVERITY: Final = {
    Severity.BLOCKING: Decision.BLOCK,
    Severity.WARNING: Decision.WARN,
    Severity.OBSERVE: Decision.RECORD,
}
_LADDER: Final = (Decision.RECORD, Decision.WARN, Decision.PAUSE)
"""What a statistic may do, mildest first; a weak cohort takes it one rung down."""

_COHORT_REASON: Final = {
    Cohort.TOO_FEW: "too_few",
    Cohort.EXCHANGEABILITY_SUSPECT: "exchangeability_suspect",
    Cohort.SMALL: "cohort_small",
    Cohort.NOT_COMPARABLE: "not_comparable",
    Cohort.OK: None,
}
_PASSIVE_COHORTS: Final = (Cohort.TOO_FEW, Cohort.EXCHANGEABILITY_SUSPECT)

_STATUS_OF: Final = {
    Decision.BLOCK: Status.BLOCK,
    Decision.UNKNOWN: Status.UNKNOWN,
    Decision.WARN: Status.WARN,
    Decision.PAUSE: Status.WARN,
    Decision.RECORD: Status.PASS,
    Decision.PROPOSAL: Status.PASS,
    Decision.DISMISSED: Status.PASS,
}
_WORST_FIRST: Final = tuple(Status)

NOT_CALIBRATED: Final = "not_calibrated"
ALL_CHECKS: Final = "checks"
"""Id of the finding that no required check ran."""


class CheckLike(Protocol):
    """What the table asks of a check, whoever lists it (`signals.Check` says what the words mean)."""

    @property
    def required(self) -> bool:
        """The round cannot pass without it."""

    @property
    def ran(self) -> bool | None:
        """It came to a result; None when nobody can tell."""

    @property
    def is_reported(self) -> bool:
        """A gap of another code says that it came to none."""


AnyCheck = TypeVar("AnyCheck", bound=CheckLike)


class Decided(NamedTuple):
    """What follows from one signal, and why (None where the class gives no reason)."""

    decision: Decision
    reason: str | None


def decide_signal(signal: Signal, mode: Mode, policy: Policy) -> Decided:
    """Look one signal up in the table."""
    if isinstance(signal, Fact):
        return Decided(_OF_SEVERITY[severity_of(signal.code, policy)], None)
    if isinstance(signal, Gap):
        return Decided(_gap_decision(signal, mode, policy), signal.reason)
    if isinstance(signal, Statistic):
        return _decide_statistic(signal)
    return Decided(Decision.PROPOSAL, None)


def severity_of(code: str, policy: Policy) -> Severity:
    """Severity of a fact. A substituted goal follows its own switch and is never blocking (spec §2)."""
    if code == GOAL_SUBSTITUTION:
        return policy.goal_severity
    return policy.severity.get(code, policy.default_severity)


def missing_checks(checks: Iterable[AnyCheck]) -> list[AnyCheck]:
    """List the required checks that came to no result and of which no other gap says so, in order."""
    return [check for check in checks if check.required and not check.ran and not check.is_reported]


def none_ran(checks: Iterable[AnyCheck]) -> bool:
    """Tell whether no required check came to a result, or none is required.

    This keeps a round in which nothing was verified from looking like one that has nothing but a warning.
    """
    return not any(check.required and check.ran for check in checks)


def check_gaps(checks: Sequence[Check]) -> list[Gap]:
    """Give one gap per required check that did not run, in order, then one when none ran at all."""
    gaps = [
        Gap(f"check:{check.id}", REQUIRED_CHECK_NOT_RUN, reason=GapReason.CHECK_NOT_RUN)
        for check in missing_checks(checks)
    ]
    if none_ran(checks):
        gaps.append(Gap(ALL_CHECKS, NO_REQUIRED_CHECK_RAN, reason=GapReason.CHECK_NOT_RUN))
    return gaps


def status_of(decisions: Iterable[Decision]) -> Status:
    """The worst of a round's decisions; none at all is a pass (spec §3: checks add their own gaps before)."""
    statuses = {_STATUS_OF[decision] for decision in decisions}
    return next((status for status in _WORST_FIRST if status in statuses), Status.PASS)


def exit_code(status: Status, fail_on: str = "block") -> int:
    """Exit code of a verdict (design §7): 1 at or above `fail_on`, 3 for unknown, else 0.

    Args:
        status: what the round came to.
        fail_on: ``warn``, ``block`` or ``never``, which turns every status into 0.
    """
    if fail_on == "never":
        return ExitCode.CLEAN
    if status == Status.BLOCK or (status == Status.WARN and fail_on == "warn"):
        return ExitCode.FINDINGS
    return ExitCode.UNKNOWN if status == Status.UNKNOWN else ExitCode.CLEAN


def _gap_decision(gap: Gap, mode: Mode, policy: Policy) -> Decision:
    if not gap.required:
        return Decision.RECORD
    if mode == Mode.FINAL and gap.code in policy.final_block:
        return Decision.BLOCK
    return Decision.UNKNOWN


def _decide_statistic(signal: Statistic) -> Decided:
    if signal.calibration == Calibration.NONE:
        return Decided(Decision.RECORD, NOT_CALIBRATED)
    reason = _COHORT_REASON[signal.cohort]
    if signal.cohort in _PASSIVE_COHORTS:
        return Decided(Decision.RECORD, reason)
    may_pause = signal.extremity == Extremity.EXTREME and signal.calibration == Calibration.INTERVENTION
    rung = 2 if may_pause else 1
    return Decided(_LADDER[rung if signal.cohort == Cohort.OK else rung - 1], reason)
