"""Why a gate says no: one stable code each (spec/gate.md §2), and the error that carries it.

What belongs here: codes and the exception. What does not: the order in which they are asked (gate).
"""

from __future__ import annotations

from enum import StrEnum

from governance_pipeline.errors import GateRefused


class ReasonCode(StrEnum):
    """Reason of a refusal; the codes never change their meaning."""

    MISSING = "MISSING"
    MALFORMED = "MALFORMED"
    TOO_LARGE = "TOO_LARGE"
    WRONG_TYPE = "WRONG_TYPE"
    BAD_SIGNATURE = "BAD_SIGNATURE"
    UNTRUSTED_KEY = "UNTRUSTED_KEY"
    REVOKED_KEY = "REVOKED_KEY"
    NO_USER_PRESENCE = "NO_USER_PRESENCE"
    WRONG_CHECKPOINT = "WRONG_CHECKPOINT"
    DIGEST_MISMATCH = "DIGEST_MISMATCH"
    POLICY_MISMATCH = "POLICY_MISMATCH"
    NOT_YET_VALID = "NOT_YET_VALID"
    EXPIRED = "EXPIRED"
    CLOCK_SUSPECT = "CLOCK_SUSPECT"
    FROZEN = "FROZEN"
    SELF_APPROVAL = "SELF_APPROVAL"
    NOT_INDEPENDENT = "NOT_INDEPENDENT"
    THRESHOLD = "THRESHOLD"
    SUPERSEDED = "SUPERSEDED"
    REVOKED = "REVOKED"
    REPLAYED = "REPLAYED"
    ROOT_ROLLBACK = "ROOT_ROLLBACK"
    LOG_INCONSISTENT = "LOG_INCONSISTENT"
    BLOCKED_POLICY = "BLOCKED_POLICY"
    INTERNAL = "INTERNAL"


class Refusal(GateRefused):
    """A refusal with its code; the message says what, where and what to do, after the code."""

    def __init__(self, code: ReasonCode, message: str) -> None:
        self.code = code
        super().__init__(f"{code}: {message}")
