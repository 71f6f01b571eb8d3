"""Scores as plain values: subjects with their tracks, pools and teams, the same in every confidence document.

What belongs here: members and their order. What does not: arithmetic (`measures`). Source: spec/confidence.md §12.
"""

from __future__ import annotations

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

if TYPE_CHECKING:
    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.state import State, Track, TrackKey
    from governance_pipeline.confidence.terms import Role


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


def subject_document(state: State, registry: Registry, role: Role, subject_id: str) -> dict[str, Any]:
    """Return one subject: current runtime and global, anti-patterns met, and its tracks."""
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


def pool_documents(state: State, registry: Registry) -> list[dict[str, Any]]:
    """Return all registered pools, by runtime."""
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


def team_documents(state: State, registry: Registry) -> list[dict[str, Any]]:
    """Return all registered teams, by id; the floor and the quadrant stand beside every score."""
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


def _or_null(value: Any) -> int | float | None:
    return None if value is None else plain(value)
