"""An event's own numbers held against its files: which are compared, and how each comparison ends.

What belongs here: F, L, M, P exactly and H within its tolerance, through the one comparison function of the project.
What does not: records and tables made of these (`cross_checks`, `step_surface`). M and H are compared only where
modules are declared, by the contract or by every file; P only where public boundaries are, or nothing changed; an
event without a list of files has nothing to be compared with. Sources: spec/trajectory.md §1, spec/crosscheck.md §2.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.strict.comparison import Comparison, Side, compare
from governance_pipeline.strict.numbers import ZERO, shortest
from governance_pipeline.trajectory.terms import entropy_of
from governance_pipeline.vocabulary import DataType, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.trajectory.events import Event
    from governance_pipeline.trajectory.rules import RoundRules
    from governance_pipeline.trajectory.terms import Counted

ENTROPY_TOLERANCE: Final = Decimal("0.000001")
"""Nats H may differ: logarithms and the order of summation differ in the last digits. Source: spec/trajectory.md §1."""

COMPARED: Final = ("F", "L", "M", "P", "H")


class Compared(NamedTuple):
    """One number of an event beside its files': letter, both sides, type, and how they compare."""

    field: str
    declared: Side
    computed: Side
    data_type: DataType
    result: Comparison


def compared(event: Event, count: Counted, rules: RoundRules, *, is_contested: bool = False) -> Iterator[Compared]:
    """Compare each number an event carries beside its files, in the order F L M P H.

    Args:
        event: the event.
        count: what its files give.
        rules: those of its round.
        is_contested: a different event claims the same step, so its numbers are nobody's (`duplicate_subject`).
    """
    if not event.has_files:
        return
    reason = UnknownReason.DUPLICATE_SUBJECT if is_contested else None
    for field in COMPARED:
        declared = _declared(event, field)
        if declared is None or not _is_comparable(field, count, rules):
            continue
        own, listed = Side(declared, reason), _computed(field, count)
        data_type = DataType.FLOAT if field == "H" else DataType.INTEGER
        epsilon = ENTROPY_TOLERANCE if field == "H" else ZERO
        yield Compared(field, own, listed, data_type, compare(own, listed, epsilon, data_type))


def _declared(event: Event, field: str) -> Decimal | None:
    if field == "H":
        number = entropy_of(event.declared.H)
        return None if number is None else shortest(number)
    value = getattr(event.declared, field)
    return None if value is None else Decimal(value)


def _is_comparable(field: str, count: Counted, rules: RoundRules) -> bool:
    if field in {"M", "H"}:
        return rules.declares_modules or count.are_modules_named
    return field != "P" or rules.public is not None or count.files == 0


def _computed(field: str, count: Counted) -> Side:
    if field == "H":
        number = None if count.entropy is None else shortest(count.entropy)
    else:
        whole = {"F": count.files, "L": count.churn, "M": count.modules, "P": count.public}[field]
        number = None if whole is None else Decimal(whole)
    return Side(number, None if number is not None else UnknownReason.COMPONENT_MISSING_VALUE)
