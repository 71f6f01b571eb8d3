"""The explanation of a round's features: each term of each step in words, with its numbers and its source.

What belongs here: the `govern/features-explain/v1` document. What does not: sentences (`wording`) and how it is
printed (`page`). It is made by the same reading as the tables, so it cannot tell another story than they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.trajectory import wording
from governance_pipeline.trajectory.accumulated import accumulated, step_gaps
from governance_pipeline.trajectory.base_lines import open_base
from governance_pipeline.trajectory.documents import mismatch_numbers, shortest_number
from governance_pipeline.trajectory.event_rows import CHANGES_FILE
from governance_pipeline.trajectory.events import quarantined_lines
from governance_pipeline.trajectory.evidence import evidence_by_round, evidence_per_surface
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.graph_explanation import compared_columns, graph_areas, graph_terms
from governance_pipeline.trajectory.graph_steps import FEATURE_VERSION as GRAPH_VERSION
from governance_pipeline.trajectory.graph_surface import graph_surface
from governance_pipeline.trajectory.reading import read_surface
from governance_pipeline.trajectory.repositories import Repositories
from governance_pipeline.trajectory.round_features import round_features
from governance_pipeline.trajectory.step_surface import TABLE as STEP_TABLE
from governance_pipeline.trajectory.step_surface import mismatches_of, step_surface
from governance_pipeline.trajectory.surface import surface_sum
from governance_pipeline.trajectory.terms import SURFACE_TERMS, Term

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from governance_pipeline.rounds.landing import RoundFolders
    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.events import Step
    from governance_pipeline.trajectory.evidence import RoundEvidence
    from governance_pipeline.trajectory.reading import Surface

SCHEMA: Final = "govern/features-explain/v1"


def explain_document(tables: Tables, round_id: str, landing: RoundFolders | None = None) -> dict[str, Any]:
    """Give the `govern/features-explain/v1` document of one round.

    Args:
        tables: raw and core tables that hold the round.
        round_id: which round.
        landing: folders of rounds, for repositories with a relative path.
    """
    surface = read_surface(tables)
    quarantine = tables["raw_quarantine"]
    evidence = evidence_by_round(surface.rules, tables["core_evidence"], quarantine)[round_id]
    steps = [step for step in surface.events.steps if step.round_id == round_id]
    shares = evidence.shares([step.number for step in steps])
    explained = [_step(surface, step, evidence, share) for step, share in zip(steps, shares, strict=True)]
    lost = quarantined_lines(quarantine, CHANGES_FILE).get(round_id, 0)
    gaps = step_gaps([step.number for step in steps])
    in_graph = _of_round(graph_surface(tables, Repositories(landing)), round_id)
    for step, row in zip(explained, in_graph, strict=True):
        step["graph_terms"] = graph_terms(row)
    measured = round_features({**tables, STEP_TABLE: step_surface(tables)}, open_base(landing))
    return {
        "schema": SCHEMA,
        "feature_version": FEATURE_VERSION,
        "graph_feature_version": GRAPH_VERSION,
        "epsilon": EPSILON,
        "round_id": round_id,
        "contract": evidence.rules.state.value,
        "steps": explained,
        "round": [_aus(explained, lost, has_gap=bool(gaps)), _round_evidence(evidence)],
        "graph_round": graph_areas(in_graph),
        "compared": compared_columns(_of_round(measured, round_id)[0]),
    }


def _of_round(frame: pd.DataFrame, round_id: str) -> list[dict[str, Any]]:
    return list(rows_of(frame[frame["round_id"] == round_id]))


def _step(surface: Surface, step: Step, evidence: RoundEvidence, share: Term) -> dict[str, Any]:
    terms = surface.terms(step)
    total = surface_sum(term.value for term in terms.values())
    ratio = evidence_per_surface(share.value, total)
    first = surface.first(step)
    mismatches = mismatch_numbers(_mismatches(surface, step))
    contradicted = {found["field"] for found in mismatches}
    return {
        "step": step.number,
        "source": {
            "origin": first.origin.value,
            "path": first.path,
            "line": first.line,
            "run_id": first.run_id,
            "run_step": first.run_step,
            "lines": step.lines,
        },
        "terms": [
            *(_surface_term(surface, step, name, terms[name], contradicted) for name in SURFACE_TERMS),
            _term("S", total, wording.surface(total, terms), "F L M P D H"),
            _evidence_term(evidence, share, step.number),
            _term("J", ratio, wording.ratio(ratio, share.value, total), "E S"),
        ],
        "mismatches": mismatches,
    }


def _mismatches(surface: Surface, step: Step) -> list[dict[str, str]]:
    if step.event is None:
        return []
    return mismatches_of(surface.events.events[step.event], surface.counts[step.event], surface.rules[step.round_id])


def _surface_term(surface: Surface, step: Step, name: str, term: Term, contradicted: Collection[str]) -> dict[str, Any]:
    if term.value is None or step.event is None:
        return _term(name, None, wording.unknown(term.reason) if term.reason else "unknown", None)
    event, files = surface.events.events[step.event], surface.files.of_event(step.event)
    if name != "D" and getattr(event.declared, name) is not None:
        count = surface.counts[step.event]
        listed = {"F": count.files, "L": count.churn, "M": count.modules, "P": count.public, "H": count.entropy}
        words = wording.own_number(name, term.value, listed[name] if name in contradicted else None)
        return _term(name, term.value, words, "event")
    words = wording.outside_scope(term.value, files) if name == "D" else wording.from_files(name, term.value, files)
    return _term(name, term.value, words, "files" if event.has_files else "event")


def _evidence_term(evidence: RoundEvidence, share: Term, step: int | None) -> dict[str, Any]:
    if share.value is None:
        return _term("E", None, wording.unknown(share.reason) if share.reason else "unknown", None)
    return _term("E", share.value, wording.evidence(share.value, evidence, step), "evidence")


def _round_evidence(evidence: RoundEvidence) -> dict[str, Any]:
    return _evidence_term(evidence, evidence.share(), None)


def _aus(steps: list[dict[str, Any]], lost: int, *, has_gap: bool) -> dict[str, Any]:
    surfaces = [next(term["value"] for term in step["terms"] if term["term"] == "S") for step in steps]
    total = accumulated(surfaces, has_gap=has_gap, has_quarantined=lost > 0)
    if total.value is None and total.reason is not None:
        words = f"{wording.unknown(total.reason)}; S is known for {total.known_steps} of {len(steps)} steps"
        return _term("AUS", None, words, None)
    parts = " + ".join(wording.number(value) for value in surfaces[: wording.NAMES_SHOWN])
    more = " + …" if len(surfaces) > wording.NAMES_SHOWN else ""
    return _term(
        "AUS", total.value, f"sum of S over {len(steps)} steps: {parts}{more} = {wording.number(total.value or 0)}", "S"
    )


def _term(name: str, value: float | None, words: str, taken_from: str | None) -> dict[str, Any]:
    return {"term": name, "value": shortest_number(value), "words": words, "taken_from": taken_from}
