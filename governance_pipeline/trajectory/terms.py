"""The terms of one event: what it says itself, else what its files give, else why nobody knows.

What belongs here: that order, and the reasons. What does not: counting (`surface`, `entropy`, `distance`) and E
(`evidence`). Source: spec/trajectory.md §1 and §9 (`unknown`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from governance_pipeline.strict.numbers import binary64
from governance_pipeline.trajectory.distance import outside_files, outside_scope_ratio
from governance_pipeline.trajectory.entropy import entropy_of_modules
from governance_pipeline.trajectory.reasons import Reason
from governance_pipeline.trajectory.surface import by_module, churn, files_modified, modules_touched, public_touched

if TYPE_CHECKING:
    from governance_pipeline.trajectory.events import Event
    from governance_pipeline.trajectory.files import EventFiles
    from governance_pipeline.trajectory.packed_keys import Flags, Integers, Reals
    from governance_pipeline.trajectory.rules import RoundRules

SURFACE_TERMS: Final = ("F", "L", "M", "P", "D", "H")
"""The terms of S, in the order of its formula."""


class Term(NamedTuple):
    """One term: its value, or why it is unknown."""

    value: int | float | None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """What the files of one event give; None = unknown.

    Attributes:
        files: F.
        churn: L, lines.
        modules: M.
        public: P, as far as the contract declares boundaries.
        entropy: H, nats.
        outside: files outside the scope, as far as the contract declares one.
        are_modules_named: the event names the module of every file.
    """

    files: int
    churn: int | None
    modules: int
    public: int
    entropy: float | None
    outside: int
    are_modules_named: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """What the files of events give, as arrays with one entry per event; `Counted` says what each is."""

    files: Integers
    churn: Integers
    is_churn_known: Flags
    modules: Integers
    public: Integers
    entropy: Reals
    is_entropy_known: Flags
    outside: Integers
    are_modules_named: Flags

    def of(self, at: int) -> Counted:
        """Give what the files of one event give."""
        return Counted(
            files=int(self.files[at]),
            churn=int(self.churn[at]) if self.is_churn_known[at] else None,
            modules=int(self.modules[at]),
            public=int(self.public[at]),
            entropy=float(self.entropy[at]) if self.is_entropy_known[at] else None,
            outside=int(self.outside[at]),
            are_modules_named=bool(self.are_modules_named[at]),
        )


def counts_of(files: EventFiles) -> Counts:
    """Count the files of every event; zeros for one that lists none."""
    total = files_modified(files)
    lines, lines_known = churn(files)
    changes = by_module(files)
    modules = modules_touched(files, changes)
    entropy, entropy_known = entropy_of_modules(changes, modules, lines_known)
    unnamed = np.bincount(files.event[~files.is_module_named], minlength=files.events)
    return Counts(
        total, lines, lines_known, modules, public_touched(files), entropy, entropy_known, outside_files(files),
        unnamed == 0,
    )  # fmt: skip


def counted(files: EventFiles) -> list[Counted]:
    """Count the files of every event; one entry per event."""
    counts = counts_of(files)
    return [counts.of(at) for at in range(files.events)]


def terms_of(event: Event, count: Counted, rules: RoundRules) -> dict[str, Term]:
    """Give F L M P D H of an event; `count` is what its files give."""
    own = event.declared
    listed = {
        "F": Term(count.files),
        "L": _or_unknown(count.churn),
        "M": Term(count.modules),
        "P": _public(count, rules),
        "H": _or_unknown(count.entropy),
    }
    declared = {**own._asdict(), "H": entropy_of(own.H)}
    terms = {name: _term(declared[name], listed[name], event) for name in listed}
    terms["D"] = _outside_scope(event, count, rules)
    return {name: terms[name] for name in SURFACE_TERMS}


def repeated() -> dict[str, Term]:
    """Give the terms of a step that different events claim: none of them is chosen."""
    return dict.fromkeys(SURFACE_TERMS, Term(None, Reason.STEP_REPEATED))


def entropy_of(lexeme: str | None) -> float | None:
    """Give the number an event wrote as H; None when it wrote none."""
    number = None if lexeme is None else binary64(lexeme)
    return None if number is None else number + 0.0  # + 0.0: never -0


def _term(own: float | None, listed: Term, event: Event) -> Term:
    if own is not None:
        return Term(own)
    if event.has_files:
        return listed
    return Term(0) if event.declared.F == 0 else Term(None, Reason.NOT_GIVEN)


def _or_unknown(value: float | None) -> Term:
    return Term(value) if value is not None else Term(None, Reason.CHURN_UNKNOWN)


def _public(count: Counted, rules: RoundRules) -> Term:
    if count.files == 0:
        return Term(0)
    if rules.public is None:
        return Term(None, rules.no_contract or Reason.NO_PUBLIC)
    return Term(count.public)


def _outside_scope(event: Event, count: Counted, rules: RoundRules) -> Term:
    if rules.include is None:
        return Term(None, rules.no_contract or Reason.NO_SCOPE)
    if event.has_files:
        return Term(outside_scope_ratio(count.outside, count.files))
    return Term(0.0) if event.declared.F == 0 else Term(None, Reason.FILES_NOT_LISTED)
