"""Table `features_step_surface`: the terms of every step, side by side and each with its reason when unknown.

What belongs here: putting the columns together. What does not: any formula. Columns, never rows: a table of a million
steps takes seconds, where an object per step took a minute. Source: spec/trajectory.md §1.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.trajectory.comparisons import compared
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION
from governance_pipeline.trajectory.reading import READING_TABLES
from governance_pipeline.trajectory.step_columns import StepColumns, step_columns
from governance_pipeline.trajectory.step_terms import REASONS
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.events import Event
    from governance_pipeline.trajectory.packed_keys import Flags, Integers, Reals
    from governance_pipeline.trajectory.rules import RoundRules
    from governance_pipeline.trajectory.terms import Counted

TABLE: Final = "features_step_surface"

STEP_TABLES: Final = (*READING_TABLES, "core_evidence", "raw_quarantine")
"""Tables `step_surface` reads."""

COLUMN_OF: Final = {
    "F": "files_count",
    "L": "churn_count",
    "M": "modules_count",
    "P": "public_count",
    "D": "outside_scope_ratio",
    "H": "entropy_nats",
    "E": "evidence_share",
}
"""Letter of a term -> its column."""


def step_surface(tables: Tables) -> pd.DataFrame:
    """Return one row per step of every round, ordered by round and step; columns as contract `features_step_surface`.

    Args:
        tables: the frames named by `STEP_TABLES`, of the same rounds, of any number of them.

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
    """
    steps = step_columns(tables)
    surface, evidence = (steps.sums, steps.are_sums_known), steps.terms["E"]
    share = (evidence.values.astype(np.float64), evidence.is_known)
    has_both = share[1] & surface[1]
    is_next = _follows(steps.round_of, steps.number)
    cells = {
        **_places(steps),
        "step_index": steps.number,
        **{COLUMN_OF[name]: _masked(term.values, term.is_known) for name, term in steps.terms.items()},
        "surface_sum": _masked(*surface),
        "evidence_per_surface": _masked((share[0] + EPSILON) / (surface[0] + EPSILON), has_both),
        "surface_sum_delta": _delta(*surface, is_next),
        "evidence_share_delta": _delta(*share, is_next),
        "is_repeated": steps.lines > 1,
        "unknown": _unknown(steps),
        "mismatches": _mismatches(steps),
        "feature_version": np.full(len(steps.number), FEATURE_VERSION, dtype=object),
        "epsilon": np.full(len(steps.number), EPSILON),
    }
    like = empty_frame(TABLE)
    columns = {str(name): pd.array(cells[str(name)], dtype=dtype) for name, dtype in like.dtypes.items()}
    return pd.DataFrame(columns, copy=False)


def mismatches_of(event: Event, count: Counted, rules: RoundRules) -> list[dict[str, str]]:
    """Give the numbers an event carries and its files contradict: field, declared, computed as lexemes."""
    return [
        {"field": one.field, "declared": canonical(one.declared.value), "computed": canonical(one.computed.value)}
        for one in compared(event, count, rules)
        if one.result.status is RecordStatus.MISMATCH and one.declared.value is not None
        if one.computed.value is not None
    ]


def _places(steps: StepColumns) -> Mapping[str, Any]:
    """Where the first event of each step stands; run and time only of a step that has one event."""
    first = steps.events.iloc[steps.first]
    is_one = steps.chosen >= 0
    columns = {name: first[name].array for name in ("round_id", "origin", "path", "file_sha256", "line")}
    return {**columns, **{name: first[name].reset_index(drop=True).where(is_one).array for name in ("run_id", "at")}}


def _masked(values: Integers | Reals, is_known: Flags) -> Any:
    kind = pd.arrays.IntegerArray if values.dtype.kind == "i" else pd.arrays.FloatingArray
    return kind(np.where(is_known, values, 0).astype(values.dtype, copy=False), ~is_known)


def _follows(round_of: Integers, number: Integers) -> Flags:
    """Whether the row before a step is the step before it, in the same round."""
    is_next = np.zeros(len(number), dtype=bool)
    is_next[1:] = (round_of[1:] == round_of[:-1]) & (number[1:] == number[:-1] + 1)
    return is_next


def _delta(values: Reals, is_known: Flags, is_next: Flags) -> Any:
    before, was_known = np.roll(values, 1), np.roll(is_known, 1)
    return _masked(values - before, is_known & was_known & is_next)


def _unknown(steps: StepColumns) -> Any:
    """JSON of the unknown terms of each step: few combinations, each written once."""
    base = len(REASONS)
    key = np.zeros(len(steps.number), dtype=np.int64)
    for term in steps.terms.values():
        key = key * base + term.reasons
    distinct, at, place = np.unique(key, return_index=True, return_inverse=True)
    texts = np.empty(len(distinct), dtype=object)
    for number, position in enumerate(at.tolist()):
        codes = {name: int(term.reasons[position]) for name, term in steps.terms.items()}
        texts[number] = json.dumps({name: REASONS[code] for name, code in codes.items() if code})
    return texts[place]


def _mismatches(steps: StepColumns) -> Any:
    """JSON of the mismatches of each step; only events whose numbers are not those of their files are looked at."""
    texts = np.full(len(steps.number), "[]", dtype=object)
    for at in steps.contradicted().tolist():
        texts[at] = json.dumps(mismatches_of(*steps.event_of(at)))
    return texts
