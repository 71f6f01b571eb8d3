"""Who comes from whom: the runs of one round, their sessions, and what both of two runs descend from.

What belongs here: the graph of runs and its ancestry. What does not: rules of independence (`independence`). A run
belongs to its session, and a session descends from whatever started any of its runs, so an agent cannot cut its line
by opening another run in the session it was given. A parent the round does not hold makes a line incomplete.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.trust.principals import skeleton

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ARROW = " \u2190 "
"""Between a run and what it comes from, in the text of a path."""


class Run(NamedTuple):
    """One run of a round: whatever the log says of it; `agents` are those that made its steps, and its own.

    `is_listed` is False for a run that only steps name: its parent and session are not known then.
    """

    run_id: str
    parent_run_id: str | None = None
    session_id: str | None = None
    agents: frozenset[str] = frozenset()
    platform: str | None = None
    model_id: str | None = None
    opaque_steps: int = 0
    is_listed: bool = True


class Node(NamedTuple):
    """A run or a session, by the skeleton of its id."""

    kind: str
    name: str


class Ancestry(NamedTuple):
    """What a run comes from, itself included: node -> the node it was reached from; whether nothing is missing."""

    reached: Mapping[Node, Node | None]
    is_complete: bool

    def path(self, node: Node) -> list[Node]:
        """Give the way from the run to a node of its ancestry."""
        way = [node]
        while (before := self.reached[way[-1]]) is not None:
            way.append(before)
        return way[::-1]


class Common(NamedTuple):
    """The nearest thing two runs both come from: its name, and the way to it from both sides as text."""

    name: str
    path: str


class Lineage:
    """The runs of one round and their ancestry."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = {skeleton(run.run_id): run for run in runs}
        self._of_session: dict[str, list[Run]] = {}
        for run in self._runs.values():
            if run.session_id is not None:
                self._of_session.setdefault(skeleton(run.session_id), []).append(run)

    def runs(self) -> list[Run]:
        """Give all runs, by id."""
        return sorted(self._runs.values(), key=lambda run: run.run_id)

    def run(self, run_id: str) -> Run | None:
        """Give a run by its id; None when the round does not hold it."""
        return self._runs.get(skeleton(run_id))

    def ancestry(self, run: Run) -> Ancestry:
        """Give everything a run comes from, through parents, sessions and the parents of their other runs."""
        start = Node("run", skeleton(run.run_id))
        reached: dict[Node, Node | None] = {start: None}
        is_complete = run.is_listed
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for origin in self._origins(node):
                if origin is None:
                    is_complete = False
                elif origin not in reached:
                    reached[origin] = node
                    waiting.append(origin)
        return Ancestry(reached, is_complete)

    def common(self, one: Ancestry, other: Ancestry) -> Common | None:
        """Give what two lines share, nearest to the first; None when they share nothing that is known."""
        for node in one.reached:  # in the order of the search: nearest first
            if node in other.reached:
                left, right = one.path(node), other.path(node)
                text = ARROW.join(map(self._shown, left))
                if len(right) > 1:
                    text += "; " + ARROW.join(map(self._shown, right))
                return Common(self._shown(node), text)
        return None

    def agents(self, ancestry: Ancestry) -> frozenset[str]:
        """Give the agents of all runs of a line."""
        runs = (self._runs[node.name] for node in ancestry.reached if node.kind == "run" and node.name in self._runs)
        return frozenset(agent for run in runs for agent in run.agents)

    def _origins(self, node: Node) -> Iterator[Node | None]:
        """Give what a node comes from directly; None stands for an origin the round does not hold."""
        if node.kind == "session":
            for run in self._of_session[node.name]:
                yield from self._parent(run)
            return
        run = self._runs[node.name]
        if run.session_id is not None:
            yield Node("session", skeleton(run.session_id))
        yield from self._parent(run)

    def _parent(self, run: Run) -> Iterator[Node | None]:
        if not run.is_listed:
            yield None
        if run.parent_run_id is None:
            return
        name = skeleton(run.parent_run_id)
        if name in self._runs:
            yield Node("run", name)
        elif name in self._of_session:  # some logs name the session of the parent
            yield Node("session", name)
        else:
            yield None

    def _shown(self, node: Node) -> str:
        if node.kind == "run":
            return self._runs[node.name].run_id
        (first, *_) = self._of_session[node.name]
        return f"session {first.session_id}"


def lineage_of(runs: Iterable[Mapping[str, Any]], steps: Iterable[Mapping[str, Any]]) -> Lineage:
    """Make the lineage of one round from its rows of core_runs and core_steps (nulls as None)."""
    agents: dict[str, set[str]] = {}
    for step in steps:
        made = agents.setdefault(step["run_id"], set())
        if step["agent_id"] is not None:
            made.add(step["agent_id"])
    listed = {row["run_id"]: _listed(row, agents.pop(row["run_id"], set())) for row in runs}
    unlisted = [Run(run_id, agents=frozenset(made), is_listed=False) for run_id, made in agents.items()]
    return Lineage([*listed.values(), *unlisted])


def _listed(row: Mapping[str, Any], agents: set[str]) -> Run:
    own = {row["agent_id"]} if row["agent_id"] is not None else set()
    return Run(
        run_id=row["run_id"],
        parent_run_id=row["parent_run_id"],
        session_id=row["session_id"],
        agents=frozenset(agents | own),
        platform=row["platform"],
        model_id=row["model_id"],
        opaque_steps=row["opaque_step_count"],
    )
