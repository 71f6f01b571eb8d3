"""Lines of the showing commands: scores of both sides, teams, pools, recovery, and a session's start.

What belongs here: layout and words of documents that `status` makes. What does not: numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.confidence.display import WEIGHTS, row_mark
from governance_pipeline.confidence.icons import DOMAIN_ICON, DOMAIN_SHORT, ESCALATION_ICON, MATURITY_ICON
from governance_pipeline.confidence.terms import Domain, Escalation, Maturity, Quadrant, Role
from governance_pipeline.confidence.wording import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.confidence.display import Style
    from governance_pipeline.confidence.hub.shown import HubShown

_NAME, _CELL = 22, 8


def status_lines(document: Mapping[str, Any], style: Style, hub: HubShown | None = None) -> list[str]:
    """Return everybody's scores, then teams, pools and recoveries; `hub` as in `score_lines`."""
    lines = score_lines(document["subjects"], style, hub)
    lines += team_lines(document, style)
    lines += pool_lines(document, style)
    return lines + _recoveries(recovery_document(document), style)


def score_lines(subjects: list[dict[str, Any]], style: Style, hub: HubShown | None = None) -> list[str]:
    """Return one row per subject: the five domains of its current track, the total, evaluations and interval.

    What a registered hub says of a subject is shown in their place; rows of our own are then marked as local.
    """
    say = words(style.language)
    heads = [(DOMAIN_ICON[one] if style.has_icons else "") + DOMAIN_SHORT[one] for one in Domain]
    lines = [_row("", [*heads, say["total"]])]
    for subject in subjects:
        track = next((one for one in subject["tracks"] if one["runtime"] == subject["runtime"]), None)
        name = f"{say[subject['role']]} {subject['subject_id']}"
        if track is None:
            mark = row_mark(hub, is_theirs=False, style=style)
            lines.append(f"{_row(name, [*('50' for _ in Domain), _one(subject['global'])])}  {say['no_events']}{mark}")
            continue
        theirs = hub.cells(Role(subject["role"]), track["runtime"]) if hub else None
        cells = theirs or [*(f"{track['domains'][one]['score']:g}" for one in Domain), _one(track["global"])]
        state = f", {say['warm_up']}" if track["is_warm_up"] else ""
        mark = _maturity(track["maturity"], style)
        width = f"± {_one(track['ci_half_width'])}"
        more = f"{width}, {track['evaluations']:g} {say['evaluations']}, {mark}{state}"
        lines.append(f"{_row(name, cells)}  {more}{row_mark(hub, is_theirs=bool(theirs), style=style)}")
    return lines


def team_lines(document: Mapping[str, Any], style: Style) -> list[str]:
    """Return one line per team: score, weights and quadrant, the floor a good score can hide, and both sides."""
    say, hand = words(style.language), "🤝 " if style.has_icons else ""
    return [
        f"{hand}{say['team']} {team['team_id']}: {_one(team['score'])}% ({WEIGHTS[Quadrant(team['quadrant'])]} "
        f"{team['quadrant']}), {say['floor']} {_one(team['floor'])}% | {team['agent_id']} {_one(team['agent'])}, "
        f"{team['user_id']} {_one(team['user'])}"
        for team in document["teams"]
    ]


def team_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the teams of a document with `subjects`, and every agent that stands for no team: the sub-agents."""
    leads = {team["agent_id"] for team in document["teams"]}
    others = [one for one in document["subjects"] if one["role"] == Role.AGENT and one["subject_id"] not in leads]
    return {
        "schema": "govern/confidence-teams/v1",
        "as_of": document["as_of"],
        "teams": document["teams"],
        "sub_agents": [_sub_agent(one) for one in others],
    }


def _sub_agent(subject: Mapping[str, Any]) -> dict[str, Any]:
    track = next((one for one in subject["tracks"] if one["runtime"] == subject["runtime"]), None)
    return {
        "subject_id": subject["subject_id"],
        "runtime": subject["runtime"],
        "global": subject["global"],
        "evaluations": track["evaluations"] if track else 0,
        "domains": {one.value: track["domains"][one]["score"] for one in Domain} if track else None,
    }


def pool_lines(document: Mapping[str, Any], style: Style) -> list[str]:
    """Return one line per runtime."""
    say = words(style.language)
    return [
        f"{say['pool']} {pool['runtime']}: {_one(pool['score'])} ± {_one(pool['ci_half_width'])}, "
        f"{pool['evaluations']:g} {say['evaluations']}, {_maturity(pool['maturity'], style)}, "
        f"{say['members']}: {', '.join(pool['members']) or '-'}"
        for pool in document["pools"]
    ]


def recovery_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the domains in recovery of a document with `subjects`."""
    domains = [
        {
            "role": subject["role"],
            "subject_id": subject["subject_id"],
            "runtime": track["runtime"],
            "domain": domain,
            "score": state["score"],
            "days_above": state["days_above"],
        }
        for subject in document["subjects"]
        for track in subject["tracks"]
        for domain, state in track["domains"].items()
        if state["is_in_recovery"]
    ]
    return {"schema": "govern/confidence-recovery/v1", "as_of": document["as_of"], "domains": domains}


def recovery_lines(document: Mapping[str, Any], style: Style) -> list[str]:
    """Return one line per domain in recovery; one that says so where there is none."""
    return _recoveries(document, style) or [words(style.language)["nothing_recovering"]]


def _recoveries(document: Mapping[str, Any], style: Style) -> list[str]:
    say, icon = words(style.language), "⚠️ " if style.has_icons else ""
    return [
        f"{icon}{say[one['role']]} {one['subject_id']}, {one['domain']} {one['score']:g}: {say['recovery']}, "
        f"{say['plan']}; {say['days_above'].format(days=one['days_above'])}"
        for one in document["domains"]
    ]


def brief_lines(document: Mapping[str, Any], style: Style, hub: HubShown | None = None) -> list[str]:
    """Return scores, the last evaluations, and the anti-patterns with their next step."""
    say = words(style.language)
    lines = [*score_lines(document["subjects"], style, hub), f"{say['last']}:"]
    for one in document["last"]:
        why = f" ({', '.join(one['reasons'])})" if one["reasons"] else ""
        lines.append(f"  [{one['domain']}] [{one['applied']:+g}]{why} {one['subject_id']} {one['event_id']}")
    patterns = document["active_patterns"]
    lines.append(f"{say['active']}:" if patterns else say["nothing_active"])
    for one in patterns:
        level = Escalation(one["escalation"])
        icon = f"{ESCALATION_ICON[level]} " if style.has_icons and ESCALATION_ICON[level] else ""
        lines.append(f"  {icon}{one['subject_id']}: {one['pattern_code']} x{one['incidents']}, {say[level.value]}")
    return lines


def _row(name: str, cells: list[str]) -> str:
    return f"{name:<{_NAME}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)


def _maturity(name: str, style: Style) -> str:
    return f"{MATURITY_ICON[Maturity(name)]} {name}" if style.has_icons else name


def _one(value: float) -> str:
    return f"{float(value):.1f}"
