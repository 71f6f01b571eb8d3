"""Recording derived facts: what the pipeline has verified becomes part of what people recorded.

What belongs here: recording, and naming what was not. What does not: finding facts (`facts`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence.recording import EventRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from governance_pipeline.confidence.store import EventStore


class NotRecorded(NamedTuple):
    """A fact that was not recorded: its event, its round, and why."""

    event_id: str
    round_id: str
    reason: str


class Derived(NamedTuple):
    """What became of facts: recorded now, recorded before, and the others."""

    recorded: int
    known: int
    left_out: list[NotRecorded]


def record_facts(store: EventStore, facts: Iterable[Mapping[str, Any]], *, registers: bool) -> Derived:
    """Record facts in the order of the fold, each if the rules accept it.

    Args:
        store: where to.
        facts: rows of `confidence_events` that are derived.
        registers: register their agents and runtimes first.

    Raises:
        StorageError: the store cannot be used.
    """
    recorded = known = 0
    left_out = []
    for row in sorted(facts, key=lambda row: (row["at"], row["event_id"])):
        if registers:
            store.register({"pools": [row["runtime"]], **_subject(store, row)})
        try:
            is_new = store.append(json.loads(row["event"])).is_new
        except EventRefused as refusal:
            left_out.append(NotRecorded(row["event_id"], row["round_id"], str(refusal.refused.reason)))
        else:
            recorded, known = recorded + is_new, known + (not is_new)
    return Derived(recorded, known, left_out)


def _subject(store: EventStore, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of an agent that is not registered; one that is keeps its weights."""
    names = {name for role, name in store.standing().registry.weights if role == "agent"}
    return {} if row["subject_id"] in names else {"subjects": [{"role": "agent", "subject_id": row["subject_id"]}]}
