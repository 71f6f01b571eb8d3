"""Table `features_step_surface`: the terms of every step, side by side and each with its reason when unknown.

What belongs here: putting a row together. What does not: any formula. Source: spec/trajectory.md §1.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.trajectory.comparisons import compared
from governance_pipeline.trajectory.evidence import evidence_by_round, evidence_per_surface
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION
from governance_pipeline.trajectory.reading import READING_TABLES, read_surface
from governance_pipeline.trajectory.surface import surface_sum
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from governance_pipeline.trajectory.events import Step, Tables
    from governance_pipeline.trajectory.evidence import RoundEvidence
    from governance_pipeline.trajectory.reading import Surface
    from governance_pipeline.trajectory.terms import Term

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

_REALS: Final = {"D", "H", "E"}


def step_surface(tables: Tables) -> pd.DataFrame:
    """Return one row per step of every round, ordered by round and step; columns as contract `features_step_surface`.

    Args:
        tables: the frames named by `STEP_TABLES`, of the same rounds, of any number of them.

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
    """
    surface = read_surface(tables)
    evidence = evidence_by_round(surface.rules, tables["core_evidence"], tables["raw_quarantine"])
    by_round = groupby(surface.events.steps, key=lambda step: step.round_id)
    return frame_of(TABLE, (row for of, steps in by_round for row in _rows(surface, evidence[of], list(steps))))


def mismatches_of(surface: Surface, step: Step) -> list[dict[str, str]]:
    """Give the numbers the event of a step carries and its files contradict: field, declared, computed as lexemes."""
    if step.event is None:
        return []
    event, count = surface.events.events[step.event], surface.counts[step.event]
    return [
        {"field": one.field, "declared": canonical(one.declared.value), "computed": canonical(one.computed.value)}
        for one in compared(event, count, surface.rules[step.round_id])
        if one.result.status is RecordStatus.MISMATCH and one.declared.value is not None
        if one.computed.value is not None
    ]


def _rows(surface: Surface, evidence: RoundEvidence, steps: list[Step]) -> Iterator[dict[str, Any]]:
    shares = evidence.shares([step.number for step in steps])
    before: dict[str, Any] = {}
    for step, share in zip(steps, shares, strict=True):
        row = _row(surface, step, {**surface.terms(step), "E": share})
        follows = before.get("step_index") == step.number - 1
        for column in ("surface_sum", "evidence_share"):
            row[f"{column}_delta"] = _delta(row[column], before.get(column) if follows else None)
        yield row
        before = row


def _row(surface: Surface, step: Step, terms: Mapping[str, Term]) -> dict[str, Any]:
    first = surface.first(step)
    total = surface_sum(term.value for name, term in terms.items() if name != "E")
    return {
        "round_id": step.round_id,
        "step_index": step.number,
        "origin": first.origin.value,
        "run_id": first.run_id if step.event is not None else None,
        "at": first.at if step.event is not None else None,
        **{COLUMN_OF[name]: _typed(name, term) for name, term in terms.items()},
        "surface_sum": total,
        "evidence_per_surface": evidence_per_surface(terms["E"].value, total),
        "is_repeated": step.lines > 1,
        "unknown": json.dumps({name: term.reason for name, term in terms.items() if term.reason is not None}),
        "mismatches": json.dumps(mismatches_of(surface, step)),
        "path": first.path,
        "file_sha256": first.file_sha256,
        "line": first.line,
        "feature_version": FEATURE_VERSION,
        "epsilon": EPSILON,
    }


def _typed(name: str, term: Term) -> int | float | None:
    return float(term.value) if term.value is not None and name in _REALS else term.value


def _delta(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else now - before
