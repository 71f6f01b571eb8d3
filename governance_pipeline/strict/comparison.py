"""The one comparison of a declared number with a computed one.

What belongs here: the flag rule and what follows from it (status, action, delta). What does not: where the numbers,
their faults and the epsilon come from. Every part of the project that compares what a source claims with what we
compute calls `compare`; there is no second way.

Source: spec/crosscheck.md §2 (flag rule) and §3 (statuses, order of reasons).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.strict.numbers import EXACT, fits, is_finite_binary64
from governance_pipeline.vocabulary import Action, DataType, RecordStatus, UnknownReason

if TYPE_CHECKING:
    from decimal import Decimal


class Side(NamedTuple):
    """One side of a comparison: its number when it is known, and why it cannot be used when it cannot.

    Both may be set: 3.5 declared for an integer is shown and still not comparable. Without a number there is
    always a reason.
    """

    value: Decimal | None
    reason: UnknownReason | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What comparing gave.

    Attributes:
        status: match, mismatch or unverifiable.
        mismatch: the flag; None when unverifiable, never false for an unknown.
        action: accept, escalate or have a person confirm.
        delta: declared - computed, sign kept; None when unverifiable.
        epsilon: the tolerance used; None when the declared number is unknown.
        reason: why it is unverifiable; None otherwise.
    """

    status: RecordStatus
    mismatch: bool | None
    action: Action
    delta: Decimal | None
    epsilon: Decimal | None
    reason: UnknownReason | None


def compare(declared: Side, computed: Side, epsilon: Decimal | None, data_type: DataType) -> Comparison:
    """Compare two numbers: a mismatch iff abs(declared - computed) > epsilon, strictly; equality is a match.

    The reason of an unverifiable comparison is that of the declared side, else of the computed side, else the
    overflow of their difference. The arithmetic is exact for every type.

    Raises:
        ValueError: a side has neither number nor reason, or both numbers are comparable and there is no epsilon.
    """
    reason = declared.reason or computed.reason
    if reason is not None:
        return _unverifiable(declared, epsilon, reason)
    if declared.value is None or computed.value is None or epsilon is None:
        raise ValueError("a comparable pair needs both numbers and an epsilon; an unknown side needs its reason")
    delta = EXACT.subtract(declared.value, computed.value)
    if not (is_finite_binary64(delta) if data_type == DataType.FLOAT else fits(delta)):
        return _unverifiable(declared, epsilon, UnknownReason.OVERFLOW)
    if delta.copy_abs() > epsilon:  # abs() would round to the context of the thread
        return Comparison(RecordStatus.MISMATCH, True, Action.ESCALATE, delta, epsilon, None)
    return Comparison(RecordStatus.MATCH, False, Action.ACCEPT, delta, epsilon, None)


def _unverifiable(declared: Side, epsilon: Decimal | None, reason: UnknownReason) -> Comparison:
    used = None if declared.value is None else epsilon
    return Comparison(RecordStatus.UNVERIFIABLE, None, Action.CONFIRM, None, used, reason)
