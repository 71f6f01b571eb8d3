"""The document of a replay, `govern/confidence-replay/v1`: what a fold leaves behind, for machines.

What belongs here: members and their order. What does not: arithmetic (`fold`, `measures`). Source: spec/confidence.md
§12 (output).
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.measures import (
    ci_half_width,
    current_track,
    escalation,
    global_score,
    intervention_ratio,
    maturity,
    meta_confidence,
    pools,
    team_score,
)
from governance_pipeline.confidence.plain_numbers import plain, points, whole_or_half
from governance_pipeline.confidence.terms import Domain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.confidence.event import Refused
    from governance_pipeline.confidence.fold import Folded
    from governance_pipeline.confidence.reading import Lines
    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.rows import Alert, EventRow, Seal
    from governance_pipeline.confidence.state import State, Track, TrackKey
    from governance_pipeline.confidence.terms import Role

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
        "events": [_event(row) for row in folded.events],
        "days": _days(state),
        "subjects": [_subject(state, registry, *known) for known in sorted(registry.weights)],
        "pools": _pools(state, registry),
        "teams": _teams(state, registry),
        "alerts": [_alert(alert) for alert in folded.alerts],
        "seals": sorted((_seal(seal) for seal in folded.seals), key=_seal_order),
        "refused": _refused(refused),
    }
    if is_summary:
        del document["events"], document["days"]
    return document


def track_document(key: TrackKey, track: Track, registry: Registry) -> dict[str, Any]:
    """Return one track with its measures and domains."""
    return {
        "runtime": key.runtime,
        "global": plain(global_score(track, registry.weights[key[:2]])),
        "evaluations": whole_or_half(track.evaluations),
        "is_warm_up": track.is_warm_up,
        "maturity": maturity(track.evaluations).value,
        "ci_half_width": plain(ci_half_width(track.evaluations)),
        "tasks": track.tasks,
        "corrections": track.corrections,
        "intervention_ratio": _or_null(intervention_ratio(track)),
        "meta_confidence": _or_null(meta_confidence(track)),
        "domains": {
            domain.value: {
                "score": points(state.score),
                "streak": state.streak,
                "evaluations": whole_or_half(state.evaluations),
                "is_in_recovery": state.is_in_recovery,
                "days_above": state.days_above,
            }
            for domain, state in track.domains.items()
        },
    }


def day_text(ordinal: int) -> str:
    """Return a day as ``YYYY-MM-DD``."""
    return date.fromordinal(ordinal).isoformat()


def _event(row: EventRow) -> dict[str, Any]:
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


def _subject(state: State, registry: Registry, role: Role, subject_id: str) -> dict[str, Any]:
    current = current_track(state, role, subject_id)
    subject = state.subjects.get((role, subject_id))
    tracks = [(key, track) for key, track in state.tracks.items() if key[:2] == (role, subject_id)]
    return {
        "role": role.value,
        "subject_id": subject_id,
        "runtime": current[0].runtime if current else None,
        "global": plain(global_score(current[1] if current else None, registry.weights[(role, subject_id)])),
        "patterns": [
            {"pattern_code": code, "incidents": number, "escalation": escalation(number).value}
            for code, number in sorted(subject.incidents.items() if subject else ())
        ],
        "tracks": [
            track_document(key, track, registry) for key, track in sorted(tracks, key=lambda one: one[0].runtime or "")
        ],
    }


def _pools(state: State, registry: Registry) -> list[dict[str, Any]]:
    return [
        {
            "runtime": runtime,
            "score": plain(pool.score),
            "evaluations": whole_or_half(pool.evaluations),
            "maturity": maturity(pool.evaluations).value,
            "ci_half_width": plain(ci_half_width(pool.evaluations)),
            "members": pool.members,
        }
        for runtime, pool in pools(state, registry).items()
    ]


def _teams(state: State, registry: Registry) -> list[dict[str, Any]]:
    rows = []
    for team_id, team in sorted(registry.teams.items()):
        found = team_score(state, registry, team)
        rows.append(
            {
                "team_id": team_id,
                "agent_id": team.agent_id,
                "user_id": team.user_id,
                "agent": plain(found.agent),
                "user": plain(found.user),
                "quadrant": found.quadrant.value,
                "score": plain(found.score),
                "floor": plain(found.floor),
            }
        )
    return rows


def _alert(alert: Alert) -> dict[str, Any]:
    return {
        "kind": alert.kind.value,
        **_track_names(alert.track),
        "domain": alert.domain.value,
        "day": day_text(alert.day),
        "event_id": alert.event_id,
    }


def _seal(seal: Seal) -> dict[str, Any]:
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


def _or_null(value: Any) -> int | float | None:
    return None if value is None else plain(value)
