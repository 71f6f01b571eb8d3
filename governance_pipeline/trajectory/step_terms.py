"""F L M P D H of millions of steps at once: `terms.terms_of` of every step, as columns.

What belongs here: the same order of sources and the same reasons as `terms`, which is the definition to read; a test
holds both against each other. What does not: counting (`surface`, `entropy`) and E (`evidence`).
Source: spec/trajectory.md §1 and §9 (`unknown`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from governance_pipeline.trajectory.reasons import Reason
from governance_pipeline.trajectory.terms import SURFACE_TERMS, entropy_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from governance_pipeline.trajectory.packed_keys import Flags, Integers, Reals
    from governance_pipeline.trajectory.rules import RoundRules
    from governance_pipeline.trajectory.terms import Counts

REASONS: Final = (None, *Reason)
"""Reason of each code; code 0 says that the value is known."""

DECLARED: Final = {"F": "files_count", "L": "churn_count", "M": "modules_count", "P": "public_count"}
"""Letter of a whole number an event may carry -> its column in `EventRows.events`."""

_CODE: Final = {reason: at for at, reason in enumerate(REASONS)}
_EXACT: Final = 2**50  # four whole numbers below this add up exactly in binary64


class TermColumn(NamedTuple):
    """One term of every step: its value (0 where unknown) and the code of its reason in `REASONS` (0: known)."""

    values: Integers | Reals
    reasons: Integers

    @property
    def is_known(self) -> Flags:
        """Whether each value is known."""
        return np.equal(self.reasons, 0)


class Declarations(NamedTuple):
    """Numbers events carry themselves: letter -> values (0 where none is carried) and whether one is."""

    values: Mapping[str, Integers | Reals]
    is_given: Mapping[str, Flags]
    has_files: Flags


def declarations_of(events: pd.DataFrame) -> Declarations:
    """Read the numbers of `EventRows.events`; one entry per event."""
    given = {name: events[column].notna().to_numpy(bool) for name, column in DECLARED.items()}
    values: dict[str, Integers | Reals] = {
        name: events[column].to_numpy(np.int64, na_value=0) for name, column in DECLARED.items()
    }
    lexemes = events["entropy_lexeme"]
    given["H"] = lexemes.notna().to_numpy(bool)
    entropy = np.zeros(len(events))
    at = np.flatnonzero(given["H"])
    entropy[at] = np.array([entropy_of(text) for text in lexemes.iloc[at].tolist()], dtype=np.float64)
    values["H"] = entropy
    return Declarations(values, given, events["has_files"].to_numpy(bool, na_value=False))


def term_columns(
    declared: Declarations, counts: Counts, chosen: Integers, round_of: Integers, rules: Sequence[RoundRules]
) -> dict[str, TermColumn]:
    """Give F L M P D H of steps, in the order of S.

    Args:
        declared: what events carry themselves.
        counts: what the files of each event give.
        chosen: for each step the position of its event; -1 when different events claim it.
        round_of: for each step the position of the rules of its round.
        rules: of each round.
    """
    is_contested = chosen < 0
    at = np.where(is_contested, 0, chosen) if len(declared.has_files) else chosen[:0]
    has_files = declared.has_files[at]
    is_nothing = declared.is_given["F"][at] & (declared.values["F"][at] == 0)
    listed = _listed(counts, at, round_of, rules)
    found: dict[str, TermColumn] = {}
    for name, of_files in listed.items():
        is_own = declared.is_given[name][at]
        values = np.where(is_own, declared.values[name][at], np.where(has_files, of_files.values, 0))
        without = np.where(has_files, of_files.reasons, np.where(is_nothing, 0, _CODE[Reason.NOT_GIVEN]))
        found[name] = TermColumn(values, np.where(is_own, 0, without))
    found["D"] = _outside_scope(counts, at, has_files, is_nothing, (round_of, rules))
    return {name: _uncontested(found[name], is_contested) for name in SURFACE_TERMS}


def surface_sums(terms: Mapping[str, TermColumn]) -> tuple[Reals, Flags]:
    """S of every step, and whether it is known; the sum is rounded once, as `surface.surface_sum` does.

    Whole numbers add up exactly. One more addition rounds once, so only a step whose D and H both have a fraction
    needs the exact sum of all six.
    """
    columns = [terms[name].values.astype(float) for name in SURFACE_TERMS]
    is_known = np.logical_and.reduce([terms[name].is_known for name in SURFACE_TERMS])
    files, lines, modules, public, outside, entropy = columns
    whole = files + lines + modules + public
    is_exact = np.logical_and.reduce([column < _EXACT for column in (files, lines, modules, public)])
    sums = np.where(entropy == 0, whole + outside, (whole + outside) + entropy)
    slow = np.flatnonzero(is_known & ~(is_exact & ((entropy == 0) | (outside == np.floor(outside)))))
    sums[slow] = [math.fsum(six) for six in zip(*(column[slow].tolist() for column in columns), strict=True)]
    return np.where(is_known, sums, 0.0), is_known


def _listed(counts: Counts, at: Integers, round_of: Integers, rules: Sequence[RoundRules]) -> dict[str, TermColumn]:
    """What the files of each step's event give, and why they do not."""
    known = np.zeros(len(at), dtype=np.int64)
    churn_unknown = _CODE[Reason.CHURN_UNKNOWN]
    files = counts.files[at]
    without = np.array([_lacking(of, of.public is None, Reason.NO_PUBLIC) for of in rules], dtype=np.int64)[round_of]
    return {
        "F": TermColumn(files, known),
        "L": TermColumn(counts.churn[at], np.where(counts.is_churn_known[at], 0, churn_unknown)),
        "M": TermColumn(counts.modules[at], known),
        "P": TermColumn(np.where(without > 0, 0, counts.public[at]), np.where(files == 0, 0, without)),
        "H": TermColumn(counts.entropy[at], np.where(counts.is_entropy_known[at], 0, churn_unknown)),
    }


def _outside_scope(
    counts: Counts, at: Integers, has_files: Flags, is_nothing: Flags, by_round: tuple[Integers, Sequence[RoundRules]]
) -> TermColumn:
    round_of, rules = by_round
    without = np.array([_lacking(of, of.include is None, Reason.NO_SCOPE) for of in rules], dtype=np.int64)[round_of]
    ratio = counts.outside[at] / np.maximum(counts.files[at], 1)
    not_listed = np.where(is_nothing, 0, _CODE[Reason.FILES_NOT_LISTED])
    reasons = np.where(without > 0, without, np.where(has_files, 0, not_listed))
    return TermColumn(np.where(has_files & (without == 0), ratio, 0.0), reasons)


def _lacking(rules: RoundRules, is_lacking: bool, reason: Reason) -> int:
    return _CODE[rules.no_contract or reason] if is_lacking else 0


def _uncontested(term: TermColumn, is_contested: Flags) -> TermColumn:
    reasons = np.where(is_contested, _CODE[Reason.STEP_REPEATED], term.reasons)
    return TermColumn(np.where(reasons == 0, term.values, 0), reasons)
