"""The steps of rounds as columns: which event each has, its terms, S and E.

What belongs here: the order of reading, for tables of millions of steps. What does not: the table (`step_surface`),
any formula, and a step as an object (`reading`). Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from governance_pipeline.strict.text_codes import text_codes
from governance_pipeline.trajectory.comparisons import ENTROPY_TOLERANCE
from governance_pipeline.trajectory.event_rows import event_rows
from governance_pipeline.trajectory.events import event_of_row
from governance_pipeline.trajectory.evidence import evidence_by_round
from governance_pipeline.trajectory.files import files_of_rounds
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.packed_keys import order_of, packed, starts_of
from governance_pipeline.trajectory.rules import refuse_strangers, rules_of
from governance_pipeline.trajectory.step_terms import (
    DECLARED,
    REASONS,
    TermColumn,
    declarations_of,
    surface_sums,
    term_columns,
)
from governance_pipeline.trajectory.terms import counts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.events import Event
    from governance_pipeline.trajectory.evidence import RoundEvidence
    from governance_pipeline.trajectory.packed_keys import Flags, Integers, Reals
    from governance_pipeline.trajectory.rules import RoundRules
    from governance_pipeline.trajectory.step_terms import Declarations
    from governance_pipeline.trajectory.terms import Counted, Counts


@dataclass(frozen=True, slots=True)
class StepColumns:
    """Steps by round and number; all arrays but those of events have one entry per step.

    Attributes:
        rules: of each round that has steps.
        round_of: position of the rules of a step's round.
        number: t, from 1.
        first: position of its first event; `chosen` the same, -1 when different events claim the step.
        lines: lines that give it, byte-identical ones included.
        terms: F L M P D H E.
        sums: S, and `are_sums_known` whether it is known.
        events: one row per event, as `EventRows.events`; `declared` and `counts` are of the same events.
    """

    rules: Sequence[RoundRules]
    round_of: Integers
    number: Integers
    first: Integers
    chosen: Integers
    lines: Integers
    terms: Mapping[str, TermColumn]
    sums: Reals
    are_sums_known: Flags
    events: pd.DataFrame
    declared: Declarations
    counts: Counts

    def contradicted(self) -> Integers:
        """Give the steps whose event carries a number that is not, to the last digit, the one its files give.

        A superset of the steps with a mismatch: what is comparable and what is tolerated, `comparisons` decides.
        """
        own, given = self.declared.values, self.declared.is_given
        listed = {"F": self.counts.files, "L": self.counts.churn, "M": self.counts.modules, "P": self.counts.public}
        differs = np.zeros(len(self.declared.has_files), dtype=bool)
        for name in DECLARED:
            differs |= given[name] & (own[name] != listed[name])
        differs |= given["H"] & (np.abs(own["H"] - self.counts.entropy) > float(ENTROPY_TOLERANCE) / 2)
        differs &= self.declared.has_files
        is_one = np.flatnonzero(self.chosen >= 0)
        return is_one[differs[self.chosen[is_one]]]

    def event_of(self, step: int) -> tuple[Event, Counted, RoundRules]:
        """Give the event of a step, what its files give, and the rules of its round."""
        at = int(self.chosen[step])
        (row,) = rows_of(self.events.iloc[at : at + 1])
        return event_of_row(row), self.counts.of(at), self.rules[self.round_of[step]]


def step_columns(tables: Tables) -> StepColumns:
    """Read the steps of every round of `tables` (`STEP_TABLES`).

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
    """
    by_round = rules_of(tables["core_rounds"], tables["core_criteria"])
    evidence = evidence_by_round(by_round, tables["core_evidence"], tables["raw_quarantine"])
    rows = event_rows(tables)
    round_of_event, rounds = text_codes(rows.events["round_id"])
    refuse_strangers(rounds, by_round)
    rules = [by_round[of] for of in rounds]
    counts = counts_of(files_of_rounds(rows.listed, round_of_event, rules))
    number_of_event = rows.events["step"].to_numpy(np.int64)
    first, chosen = _steps(round_of_event, number_of_event)
    round_of, number = round_of_event[first], number_of_event[first]
    declared = declarations_of(rows.events)
    terms = term_columns(declared, counts, chosen, round_of, rules)
    sums, are_sums_known = surface_sums(terms)
    terms["E"] = _shares(round_of, number, [evidence[of] for of in rounds])
    return StepColumns(
        rules, round_of, number, first, chosen, rows.lines[first], terms, sums, are_sums_known, rows.events, declared,
        counts,
    )  # fmt: skip


def _steps(round_of: Integers, number: Integers) -> tuple[Integers, Integers]:
    """Position of the first event of each step, and of its event (-1: several claim it), by round and number."""
    key, width = packed([round_of, number])
    order = order_of(key, width)
    if order is None:
        order = np.arange(len(key), dtype=np.int64)
    starts = starts_of(key[order])
    first = order[starts]
    return first, np.where(np.diff(starts, append=len(key)) == 1, first, -1)


def _shares(round_of: Integers, number: Integers, evidence: Sequence[RoundEvidence]) -> TermColumn:
    """E up to each step: it changes only at steps that have a record, so it is asked for at those alone."""
    values, reasons = np.zeros(len(number)), np.zeros(len(number), dtype=np.int64)
    starts = np.searchsorted(round_of, np.arange(len(evidence) + 1)).tolist()
    for at, of in enumerate(evidence):
        here = slice(starts[at], starts[at + 1])
        if of.reason is not None:
            reasons[here] = REASONS.index(of.reason)
        elif of.records:
            changing = [0, *sorted({record.step for record in of.records})]
            shares = np.array([term.value for term in of.shares(changing)], dtype=float)
            values[here] = shares[np.searchsorted(changing, number[here], side="right") - 1]
    return TermColumn(values, reasons)
