"""The weekly report of scores: only what was accumulated since the registration.

What belongs here: making its body and refusing anything older. What does not: when it is sent (`syncing`). The report
is a fold of its own over the events since the registration, starting from 50 as the hub does; the scores shown here are
never its source, because they hold what came before. Source: spec/confidence.md §9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.amounts import START
from governance_pipeline.confidence.event_fields import instant
from governance_pipeline.confidence.fold import fold
from governance_pipeline.confidence.hub.outgoing import intent_body
from governance_pipeline.confidence.hub.states import HubRefused
from governance_pipeline.confidence.measures import maturity
from governance_pipeline.confidence.plain_numbers import points, whole_or_half
from governance_pipeline.confidence.terms import Domain, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.confidence.event import Line
    from governance_pipeline.confidence.registry import Registry
    from governance_pipeline.confidence.state import Track


class HistoryRefused(HubRefused):
    """A report that would carry something older than the registration."""


def state_report(lines: Sequence[Line], registry: Registry, runtime: str, registered_at: str) -> dict[str, Any]:
    """Give the body of `POST /api/import/state`: by domain score, streak and evaluations; global score and maturity.

    Args:
        lines: events recorded since the registration, of all subjects.
        registry: who and what is known.
        runtime: the registered one; its agents are meant, weighted by their evaluations.
        registered_at: instant of the registration.

    Raises:
        HistoryRefused: an event is older than the registration.
    """
    since = instant(registered_at)
    older = sum(line.event.ts < since for line in lines)
    if older:
        raise HistoryRefused(
            f"the state report holds {older} events from before the registration at {registered_at} and is not sent; "
            "the hub starts from zero, and importing history can get the account banned"
        )
    folded = fold(sorted(lines, key=lambda line: line.event.order), registry)
    tracks = [track for key, track in folded.state.tracks.items() if key.role is Role.AGENT and key.runtime == runtime]
    domains = {domain.value: _domain(tracks, domain) for domain in Domain}
    evaluations = sum(track.evaluations for track in tracks)
    return {
        **intent_body(runtime),
        "domains": domains,
        "globalScore": round(sum(one["score"] for one in domains.values()) / len(domains), 2),
        "maturity": {"totalEvaluations": whole_or_half(evaluations), "tier": maturity(evaluations).value},
    }


def _domain(tracks: Sequence[Track], domain: Domain) -> dict[str, Any]:
    weight = sum(track.evaluations for track in tracks)
    total = sum(track.domains[domain].score * track.evaluations for track in tracks)
    return {
        "score": round(float(points(total)) / weight, 2) if weight else float(points(START)),
        "streak": max((track.domains[domain].streak for track in tracks), default=0),
        "evaluations": whole_or_half(sum(track.domains[domain].evaluations for track in tracks)),
    }
