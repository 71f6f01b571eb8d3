"""The document of a replay, `govern/confidence-replay/v1`: what a fold leaves behind, for machines.

What belongs here: members and their order. What does not: arithmetic (`fold`, `measures`). Source: spec/confidence.md
§12 (output).
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.plain_numbers import points
from governance_pipeline.confidence.score_documents import pool_documents, subject_document, team_documents
from governance_pipeline.confidence.terms import Domain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.confidence.event import Refused
    from governance_pipeline.confidence.fold import Folded
    from governance_pipeline.confidence.reading import Lines
    from governance_pipeline.confidence.rows import Alert, EventRow, Seal
    from governance_pipeline.confidence.state import State, TrackKey

SCHEMA = "govern/confidence-replay/v1"

_DOMAINS = {domain: place for place, domain in enumerate(Domain)}


def replay_document(lines: Lines, folded: Folded, *, is_summary: bool = False) -> dict[str, Any]:
    """Return the replay of a file; a summary leaves out `events` and `days`."""
    state, registry = folded.state, lines.registry
    refused = [*lines.refused, *folded.refused]
    document = {
        "schema": SCHEMA,
        "counts": {
            "lines": lines.lines,
            "registry": lines.registry_lines,
            "accepted": folded.accepted,
            "refused": len(refused),
        },
        "events": [event_document(row) for row in folded.events],
        "days": _days(state),
        "subjects": [subject_document(state, registry, *known) for known in sorted(registry.weights)],
        "pools": pool_documents(state, registry),
        "teams": team_documents(state, registry),
        "alerts": [alert_document(alert) for alert in folded.alerts],
        "seals": sorted((seal_document(seal) for seal in folded.seals), key=_seal_order),
        "refused": _refused(refused),
    }
    if is_summary:
        del document["events"], document["days"]
    return document


def day_text(ordinal: int) -> str:
    """Return a day as ``YYYY-MM-DD``."""
    return date.fromordinal(ordinal).isoformat()


def event_document(row: EventRow) -> dict[str, Any]:
    """Return one row of the fold: what an event did to one domain."""
    return {
        "event_id": row.event.event_id,
        "domain": row.domain and row.domain.value,
        "raw": points(row.raw),
        "applied": points(row.applied),
        "reasons": [reason.value for reason in row.reasons],
        "score": None if row.score is None else points(row.score),
        "streak": row.streak,
    }


def _days(state: State) -> list[dict[str, Any]]:
    rows = [
        {
            **_track_names(key),
            "day": day_text(day),
            "domain": domain.value,
            "net": points(found.net),
            "penalties": points(found.penalties),
            "score": points(found.score),
        }
        for key, track in state.tracks.items()
        for domain, of_domain in track.domains.items()
        for day, found in of_domain.days.items()
    ]
    return sorted(rows, key=lambda row: (*_track_order(row), row["day"], _DOMAINS[Domain(row["domain"])]))


def alert_document(alert: Alert) -> dict[str, Any]:
    """Return one alert."""
    return {
        "kind": alert.kind.value,
        **_track_names(alert.track),
        "domain": alert.domain.value,
        "day": day_text(alert.day),
        "event_id": alert.event_id,
    }


def seal_document(seal: Seal) -> dict[str, Any]:
    """Return one sealed day with its digest."""
    event = seal.event
    return {
        "role": event.role.value,
        "subject_id": event.subject_id,
        "day": day_text(event.day),
        "event_id": event.event_id,
        "events": seal.events,
        "digest": seal.digest,
    }


def _seal_order(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["role"], row["subject_id"], row["day"]


def _refused(refused: Iterable[Refused]) -> list[dict[str, Any]]:
    rows = [
        {"event_id": one.event_id, "reason": str(one.reason), "field": one.field, "line_sha256": one.line_sha256}
        for one in refused
    ]
    return sorted(rows, key=lambda row: [(value is not None, value or "") for value in row.values()])


def _track_names(key: TrackKey) -> dict[str, Any]:
    return {"role": key.role.value, "subject_id": key.subject_id, "runtime": key.runtime}


def _track_order(row: dict[str, Any]) -> tuple[str, str, bool, str]:
    return row["role"], row["subject_id"], row["runtime"] is not None, row["runtime"] or ""
