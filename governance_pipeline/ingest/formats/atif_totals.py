"""Totals of ATIF trajectories: what `final_metrics` declares, and the reports of the steps they are made of.

What belongs here: declared numbers and their parts. What does not: finding steps and sub-agents (atif_trajectories).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import value_kind
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.atif_trajectories import steps
from governance_pipeline.ingest.formats.places import escaped
from governance_pipeline.ingest.formats.values import members, text, unpriced
from governance_pipeline.vocabulary import DataType, ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.atif_trajectories import Trajectory

    Members = Mapping[str, Any]

METRICS: Final = (
    (Field("total_prompt_tokens", DataType.INTEGER, "tokens"), "prompt_tokens"),
    (Field("total_completion_tokens", DataType.INTEGER, "tokens"), "completion_tokens"),
    (Field("total_cached_tokens", DataType.INTEGER, "tokens"), "cached_tokens"),
    (Field("total_cost_usd", DataType.CURRENCY, "USD"), "cost_usd"),
)
STEPS: Final = Field("total_steps", DataType.INTEGER, "steps")
EXTRA: Final = Field("extra", DataType.FLOAT, "as the agent defines it")
"""A number of `final_metrics.extra`; its own name is in its pointer."""

WITH_SUBAGENTS: Final = "_with_subagents"
"""Ending of the second declaration of a total: over the steps of the trajectory and of all its sub-agents."""

ADDS_SUBAGENTS: Final = frozenset({"terminus-2"})
"""Agents whose totals hold those of their sub-agents (harbor `agents/terminus_2/terminus_2.py`)."""

RECOMPUTABLE: Final[tuple[str, ...]] = (
    *(kind.name for kind, _ in METRICS),
    STEPS.name,
    *(kind.name + WITH_SUBAGENTS for kind, _ in METRICS),
)
DECLARES: Final[tuple[str, ...]] = (*RECOMPUTABLE, EXTRA.name)
COST: Final = "cost_usd"


def declare(out: Extraction, trajectory: Trajectory) -> None:
    """Add the totals of a trajectory with their parts."""
    declared = members(trajectory.document.get("final_metrics"))
    subject = Subject(out, trajectory.run.format, trajectory.run.run_id, [trajectory.place.file.path])
    place = trajectory.place.below("/final_metrics")
    for kind in (*(kind for kind, _ in METRICS), STEPS):
        if declared.get(kind.name) is not None:
            subject.declare(place.below(escaped(kind.name)), kind, declared[kind.name])
    for name, value in members(declared.get("extra")).items():
        if value_kind(value) is ValueKind.NUMBER:
            subject.declare(place.below("/extra" + escaped(name)), EXTRA, value)
    if declared:
        for number, (index, step) in enumerate(steps(trajectory.document), 1):
            where = trajectory.place.below(f"/steps/{index}/step_id")
            subject.component("steps", number, {"step_id": (where, step.get("step_id"))})
        _add_parts(subject, "metrics", [trajectory])
        if _adds_subagents(trajectory):
            _declare_with_subagents(out, trajectory, declared)


def _adds_subagents(trajectory: Trajectory) -> bool:
    """Tell whether the totals are those of a family: only the root says so, and no step is then added twice."""
    agent = text(members(trajectory.document.get("agent")).get("name"))
    is_root = trajectory.parent is None and bool(trajectory.children or trajectory.lost)
    return is_root and agent in ADDS_SUBAGENTS


def _declare_with_subagents(out: Extraction, trajectory: Trajectory, declared: Members) -> None:
    """Declare the totals a second time, of the whole family."""
    family = trajectory.family()
    subject = Subject(out, trajectory.run.format, trajectory.run.run_id, {member.place.file.path for member in family})
    for kind, _ in METRICS:
        if declared.get(kind.name) is not None:
            place = trajectory.place.below("/final_metrics" + escaped(kind.name))
            subject.declare(place, Field(kind.name + WITH_SUBAGENTS, kind.data_type, kind.unit), declared[kind.name])
    _add_parts(subject, "metrics" + WITH_SUBAGENTS, family)


def _add_parts(subject: Subject, source: str, family: Sequence[Trajectory]) -> None:
    """Add one row per report, and one of unknowns per sub-agent whose file is not in the round."""
    number = 0
    for trajectory in family:
        for place, _, metrics in trajectory.metrics():
            number += 1
            values = {name: metrics.get(name) for _, name in METRICS} | {COST: unpriced(metrics.get(COST))}
            row = {name: (place.below(f"/{name}"), value) for name, value in values.items()}
            subject.component(source, number, row)
    if source.endswith(WITH_SUBAGENTS):
        for trajectory in family:
            for _ in trajectory.lost:
                number += 1
                place = trajectory.place.below("/steps")
                subject.component(source, number, {name: (place, None) for _, name in METRICS})
