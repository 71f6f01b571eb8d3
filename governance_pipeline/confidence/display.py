"""The two displays: one line per event, and the table of both sides with the team line.

What belongs here: lines of text in a language, with or without icons. What does not: scores (`measures`) and printing.
Source: spec/confidence.md §8. Every name from outside is escaped here: a line may be printed as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.confidence.amounts import ERROR_DELTA
from governance_pipeline.confidence.deltas import error_delta
from governance_pipeline.confidence.icons import (
    DOMAIN_ICON,
    DOMAIN_SHORT,
    ESCALATION_ICON,
    EVENT_ICON,
    SEVERITY_ICON,
)
from governance_pipeline.confidence.measures import current_track, escalation, global_score, team_score
from governance_pipeline.confidence.plain_numbers import plain, points
from governance_pipeline.confidence.terms import Domain, EventType, Quadrant, Role
from governance_pipeline.confidence.wording import words
from governance_pipeline.strict.excerpt import escape_unprintable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.confidence.hub.shown import HubShown
    from governance_pipeline.confidence.registry import Registry, Team
    from governance_pipeline.confidence.rows import Alert, EventRow
    from governance_pipeline.confidence.state import State

WEIGHTS = {
    Quadrant.GOOD: "50/50",
    Quadrant.COMPENSATED: "100/0",
    Quadrant.PROBLEM: "0/100",
    Quadrant.BREAKDOWN: "50/50",
}
"""What agent and user weigh in the score of a team, by quadrant (spec/confidence.md §5)."""
_WIDTH = 8


class Style(NamedTuple):
    """How to say it: language (`wording.LANGUAGES`) and whether icons are shown."""

    language: str = "en"
    has_icons: bool = True


def event_line(row: EventRow, reason: str, registry: Registry, style: Style) -> str:
    """Return display level 1: ``📊 [DOMAIN] [±delta] | reason``; a delta that was changed says by what."""
    icon = _event_icon(row, registry) if style.has_icons else ""
    head = "📊 " if style.has_icons else ""
    changed = f" ({points(row.raw):+g}: {', '.join(row.reasons)})" if row.reasons else ""
    said = escape_unprintable(reason or row.event.pattern_code or row.event.event_type)
    return f"{head}[{row.domain or 'SEAL'}] [{points(row.applied):+g}]{changed} | {icon}{said}"


def alert_line(alert: Alert, style: Style) -> str:
    """Return one alert in words."""
    icon = "⚠️ " if style.has_icons else ""
    said = words(style.language)[alert.kind.value]
    return f"{icon}{alert.domain}: {said} ({escape_unprintable(alert.track.subject_id)})"


def escalation_lines(state: State, role: Role, subject_id: str, style: Style) -> list[str]:
    """Return one line per anti-pattern a subject was met with more than once: what the next step is."""
    subject = state.subjects.get((role, subject_id))
    lines = []
    for code, incidents in sorted((subject.incidents if subject else {}).items()):
        level = escalation(incidents)
        if incidents > 1:
            icon = f"{ESCALATION_ICON[level]} " if style.has_icons else ""
            lines.append(f"{icon}{code} x{incidents}: {words(style.language)[level.value]}")
    return lines


def score_table(
    state: State, registry: Registry, team: Team, style: Style, scored: int = 0, hub: HubShown | None = None
) -> list[str]:
    """Return display level 2 of a team: both sides by domain with totals, then the team line with its floor.

    Args:
        state: scores.
        registry: weights.
        team: agent and user.
        style: language and icons.
        scored: evaluations of this session, for the header.
        hub: what a registered hub says, which is shown first; rows of our own are then marked as local.
    """
    say = words(style.language)
    icon = "📊 " if style.has_icons else ""
    heads = [(DOMAIN_ICON[one] if style.has_icons else "") + DOMAIN_SHORT[one] for one in Domain]
    lines = [f"{icon}{say['scored']} ({scored})", _row("", [*heads, say["total"]])]
    for role, subject_id, name in ((Role.AGENT, team.agent_id, "agent"), (Role.USER, team.user_id, "user")):
        theirs = hub and hub.cells(role, _runtime_of(state, role, subject_id))
        mark = row_mark(hub, is_theirs=bool(theirs), style=style)
        lines.append(_row(say[name], theirs or _scores(state, registry, role, subject_id)) + mark)
    found = team_score(state, registry, team)
    hand = "🤝 " if style.has_icons else ""
    lines.append(
        f"{hand}{say['team']}: {_one(found.score)}% ({WEIGHTS[found.quadrant]} {found.quadrant}), "
        f"{say['floor']} {_one(found.floor)}%{row_mark(hub, is_theirs=False, style=style)}"
    )
    return lines


def row_mark(hub: HubShown | None, *, is_theirs: bool, style: Style) -> str:
    """Return the mark at the end of a row: whose scores it shows; nothing where there is no hub."""
    if hub is None:
        return ""
    return "  (hub)" if is_theirs else f"  ({words(style.language)['local']})"


def _runtime_of(state: State, role: Role, subject_id: str) -> str | None:
    current = current_track(state, role, subject_id)
    return current[0].runtime if current else None


def _scores(state: State, registry: Registry, role: Role, subject_id: str) -> Iterable[str]:
    current = current_track(state, role, subject_id)
    total = _one(global_score(current[1] if current else None, registry.weights[(role, subject_id)]))
    if current is None:
        return [*("50" for _ in Domain), total]
    return [*(f"{points(current[1].domains[one].score):g}" for one in Domain), total]


def _row(name: str, cells: Iterable[str]) -> str:
    return f"{name + ':' if name else '':<{_WIDTH}}" + "".join(f"{cell:>{_WIDTH}}" for cell in cells)


def _one(value: object) -> str:
    return f"{float(plain(value)):.1f}"  # type: ignore[arg-type]


def _event_icon(row: EventRow, registry: Registry) -> str:
    if row.event.event_type is EventType.ERROR:
        delta = error_delta(row.event, registry.patterns)
        severity = next(one for one, amount in ERROR_DELTA.items() if amount == delta)
        return SEVERITY_ICON[severity] + " "
    icon = EVENT_ICON.get(row.event.event_type)
    return f"{icon} " if icon else ""
