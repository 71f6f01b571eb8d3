"""ATIF documents and how they belong together: which trajectories a file holds, and which are whose sub-agents.

What belongs here: the shape of a document, and the references between documents. What does not: rows (atif) and
totals (atif_totals).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.formats.places import Place, escaped
from governance_pipeline.ingest.formats.values import entries, members, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.ingest.formats.runs import Run

    Members = Mapping[str, Any]

VERSION_PREFIX: Final = "ATIF-"
_NESTED: Final = 64
"""Levels of embedded trajectories followed; the reader refuses deeper documents."""


def references(document: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the ids the trajectories of a document have, and those of the sub-agents they name."""
    found = [trajectory for _, trajectory in trajectories(document)]
    own = [name for trajectory in found for name in ids(trajectory)]
    named = [name for trajectory in found for _, step in steps(trajectory) for name in named_by(step)]
    return tuple(dict.fromkeys(own)), tuple(name for name in dict.fromkeys(named) if name not in own)


def trajectories(document: Any, pointer: str = "", depth: int = 0) -> list[tuple[str, Members]]:
    """Give every trajectory of a document and where it stands, embedded ones after the one they are in."""
    value = members(document)
    if (text(value.get("schema_version")) or "").startswith(VERSION_PREFIX) and isinstance(value.get("steps"), list):
        found = [(pointer, value)]
        for index, nested in enumerate(entries(value.get("subagent_trajectories"))):
            if depth < _NESTED:
                found += trajectories(nested, f"{pointer}/subagent_trajectories/{index}", depth + 1)
        return found
    if depth or not value:
        return []
    parts = [trajectories(member, escaped(name), 1) for name, member in value.items()]
    return [item for part in parts for item in part] if all(parts) else []


def ids(document: Members) -> Iterator[str]:
    """Give the ids a trajectory has: of its session and, since 1.7, its own."""
    for name in ("session_id", "trajectory_id"):
        if (value := text(document.get(name))) is not None:
            yield value


def steps(document: Members) -> Iterator[tuple[int, Members]]:
    """Give the steps of a trajectory with their positions."""
    for index, step in enumerate(entries(document.get("steps"))):
        yield index, members(step)


def named_by(step: Members) -> Iterator[str]:
    """Give the ids of the sub-agents a step names, each by one of its ids."""
    for result in entries(members(step.get("observation")).get("results")):
        for reference in entries(members(result).get("subagent_trajectory_ref")):
            name = text(members(reference).get("trajectory_id")) or text(members(reference).get("session_id"))
            if name is not None:
                yield name


@dataclass
class Trajectory:
    """One trajectory while it is being read; `children` are its sub-agents, `lost` ids of those not found."""

    run: Run
    place: Place
    document: Members
    children: list[Trajectory] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    parent: Trajectory | None = None

    def adopt(self, child: Trajectory) -> None:
        """Make another one a sub-agent of this one, unless it has a parent or is this one or above it."""
        above: Trajectory | None = self
        while above is not None and above is not child:
            above = above.parent
        if above is None and child.parent is None:
            child.parent, child.run.parent_run_id = self, self.run.run_id
            self.children.append(child)

    def metrics(self) -> Iterator[tuple[Place, Members, Members]]:
        """Give each step that reports what its call used: place of the report, step, report."""
        for index, step in steps(self.document):
            if isinstance(step.get("metrics"), dict) and step.get("is_copied_context") is not True:
                yield self.place.below(f"/steps/{index}/metrics"), step, step["metrics"]

    def family(self) -> list[Trajectory]:
        """Give this trajectory and all below it; each has one parent and no circle is made, so each comes once."""
        found = [self]
        for trajectory in found:
            found += trajectory.children
        return found


class Family:
    """The trajectories of a round, and which is whose sub-agent."""

    def __init__(self) -> None:
        self._all: list[Trajectory] = []
        self._by_id: dict[str, Trajectory] = {}

    def take(self, trajectory: Trajectory) -> None:
        """Take in one trajectory; of several with the same id the first has it."""
        self._all.append(trajectory)
        for name in ids(trajectory.document):
            self._by_id.setdefault(name, trajectory)

    def trajectories(self) -> list[Trajectory]:
        """Give all of them in the order taken, each with the parent and the children it has among them."""
        for trajectory in self._all:
            self._find_children(trajectory)
        for trajectory in self._all:
            self._find_parent(trajectory)
        return self._all

    def _find_children(self, trajectory: Trajectory) -> None:
        for name in dict.fromkeys(name for _, step in steps(trajectory.document) for name in named_by(step)):
            child = self._by_id.get(name)
            if child is None:
                trajectory.lost.append(name)
            else:
                trajectory.adopt(child)

    def _find_parent(self, trajectory: Trajectory) -> None:
        """Ask a trajectory that nobody named for its parent: Terminus 2 writes it to the agent."""
        agent = members(trajectory.document.get("agent"))
        parent = self._by_id.get(text(members(agent.get("extra")).get("parent_session_id")) or "")
        if parent is not None:
            parent.adopt(trajectory)
