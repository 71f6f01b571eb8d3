"""What a person sees of a replay on a terminal (rich): who stands where, teams, alerts, and what was refused.

What belongs here: layout and words. What does not: any number. Names come from a file: they are escaped and never
parsed as markup.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from governance_pipeline.confidence.terms import Domain
from governance_pipeline.strict.excerpt import escape_unprintable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

_NOTE: Final = "Scores inform; no verdict, gate or policy reads them. ±: half-width 25/√n of n evaluations."


def replay_page(document: Mapping[str, Any]) -> RenderableType:
    """Lay out a `govern/confidence-replay/v1` document."""
    counts = document["counts"]
    parts: list[RenderableType] = [_scores(document)]
    if document["teams"]:
        parts.append(_teams(document))
    parts += [Text(_alert(alert), style="yellow") for alert in document["alerts"]]
    parts += [
        Text(f"refused: {reason}, {number} lines", style="red")
        for reason, number in sorted(Counter(one["reason"] for one in document["refused"]).items())
    ]
    about = "{lines} lines: {registry} registry, {accepted} accepted, {refused} refused".format(**counts)
    return Group(*parts, Text(about, style="dim"), Text(_NOTE, style="dim"))


def _scores(document: Mapping[str, Any]) -> Table:
    table = _table("who", "runtime", *Domain, "TOTAL", "±", "evaluations", "maturity")
    for subject in document["subjects"]:
        who = f"{subject['role']} {subject['subject_id']}"
        if not subject["tracks"]:
            table.add_row(who, "", *("" for _ in Domain), _number(subject["global"]), "", "0", "no events")
        for track in subject["tracks"]:
            is_current = track["runtime"] == subject["runtime"]
            table.add_row(
                who,
                escape_unprintable(track["runtime"] or ""),
                *(_domain(track["domains"][domain]) for domain in Domain),
                _number(track["global"]),
                _number(track["ci_half_width"]),
                _number(track["evaluations"]),
                track["maturity"] + (", warm-up" if track["is_warm_up"] else ""),
                style="" if is_current else "dim",
            )
    return table


def _teams(document: Mapping[str, Any]) -> Table:
    table = _table("team", "agent", "user", "score", "floor", "quadrant")
    for team in document["teams"]:
        names = (f"{team['team_id']}", f"{team['agent_id']} {_number(team['agent'])}")
        user = f"{team['user_id']} {_number(team['user'])}"
        table.add_row(*names, user, _number(team["score"]), _number(team["floor"]), team["quadrant"])
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name, overflow="fold", justify="right" if name in (*Domain, "TOTAL", "±") else "left")
    return table


def _domain(domain: Mapping[str, Any]) -> Text:
    return Text(_number(domain["score"]), style="red" if domain["is_in_recovery"] else "")


def _alert(alert: Mapping[str, Any]) -> str:
    where = f"{alert['role']} {alert['subject_id']}, {alert['domain']}, {alert['day']}"
    return f"{alert['kind'].replace('_', ' ')}: {where} (event {alert['event_id']})"


def _number(value: float) -> str:
    return f"{value:g}" if isinstance(value, int) else f"{value:.1f}"
