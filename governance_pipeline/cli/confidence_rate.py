"""`govern confidence rate …|bonus|seal`: what a person says of an agent or of themselves, recorded at once.

What belongs here: arguments and printing. What does not: rules; they are in `confidence`.
"""

from __future__ import annotations

import uuid
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.confidence_hub import tell_hub
from governance_pipeline.cli.confidence_options import (
    AGENT,
    FOLDER,
    LANG,
    NO_EMOJI,
    RUNTIME,
    SESSION,
    USER,
    open_store,
    rated_of,
    say,
    style_of,
    teams_of,
    with_options,
)
from governance_pipeline.cli.signing import AS_JSON
from governance_pipeline.confidence.terms import ClusterRole, Domain, EventType, Severity, Trigger

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.confidence.display import Style
    from governance_pipeline.confidence.rating import Rated
    from governance_pipeline.confidence.recording import Recorded
    from governance_pipeline.confidence.store import Standing

_DAY = click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="The subject's day; default: today, local time.")
_DOMAIN = click.option("--domain", type=click.Choice([one.value for one in Domain]), help="A pattern may fix it.")
_EVIDENCE = click.option("--evidence", metavar="ID", help="Record or finding it rests on.")
_NOTE = click.option("--note", metavar="TEXT", help="Stays on this machine and changes no score.")
_PATTERN = click.option("--pattern", "pattern_code", metavar="CODE", help="Pattern it is an instance of.")
_TRIGGER = click.option("--trigger", type=click.Choice([one.value for one in Trigger]), help="What made you score.")
_WHO = with_options(AGENT, USER, RUNTIME, SESSION, _DAY, FOLDER, LANG, NO_EMOJI, AS_JSON)
_LEVEL_TWO_EVERY = 5


@click.group(epilog="Example: govern confidence rate error --domain TECH --severity medium --note 'wrong flag'")
def rate() -> None:
    """Record what an agent or a user did, with its domain; the score moves at once."""


@rate.command(epilog="Example: govern confidence rate correct --domain TECH --agent ada")
@with_options(_DOMAIN, _EVIDENCE, _TRIGGER, _NOTE)
@_WHO
def correct(domain: str | None, note: str | None, evidence: str | None, trigger: str | None, **who: Any) -> None:
    """Record a task done right: the streak of its domain grows."""
    _record(EventType.CORRECT, {"domain": domain, "note": note, "evidence": evidence, "trigger": trigger}, who)


@rate.command(epilog="Example: govern confidence rate error --pattern EXCUSE --agent ada")
@click.option("--severity", type=click.Choice([one.value for one in Severity]), help="How bad; a pattern may fix it.")
@click.option("--cluster", "cluster_id", metavar="ID", help="Causal chain it belongs to.")
@click.option("--cluster-role", type=click.Choice([one.value for one in ClusterRole]), help="Its place in that chain.")
@with_options(_PATTERN, _DOMAIN, _EVIDENCE, _TRIGGER, _NOTE)
@_WHO
def error(
    severity: str | None,
    cluster_id: str | None,
    cluster_role: str | None,
    pattern_code: str | None,
    domain: str | None,
    evidence: str | None,
    trigger: str | None,
    note: str | None,
    **who: Any,
) -> None:
    """Record an error: it costs 1, 3, 5 or 10 points, and the streak of its domain ends."""
    members = {"severity": severity, "cluster_id": cluster_id, "cluster_role": cluster_role}
    members |= {"pattern_code": pattern_code, "domain": domain, "evidence": evidence, "trigger": trigger, "note": note}
    _record(EventType.ERROR, members, who)


@rate.command(epilog="Example: govern confidence rate pro ANTICIPATE --agent ada")
@click.argument("pattern_code", metavar="CODE")
@with_options(_DOMAIN, _EVIDENCE, _TRIGGER, _NOTE)
@_WHO
def pro(
    pattern_code: str, domain: str | None, evidence: str | None, trigger: str | None, note: str | None, **who: Any
) -> None:
    """Record a pro-pattern: +3; `govern confidence check` lists them."""
    members = {"pattern_code": pattern_code, "domain": domain, "evidence": evidence, "trigger": trigger, "note": note}
    _record(EventType.PRO_PATTERN, members, who)


@rate.command(epilog="Example: govern confidence rate exceptional +7 --domain TECH --agent ada")
@click.argument("points", type=click.IntRange(5, 10))
@with_options(_DOMAIN, _EVIDENCE, _TRIGGER, _NOTE)
@_WHO
def exceptional(
    points: int, domain: str | None, evidence: str | None, trigger: str | None, note: str | None, **who: Any
) -> None:
    """Record something exceptional, +5 to +10; the domain needs a streak of three."""
    members = {"points": points, "domain": domain, "evidence": evidence, "trigger": trigger, "note": note}
    _record(EventType.EXCEPTIONAL, members, who)


@rate.command(epilog="Example: govern confidence rate learned --domain OPS --agent ada")
@with_options(_DOMAIN, _EVIDENCE, _NOTE)
@_WHO
def learned(domain: str | None, evidence: str | None, note: str | None, **who: Any) -> None:
    """Record that a correction was taken up; it counts as an evaluation and moves no score."""
    _record(EventType.LEARNED_FROM_CORRECTION, {"domain": domain, "evidence": evidence, "note": note}, who)


@rate.command("continue", epilog="Example: govern confidence rate continue --domain TECH --agent ada")
@with_options(_DOMAIN, _NOTE)
@_WHO
def go_on(domain: str | None, note: str | None, **who: Any) -> None:
    """Record that work went on without a correction: half an evaluation."""
    _record(EventType.IMPLICIT_CONTINUE, {"domain": domain, "note": note}, who)


@click.command(epilog="Example: govern confidence bonus +2 TECH 'found the race before it hit us' --agent ada")
@click.argument("points", type=click.IntRange(1, 3))
@click.argument("domain", type=click.Choice([one.value for one in Domain], case_sensitive=False))
@click.argument("note", metavar="REASON")
@with_options(_EVIDENCE, _TRIGGER)
@_WHO
def bonus(points: int, domain: str, note: str, evidence: str | None, trigger: str | None, **who: Any) -> None:
    """Give a bonus of +1 to +3, three a day at most."""
    members = {"points": points, "domain": str(domain), "note": note, "evidence": evidence, "trigger": trigger}
    _record(EventType.BONUS, members, who)


def _record(event_type: EventType, members: dict[str, Any], who: dict[str, Any]) -> None:
    """Record one event and show it: one line, and the whole table at every fifth evaluation of the session."""
    store = open_store(who["folder"])
    standing = store.standing()
    members = {**members, "domain": members.get("domain") or _fixed_domain(members, standing)}
    recorded = store.append(_event(event_type, members, who, standing))
    after = store.standing()
    style = style_of(who["lang"], who["no_emoji"])
    lines = _lines(recorded, str(members.get("note") or ""), after, style)
    scored = store.scored_in(who["session"])
    if scored % _LEVEL_TWO_EVERY == 0:
        lines += _tables(after, style, scored, who["folder"])
    say(_document(recorded, after), lines, as_json=who["as_json"])
    tell_hub(who["folder"], who["session"], "event", who["lang"])


def _event(event_type: EventType, members: dict[str, Any], who: dict[str, Any], standing: Standing) -> dict[str, Any]:
    from governance_pipeline.confidence.rating import rating_event

    given: date | None = who["day"] and who["day"].date()
    now = datetime.now().astimezone()
    day = (given or now.date()).isoformat()
    rated: Rated = rated_of(who["agent"], who["user"], who["runtime"])
    more = {"session_id": who["session"], **members, "day": day}
    name = f"cli-{uuid.uuid4().hex}"
    return rating_event(name, event_type, rated, now, more, (standing.registry, standing.folded.state))


def _fixed_domain(members: dict[str, Any], standing: Standing) -> str | None:
    pattern = standing.registry.patterns.get(members.get("pattern_code") or "")
    return str(pattern.domain) if pattern is not None and pattern.domain is not None else None


def _lines(recorded: Recorded, reason: str, after: Standing, style: Style) -> list[str]:
    from governance_pipeline.confidence.display import alert_line, escalation_lines, event_line

    lines = [event_line(row, reason, after.registry, style) for row in recorded.rows]
    lines += [alert_line(alert, style) for alert in recorded.alerts]
    if recorded.event.event_type is EventType.ERROR:
        lines += escalation_lines(after.folded.state, recorded.event.role, recorded.event.subject_id, style)
    return lines


def _tables(after: Standing, style: Style, scored: int, folder: Path) -> list[str]:
    from governance_pipeline.confidence.display import score_table
    from governance_pipeline.confidence.hub.shown import hub_shown

    state, registry, hub = after.folded.state, after.registry, hub_shown(folder)
    return [line for team in teams_of(after) for line in score_table(state, registry, team, style, scored, hub)]


def _document(recorded: Recorded, after: Standing) -> dict[str, Any]:
    from governance_pipeline.confidence.recorded_document import recorded_document

    return recorded_document(recorded, after.folded.state, after.registry)
