"""What is read off the state: global scores, maturity, interval, ratio, escalation, pools and teams.

What belongs here: pure functions of a state; exact fractions, rounded by nobody here. What does not: how they are
shown. Source: spec/confidence.md §2 (global), §4, §5, §11.9 and §11.10.
"""

from __future__ import annotations

from bisect import bisect_right
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence.amounts import (
    CI_HALF_WIDTH_OF_ONE,
    EVALUATION,
    GOOD_FROM,
    MATURITY_FROM,
    POINT,
    START,
)
from governance_pipeline.confidence.state import Track, TrackKey
from governance_pipeline.confidence.terms import Domain, Escalation, Maturity, Quadrant, Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.confidence.registry import Registry, Team
    from governance_pipeline.confidence.state import State

# More digits than any rounding to four places could need, so that the root is rounded once.
_ROOT = Context(prec=60)


class Pool(NamedTuple):
    """All agents of one runtime: mean global in points, evaluations in halves of all tracks, members there now."""

    score: Fraction
    evaluations: int
    members: list[str]


class TeamScore(NamedTuple):
    """Both sides of a team, the quadrant, the weighted score and the lower side; in points."""

    agent: Fraction
    user: Fraction
    quadrant: Quadrant
    score: Fraction
    floor: Fraction


def global_score(track: Track | None, weights: Mapping[Domain, int]) -> Fraction:
    """Return the weighted mean of the five domains in points; 50 without a track."""
    if track is None:
        return Fraction(START, POINT)
    weighted = sum(track.domains[domain].score * weight for domain, weight in weights.items())
    return Fraction(weighted, sum(weights.values()) * POINT)


def maturity(evaluations: int) -> Maturity:
    """Return the level by whole evaluations, given in halves: 100.5 is still NEW."""
    return tuple(Maturity)[bisect_right(MATURITY_FROM, evaluations // EVALUATION)]


def ci_half_width(evaluations: int) -> Decimal:
    """Return 25/√n in points, n evaluations given in halves and at least one."""
    number = max(Decimal(evaluations) / EVALUATION, Decimal(1))
    return _ROOT.divide(Decimal(CI_HALF_WIDTH_OF_ONE), _ROOT.sqrt(number))


def intervention_ratio(track: Track) -> Fraction | None:
    """Return corrections per task; None without tasks."""
    return Fraction(track.corrections, track.tasks) if track.tasks else None


def meta_confidence(track: Track) -> Fraction | None:
    """Return the mean distance of own and user's judgement in points; None without pairs. 0 is good."""
    return Fraction(track.pairs_apart, 100 * track.pairs) if track.pairs else None


def escalation(incidents: int) -> Escalation:
    """Return what the nth incident of one anti-pattern asks for; the fourth level stays."""
    levels = tuple(Escalation)
    return levels[min(incidents, len(levels)) - 1]


def current_track(state: State, role: Role, subject_id: str) -> tuple[TrackKey, Track] | None:
    """Return the track of a subject's last accepted event; None before the first."""
    subject = state.subjects.get((role, subject_id))
    if subject is None or not subject.has_events:
        return None
    key = TrackKey(role, subject_id, subject.runtime)
    return key, state.tracks[key]


def current_global(state: State, registry: Registry, role: Role, subject_id: str) -> Fraction:
    """Return the global score of a subject's current track; 50 without events."""
    current = current_track(state, role, subject_id)
    return global_score(current[1] if current else None, registry.weights[(role, subject_id)])


def pools(state: State, registry: Registry) -> dict[str, Pool]:
    """Return every registered pool, by runtime in code point order."""
    evaluations: dict[str, int] = dict.fromkeys(sorted(registry.pools), 0)
    for key, track in state.tracks.items():
        if key.runtime is not None:
            evaluations[key.runtime] += track.evaluations
    members: dict[str, list[tuple[str, Track]]] = {runtime: [] for runtime in evaluations}
    for role, subject_id in sorted(state.subjects):
        current = current_track(state, role, subject_id) if role is Role.AGENT else None
        if current and current[0].runtime is not None:
            members[current[0].runtime].append((subject_id, current[1]))
    return {runtime: _pool(registry, members[runtime], number) for runtime, number in evaluations.items()}


def _pool(registry: Registry, members: list[tuple[str, Track]], evaluations: int) -> Pool:
    weight = sum(track.evaluations for _, track in members)
    total: Any = sum(
        global_score(track, registry.weights[(Role.AGENT, agent)]) * track.evaluations for agent, track in members
    )
    score = Fraction(total) / weight if weight else Fraction(START, POINT)
    return Pool(score, evaluations, [agent for agent, _ in members])


def team_score(state: State, registry: Registry, team: Team) -> TeamScore:
    """Return the score of one agent and one user; the better side carries it when only one is good."""
    agent = current_global(state, registry, Role.AGENT, team.agent_id)
    user = current_global(state, registry, Role.USER, team.user_id)
    good = Fraction(GOOD_FROM, POINT)
    mean = (agent + user) / 2
    if agent >= good and user >= good:
        quadrant, score = Quadrant.GOOD, mean
    elif agent >= good:
        quadrant, score = Quadrant.COMPENSATED, agent
    elif user >= good:
        quadrant, score = Quadrant.PROBLEM, user
    else:
        quadrant, score = Quadrant.BREAKDOWN, mean
    return TeamScore(agent, user, quadrant, score, min(agent, user))
