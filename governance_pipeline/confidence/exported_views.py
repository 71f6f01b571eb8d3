"""The files agents read: views of what is recorded, exported whole and never read back.

What belongs here: names and content of the files. What does not: writing them, and any rule. The log carries what an
event means for a score; `note` and `context` stay where they were recorded. Source: spec/confidence.md §8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.confidence.status import status_document
from governance_pipeline.confidence.terms import EventType, Role
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.state import State

AGENT_SCHEMA: Final = "govern/confidence-agent/v1"
POOLS_SCHEMA: Final = "govern/confidence-pools/v1"
USERS_SCHEMA: Final = "govern/confidence-users/v1"
LOCAL_MEMBERS: Final = ("note", "context")


class View(NamedTuple):
    """One file: its path below the folder of the export, and its bytes."""

    path: str
    data: bytes


def exported_views(
    state: State,
    registry: Registry,
    lines: Iterable[bytes],
    today: int,
    hub_sync: Mapping[str, Any],
    params: Mapping[str, Mapping[str, int]],
) -> list[View]:
    """Return the files of an export; the same events and day give the same bytes.

    Args:
        state: scores as they stand.
        registry: what is registered.
        lines: registry and event lines as they were recorded.
        today: the day they are seen on, as an ordinal.
        hub_sync: where the hub stands, without the key.
        params: agent -> its parameters, as far as it was assessed.
    """
    status = status_document(state, registry, today)
    users = {"schema": USERS_SCHEMA, "as_of": status["as_of"], "subjects": _of(status, Role.USER)}
    pools = {"schema": POOLS_SCHEMA, "as_of": status["as_of"], "pools": status["pools"]}
    events = [event for event in map(parse_json, lines) if "event_id" in event]
    gains = [event for event in events if event["event_type"] == EventType.PRO_PATTERN]
    return [
        View("confidence.json", _document(status)),
        View("confidence-log.jsonl", _log(events)),
        View("confidence-propatterns.jsonl", _log(gains)),
        View("pool-index.json", _document(pools)),
        View("user-score.json", _document(users)),
        *(_agent(one, status["as_of"], hub_sync, params) for one in _of(status, Role.AGENT)),
    ]


def _agent(
    subject: Mapping[str, Any], as_of: str, hub_sync: Mapping[str, Any], params: Mapping[str, Mapping[str, int]]
) -> View:
    name = subject["subject_id"]
    document = {
        "schema": AGENT_SCHEMA,
        "as_of": as_of,
        "subject": subject,
        "antiPatterns": subject["patterns"],
        "params": params.get(name),
        "hubSync": dict(hub_sync),
    }
    # A colon is legal in an id and not in every file name; "%3A" cannot stand in an id, so no two ids meet.
    return View(f"agents/{name.replace(':', '%3A')}/confidence.json", _document(document))


def _of(status: Mapping[str, Any], role: Role) -> list[dict[str, Any]]:
    return [subject for subject in status["subjects"] if subject["role"] == role]


def _document(value: Mapping[str, Any]) -> bytes:
    return canonical_json(dict(value)) + b"\n"


def _log(events: Iterable[Mapping[str, Any]]) -> bytes:
    kept = ({name: part for name, part in event.items() if name not in LOCAL_MEMBERS} for event in events)
    return b"".join(canonical_json(event) + b"\n" for event in kept)
