"""The four classes of signals and the closed lists of words a verdict is made of.

What belongs here: what a signal is. What does not: what follows from one (`decision_table`). A signal carries no
probability and no confidence score, so none can become a decision. Source: spec/verdict.md §1, §3, §7.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, NamedTuple


class SignalClass(StrEnum):
    """What kind of thing a signal is; decides what it may do."""

    FACT = "A"
    GAP = "B"
    STATISTIC = "C"
    JUDGEMENT = "D"


class Severity(StrEnum):
    """Weight of a fact, from the policy document alone."""

    BLOCKING = "blocking"
    WARNING = "warning"
    OBSERVE = "observe"


class Decision(StrEnum):
    """What follows from one signal."""

    BLOCK = "block"
    UNKNOWN = "unknown"
    WARN = "warn"
    PAUSE = "pause"
    RECORD = "record"
    PROPOSAL = "proposal"
    DISMISSED = "dismissed"
    """Nothing: a person has said so, in a way that counts. The table itself never gives it."""


class Status(StrEnum):
    """Verdict of a round, worst first."""

    BLOCK = "block"
    UNKNOWN = "unknown"
    WARN = "warn"
    PASS = "pass"  # noqa: S105 - a verdict, no password


class GapReason(StrEnum):
    """Why something is unknown."""

    NO_CONTRACT = "no_contract"
    NO_SCOPE = "no_scope"
    NO_EVIDENCE = "no_evidence"
    CHECK_NOT_RUN = "check_not_run"
    DECLARED_MISSING = "declared_missing"
    COMPONENTS_MISSING = "components_missing"
    NO_BASELINE = "no_baseline"
    STALE = "stale"
    TOO_FEW = "too_few"
    EXCHANGEABILITY_SUSPECT = "exchangeability_suspect"
    INSTRUMENT_BROKEN = "instrument_broken"
    PARTIAL_GRAPH = "partial_graph"


class Calibration(StrEnum):
    """How far a statistic has been validated."""

    NONE = "none"
    OUT_OF_SAMPLE = "out_of_sample"
    INTERVENTION = "intervention"


class Extremity(StrEnum):
    """Which of its two levels a statistic passed."""

    MODERATE = "moderate"
    EXTREME = "extreme"


class Cohort(StrEnum):
    """How well the rounds a statistic compares with serve as a reference."""

    OK = "ok"
    SMALL = "small"
    NOT_COMPARABLE = "not_comparable"
    TOO_FEW = "too_few"
    EXCHANGEABILITY_SUSPECT = "exchangeability_suspect"


GOAL_SUBSTITUTION: Final = "goal-substitution"
"""Code of the one fact that has its own switch in the policy and never blocks."""

REQUIRED_CHECK_NOT_RUN: Final = "required-check-not-run"
NO_REQUIRED_CHECK_RAN: Final = "no-required-check-ran"
IMPACT_INCREASE: Final = "impact-increase"
OUTLIER_CROSSING: Final = "outlier-crossing"

CLASS_OF_CODE: Final[dict[str, SignalClass]] = {
    **dict.fromkeys(
        (
            "parse-failure", "assertion-removed", "test-disabled", "test-deleted", "public-signature-narrowed",
            "dependency-added", "dependency-unpinned", "focused-check-failed", "cross-check-mismatch",
            "output-hash-mismatch", "canonical-write-unapproved", "validator-not-independent", GOAL_SUBSTITUTION,
        ),
        SignalClass.FACT,
    ),
    **dict.fromkeys(
        (
            "criterion-without-evidence", "criterion-without-check", "bugfix-without-reproduction",
            "partial-impact-graph", REQUIRED_CHECK_NOT_RUN, NO_REQUIRED_CHECK_RAN, "components-missing",
            "rebaseline-due",
        ),
        SignalClass.GAP,
    ),
    **dict.fromkeys(
        (
            "extreme-surface", "architectural-dispersion", "accumulated-expansion", "evidence-lag", "rewrite-attempt",
            IMPACT_INCREASE, OUTLIER_CROSSING,
        ),
        SignalClass.STATISTIC,
    ),
}  # fmt: skip
"""Class of each code the specification names. Codes are stable; those without a detector are reserved, not claimed."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing somebody noticed: an id of its own and the code of its kind."""

    signal_class: ClassVar[SignalClass]

    id: str
    code: str


@dataclass(frozen=True, slots=True)
class Fact(Signal):
    """Class A: reproducible by inspection or execution."""

    signal_class = SignalClass.FACT


@dataclass(frozen=True, slots=True)
class Gap(Signal):
    """Class B: evidence that is absent or not enough.

    Attributes:
        required: the round needs the thing that lacks evidence.
        reason: what is unknown for want of it.
    """

    signal_class = SignalClass.GAP

    required: bool = True
    reason: GapReason = GapReason.NO_EVIDENCE


@dataclass(frozen=True, slots=True)
class Statistic(Signal):
    """Class C: unusual among comparable rounds; says nothing about right or wrong."""

    signal_class = SignalClass.STATISTIC

    calibration: Calibration
    extremity: Extremity
    cohort: Cohort


@dataclass(frozen=True, slots=True)
class Judgement(Signal):
    """Class D: what a model proposes."""

    signal_class = SignalClass.JUDGEMENT


class Check(NamedTuple):
    """One check of a round.

    Attributes:
        id: unique among the checks of the round.
        required: the round cannot pass without it.
        ran: whether it came to a result; None when nobody can tell, which counts as not.
        is_reported: a gap of another code already says that it came to none; it counts as not run all the same.
    """

    id: str
    required: bool
    ran: bool | None
    is_reported: bool = False
