"""The terms of a step in words, with the numbers they are made of and where these come from.

What belongs here: sentences. What does not: the numbers, which are given, and the order of a page (`explanation`).
Names come from logs, so each is escaped and cut before it enters a sentence.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from governance_pipeline.rounds.evidence import EvidenceState, last_states
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.events import EVIDENCE_FILE
from governance_pipeline.trajectory.formulas import EPSILON
from governance_pipeline.trajectory.reasons import IN_WORDS
from governance_pipeline.trajectory.terms import SURFACE_TERMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from governance_pipeline.rounds.evidence import Evidence
    from governance_pipeline.trajectory.evidence import RoundEvidence
    from governance_pipeline.trajectory.files import PlacedFile
    from governance_pipeline.trajectory.reasons import AusReason, Reason
    from governance_pipeline.trajectory.terms import Term

NAMES_SHOWN: Final = 6
"""Names listed in a sentence; the rest is counted."""

_NAME_CHARACTERS: Final = 80
_UNITS: Final = {
    "F": ("file modified", "files modified"),
    "L": ("line added or deleted", "lines added or deleted"),
    "M": ("module touched", "modules touched"),
    "P": ("public boundary touched", "public boundaries touched"),
    "H": ("nat of entropy over modules", "nats of entropy over modules"),
}
"""What a number of the surface counts: one of them, several."""


def number(value: float) -> str:
    """Write a number for a reader: whole ones whole, others with six significant digits."""
    whole = isinstance(value, int) or (value.is_integer() and abs(value) < 2**53)
    return str(int(value)) if whole else f"{value:.6g}"


def unknown(reason: Reason | AusReason) -> str:
    """Say that something is unknown, and why."""
    return f"unknown: {IN_WORDS[reason]} ({reason})"


def own_number(term: str, value: float, computed: float | None) -> str:
    """Say that a number is the event's own, and what its files give where they give another."""
    beside = "" if computed is None or computed == value else f"; its files give {number(computed)}"
    return f"{_amount(term, value)}, as the event says{beside}"


def from_files(term: str, value: float, files: Sequence[PlacedFile]) -> str:
    """Say what a number of the surface was counted from."""
    if not files:
        return f"{_amount(term, value)}: nothing changed"
    return f"{_amount(term, value)}: {_PARTS[term](files)}"


def outside_scope(value: float, files: Sequence[PlacedFile]) -> str:
    """Say how much lies outside the scope."""
    outside = [file.path for file in files if file.is_outside]
    if not files:
        return "0: nothing changed"
    return f"{number(value)}: {len(outside)} of {len(files)} files outside the scope{_listed(outside)}"


def surface(value: float | None, terms: Mapping[str, Term]) -> str:
    """Show the sum S, or which of its terms are unknown."""
    if value is None:
        missing = [name for name in SURFACE_TERMS if terms[name].value is None]
        return f"unknown: {', '.join(missing)} unknown"
    parts = [number(known) for name in SURFACE_TERMS if (known := terms[name].value) is not None]
    return f"{' + '.join(SURFACE_TERMS)} = {' + '.join(parts)} = {number(value)}"


def evidence(value: float, of: RoundEvidence, step: int | None) -> str:
    """Say which required criteria are proven up to a step (None: in the whole round), and by which records."""
    required = [] if of.rules.contract is None else [criterion.id for criterion in of.rules.contract.required]
    if not required:
        return "0: the contract requires no criterion"
    states = last_states(of.records, step)
    are_proven = [id_ for id_ in required if _is_proven(states.get(id_))]
    others = [id_ for id_ in required if id_ not in are_proven]
    sentence = f"{number(value)}: {len(are_proven)} of {len(required)} required criteria proven"
    sentence += _listed(f"{excerpt(id_, 40)} ({_record(states.get(id_))})" for id_ in are_proven)
    if not others:
        return sentence
    return sentence + f"; not proven{_listed(f'{excerpt(id_, 40)} ({_record(states.get(id_))})' for id_ in others)}"


def ratio(value: float | None, share: float | None, total: float | None) -> str:
    """Show J as its two sides."""
    if value is None or share is None or total is None:
        missing = [name for name, side in (("E", share), ("S", total)) if side is None]
        return f"unknown: {' and '.join(missing)} unknown"
    epsilon = number(EPSILON)
    return f"({number(share)} + {epsilon}) / ({number(total)} + {epsilon}) = {number(value)}"


def _amount(term: str, value: float) -> str:
    one, several = _UNITS[term]
    return f"{number(value)} {one if value == 1 else several}"


def _is_proven(record: Evidence | None) -> bool:
    return record is not None and record.state is EvidenceState.PROVEN


def _record(record: Evidence | None) -> str:
    if record is None:
        return "no evidence"
    return f"{record.state} at step {record.step}, {EVIDENCE_FILE} line {record.line}"


def _listed(names: Iterable[str]) -> str:
    """Give `: a, b and 3 more`; nothing for no names."""
    shown = [excerpt(name, 2 * _NAME_CHARACTERS) for name in names]
    if not shown:
        return ""
    more = f" and {len(shown) - NAMES_SHOWN} more" if len(shown) > NAMES_SHOWN else ""
    return f": {', '.join(shown[:NAMES_SHOWN])}{more}"


def _each(files: Iterable[PlacedFile], show: Callable[[PlacedFile], str]) -> str:
    return _listed(show(file) for file in files).removeprefix(": ")


def _paths(files: Sequence[PlacedFile]) -> str:
    return _each(files, lambda file: excerpt(file.path, _NAME_CHARACTERS))


def _lines(files: Sequence[PlacedFile]) -> str:
    return _each(files, lambda file: f"{excerpt(file.path, _NAME_CHARACTERS)} {_lines_of(file)}")


def _lines_of(file: PlacedFile) -> str:
    return "unknown" if file.churn is None else str(file.churn)


def _modules(files: Sequence[PlacedFile]) -> str:
    return _listed(sorted({file.module for file in files})).removeprefix(": ")


def _public(files: Sequence[PlacedFile]) -> str:
    public = [file.path for file in files if file.is_public]
    return f"{len(public)} of {len(files)} files{_listed(public)}"


def _shares(files: Sequence[PlacedFile]) -> str:
    modules = {file.module for file in files}
    if len(modules) == 1:
        return f"all in {excerpt(next(iter(modules)), _NAME_CHARACTERS)}"
    lines: Counter[str] = Counter()
    for file in files:
        lines[file.module] += file.churn or 0
    unit = "lines" if lines.total() else "files"
    counts = lines if lines.total() else Counter(file.module for file in files)
    return _listed(f"{name} {counts[name]} of {counts.total()} {unit}" for name in sorted(counts)).removeprefix(": ")


_PARTS: Final[Mapping[str, Callable[[Sequence[PlacedFile]], str]]] = {
    "F": _paths,
    "L": _lines,
    "M": _modules,
    "P": _public,
    "H": _shares,
}
