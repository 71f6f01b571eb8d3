"""The closed lists of the confidence engine: domains, event types, severities, reasons and levels.

What belongs here: enumerations, in the order the documents use. What does not: patterns (data, `patterns.yaml`) and
amounts (`amounts.py`). Source: spec/confidence.md §1, §4, §5 and §12.
"""

from __future__ import annotations

from enum import StrEnum


class Domain(StrEnum):
    """What is judged; members stand in the order of every document."""

    TECH = "TECH"
    OPS = "OPS"
    JUDGMENT = "JUDGMENT"
    COMMS = "COMMS"
    ORCH = "ORCH"


class Role(StrEnum):
    """Who is judged."""

    AGENT = "agent"
    USER = "user"


class EventType(StrEnum):
    """What an event says happened."""

    CORRECT = "correct"
    ERROR = "error"
    PRO_PATTERN = "pro_pattern"
    BONUS = "bonus"
    EXCEPTIONAL = "exceptional"
    LEARNED_FROM_CORRECTION = "learned_from_correction"
    IMPLICIT_CONTINUE = "implicit_continue"
    SEAL = "seal"


class Severity(StrEnum):
    """How bad an error is, mildest first."""

    MILD = "mild"
    MEDIUM = "medium"
    SEVERE = "severe"
    CRITICAL = "critical"


class ClusterRole(StrEnum):
    """Place of an error in a causal chain."""

    ROOT = "root"
    DERIVED = "derived"


class Quadrant(StrEnum):
    """Which sides of a team are good (a global of 50 or more)."""

    GOOD = "GOOD"
    COMPENSATED = "COMPENSATED"
    PROBLEM = "PROBLEM"
    BREAKDOWN = "BREAKDOWN"


class Trigger(StrEnum):
    """Triggers that score; the others of the trigger table write no event."""

    SCORE = "score"
    AUTO_SCORE = "auto-score"
    TASK_COMPLETE = "task-complete"
    IDEA_VALIDATE = "idea-validate"
    CRITERIA_EVOLUTION = "criteria-evolution"


class PatternKind(StrEnum):
    """What a pattern is good for: an error, a gain, or only a label of a specification level."""

    ANTI = "anti"
    PRO = "pro"
    LABEL = "label"


class RefusalReason(StrEnum):
    """Why a line is refused; the first that applies, in this order."""

    MALFORMED_LINE = "malformed_line"
    UNKNOWN_SCHEMA = "unknown_schema"
    UNKNOWN_FIELD = "unknown_field"
    MISSING_FIELD = "missing_field"
    INVALID_FIELD = "invalid_field"
    DAY_MISMATCH = "day_mismatch"
    UNKNOWN_SUBJECT = "unknown_subject"
    UNKNOWN_POOL = "unknown_pool"
    UNKNOWN_PATTERN = "unknown_pattern"
    PATTERN_MISMATCH = "pattern_mismatch"
    DUPLICATE_EVENT_ID = "duplicate_event_id"
    CONFLICTING_EVENT_ID = "conflicting_event_id"
    DAY_SEALED = "day_sealed"
    CHEERLEAD_GUARD = "cheerlead_guard"
    FACT_ALREADY_SCORED = "fact_already_scored"
    BONUS_LIMIT = "bonus_limit"
    STREAK_BELOW_3 = "streak_below_3"


class Adjustment(StrEnum):
    """Why the applied delta differs from the raw one, in the order of the steps."""

    CRITERIA_WITHOUT_ARGUMENT = "criteria_without_argument"
    REPEAT_IN_SESSION = "repeat_in_session"
    EXCUSE_AGAIN = "excuse_again"
    CLUSTER_DERIVED = "cluster_derived"
    CLUSTER_ROOT_MISSING = "cluster_root_missing"
    DAY_CAP = "day_cap"
    SCORE_LIMIT = "score_limit"


class AlertKind(StrEnum):
    """What the fold draws attention to."""

    RECOVERY_LEFT = "recovery_left"
    DIVERGENCE = "divergence"
    RECOVERY_ENTERED = "recovery_entered"


class Maturity(StrEnum):
    """How much a track or a pool has been evaluated."""

    NEW = "NEW"
    JUNIOR = "JUNIOR"
    ESTABLISHED = "ESTABLISHED"
    MATURE = "MATURE"


class Escalation(StrEnum):
    """What the nth incident of one anti-pattern asks for; the fourth level stays."""

    CORRECT = "correct"
    STOP_AND_ROOT_CAUSE = "stop_and_root_cause"
    MECHANICAL_ENFORCEMENT = "mechanical_enforcement"
    REDESIGN = "redesign"
