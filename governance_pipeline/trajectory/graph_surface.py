"""Table `features_graph_surface`: the full vector of every step, with the graph it was measured in.

What belongs here: putting a row together. What does not: any formula. F, L, M, P and H are those of version 1, read by
the same reading; Y, D and C need the repository of the round. Every step has its row, whatever is unknown.
Source: spec/trajectory.md §2.
"""

from __future__ import annotations

import json
import math
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.trajectory.event_rows import CHANGES_FILE
from governance_pipeline.trajectory.events import quarantined_lines
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.graph_area import SurfaceAt, areas
from governance_pipeline.trajectory.graph_cache import provider_digest
from governance_pipeline.trajectory.graph_coverage import known_share, read_share
from governance_pipeline.trajectory.graph_reasons import GraphReason
from governance_pipeline.trajectory.graph_steps import FEATURE_VERSION, ChangedNode, GraphChange
from governance_pipeline.trajectory.reading import READING_TABLES, read_surface
from governance_pipeline.trajectory.reasons import Reason
from governance_pipeline.trajectory.repositories import Repositories
from governance_pipeline.trajectory.round_graph import RoundGraphs
from governance_pipeline.trajectory.step_commits import SYMBOL_TABLES, UNKNOWN_SYMBOLS, StepCommits
from governance_pipeline.trajectory.symbols import COUNTED_KINDS, changed_symbols
from governance_pipeline.trajectory.typed_graph import EdgeType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.events import Step
    from governance_pipeline.trajectory.graph_steps import StepFeatures
    from governance_pipeline.trajectory.reading import Surface
    from governance_pipeline.trajectory.round_graph import RoundGraph
    from governance_pipeline.trajectory.step_commits import StepSymbols
    from governance_pipeline.trajectory.terms import Term

TABLE: Final = "features_graph_surface"

GRAPH_TABLES: Final = tuple(dict.fromkeys((*READING_TABLES, *SYMBOL_TABLES, "raw_quarantine")))
"""Tables `graph_surface` reads."""

TERMS: Final = ("F", "L", "Y", "M", "P", "D", "H", "C")
"""The terms of S of version 2, in the order of its vector."""


class _Vector(NamedTuple):
    """The terms of one step and why some are unknown."""

    values: dict[str, float | None]
    unknown: dict[str, str]

    @property
    def surface(self) -> float | None:
        """S: the sum of the eight terms, rounded once; None when one is unknown."""
        known = [float(value) for value in self.values.values() if value is not None]
        return math.fsum(known) if len(known) == len(TERMS) else None


def graph_surface(tables: Tables, repositories: Repositories | None = None) -> pd.DataFrame:
    """Return one row per step of every round, ordered by round and step; columns as contract `features_graph_surface`.

    Args:
        tables: the frames named by `GRAPH_TABLES`, of the same rounds, of any number of them.
        repositories: opens the repositories the contracts name; None: those with an absolute path only.

    Raises:
        UsageError: an event belongs to a round that `core_rounds` does not have.
        StorageError: a graph cannot be kept.
    """
    surface = read_surface(tables)
    graphs = RoundGraphs(repositories or Repositories())
    commits = StepCommits(tables)
    rounds = {row["round_id"]: row for row in rows_of(tables["core_rounds"])}
    lost = quarantined_lines(tables["raw_quarantine"], CHANGES_FILE)

    def rows() -> Iterator[dict[str, Any]]:
        for round_id, steps in groupby(surface.events.steps, key=lambda step: step.round_id):
            graph = graphs.of(rounds[round_id])
            made = [_step(surface, commits, graph, step) for step in steps]
            yield from _with_areas(made, has_quarantined=lost.get(round_id, 0) > 0)

    return frame_of(TABLE, rows())


def _step(surface: Surface, commits: StepCommits, graph: RoundGraph, step: Step) -> dict[str, Any]:
    first = surface.first(step)
    event = None if step.event is None else surface.events.events[step.event]
    symbols = UNKNOWN_SYMBOLS if event is None else commits.symbols(event, graph.repository)
    change = _change(surface, step, symbols)
    features = None if graph.features is None or change is None else graph.features.step(change)
    vector = _vector(surface.terms(step), _graph_terms(graph, step, symbols, features))
    files = vector.values["F"]
    return {
        "round_id": step.round_id,
        "step_index": step.number,
        "origin": first.origin.value,
        "run_id": None if event is None else event.run_id,
        "at": None if event is None else event.at,
        "commit_id": None if event is None else commits.commit(event),
        **_columns(vector),
        **_symbol_columns(symbols, vector.values["Y"]),
        **_node_columns(features),
        "has_changes": None if files is None else files > 0,
        **_graph_columns(graph),
        "unknown": json.dumps(vector.unknown),
        "path": first.path,
        "file_sha256": first.file_sha256,
        "line": first.line,
        "feature_version": FEATURE_VERSION,
    }


def _change(surface: Surface, step: Step, symbols: StepSymbols) -> GraphChange | None:
    """What the step changed; None when its event lists no files and may have changed some."""
    if step.event is None:
        return None
    event = surface.events.events[step.event]
    if not event.has_files and event.declared.F != 0:
        return None
    files = surface.files.of_event(step.event)
    return GraphChange(step.number, tuple(ChangedNode(file.path, file.churn) for file in files), symbols.symbols)


def _graph_terms(
    graph: RoundGraph, step: Step, symbols: StepSymbols, features: StepFeatures | None
) -> dict[str, tuple[float | None, str | None]]:
    """Y, D and C, each with the reason when unknown: the step's own first, then the repository's."""
    count = changed_symbols(symbols.symbols)
    reason: str | None = None
    if step.event is None:
        reason = Reason.STEP_REPEATED
    elif graph.reason is not None:
        reason = graph.reason
    elif features is None:
        reason = Reason.FILES_NOT_LISTED
    if features is None or reason is not None:
        why = reason if graph.reason is not None or step.event is None else GraphReason.SYMBOLS_UNKNOWN
        return {"Y": (count, None if count is not None else why), "D": (None, reason), "C": (None, reason)}
    return {
        "Y": (features.symbols, features.unknown.get("Y")),
        "D": (features.distance, features.unknown.get("D")),
        "C": (features.centrality, features.unknown.get("C")),
    }


def _vector(terms: Mapping[str, Term], found: Mapping[str, tuple[float | None, str | None]]) -> _Vector:
    both = {name: (term.value, term.reason) for name, term in terms.items() if name != "D"} | dict(found)
    return _Vector(
        {name: both[name][0] for name in TERMS},
        {name: str(both[name][1]) for name in TERMS if both[name][0] is None and both[name][1] is not None},
    )


def _columns(vector: _Vector) -> dict[str, Any]:
    values = vector.values
    reals = {name: None if values[name] is None else float(values[name] or 0.0) for name in ("D", "H", "C")}
    return {
        "files_count": values["F"],
        "churn_count": values["L"],
        "symbols_count": values["Y"],
        "modules_count": values["M"],
        "public_count": values["P"],
        "objective_hops": reals["D"],
        "entropy_nats": reals["H"],
        "centrality_share": reals["C"],
        "surface_sum": vector.surface,
    }


def _symbol_columns(symbols: StepSymbols, count: float | None) -> dict[str, Any]:
    if symbols.symbols is None or count is None:
        return {"symbols_source": None, "changed_symbols": None}
    counted = sorted({one.id for one in symbols.symbols if one.kind in COUNTED_KINDS and one.is_changed})
    return {"symbols_source": symbols.source, "changed_symbols": json.dumps(counted, ensure_ascii=False)}


def _node_columns(features: StepFeatures | None) -> dict[str, Any]:
    if features is None:
        return {}
    return {
        "unreachable_weight_share": features.unreachable_weight_share,
        "changed_nodes": json.dumps([node._asdict() for node in features.nodes], ensure_ascii=False),
        "nodes_not_in_graph_count": len(features.not_in_graph),
    }


def _graph_columns(graph: RoundGraph) -> dict[str, Any]:
    if graph.made is None or graph.objective is None or graph.features is None:
        return {}
    made, objective = graph.made, graph.objective
    return {
        "objective_source": "contract" if objective.is_declared else None,
        "objective_nodes_count": objective.matched if objective.is_declared else None,
        "objective_unmatched_count": objective.unmatched if objective.is_declared else None,
        "is_directed": graph.features.is_directed,
        "base_commit_id": graph.commit,
        "tree_id": made.tree,
        "provider_sha256": provider_digest(),
        "graph_nodes_count": len(made.graph),
        "graph_edges_count": len(made.graph.source),
        "read_files_share": read_share(made.coverage),
        "known_imports_share": known_share(made.coverage, EdgeType.IMPORT),
        "known_calls_share": known_share(made.coverage, EdgeType.CALL),
        "known_bases_share": known_share(made.coverage, EdgeType.INHERITANCE),
        "coverage": json.dumps(made.coverage, sort_keys=True),
    }


def _with_areas(rows: list[dict[str, Any]], *, has_quarantined: bool) -> Iterator[dict[str, Any]]:
    at = [SurfaceAt(row["step_index"], row["surface_sum"], row["has_changes"], row["at"]) for row in rows]
    for row, area in zip(rows, areas(at, has_quarantined=has_quarantined), strict=True):
        yield {
            **row,
            "aus_to_step": area.aus,
            "aus_discrete_to_step": area.discrete,
            "surface_seconds_to_step": area.seconds,
            "aus_reason": None if area.reason is None else area.reason.value,
        }
