"""`govern confidence status|brief|team|pool|recovery|check|explain`: where everybody stands, and why.

What belongs here: arguments and printing. What does not: rules; they are in `confidence`. Nothing here records.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.confidence_hub import tell_hub
from governance_pipeline.cli.confidence_options import (
    AGENT,
    FOLDER,
    LANG,
    NO_EMOJI,
    SESSION,
    USER,
    open_store,
    rated_of,
    say,
    style_of,
)
from governance_pipeline.cli.signing import AS_JSON

if TYPE_CHECKING:
    from pathlib import Path

_LAST = 5


@click.command(epilog="Example: govern confidence status --lang es")
@FOLDER
@LANG
@NO_EMOJI
@AS_JSON
def status(folder: Path, lang: str, no_emoji: bool, as_json: bool) -> None:
    """Show every score as of today: both sides of each team by domain, pools, and who is in recovery."""
    from governance_pipeline.confidence.hub.shown import hub_shown
    from governance_pipeline.confidence.status import status_document
    from governance_pipeline.confidence.status_lines import status_lines

    found = open_store(folder).standing()
    document = status_document(found.folded.state, found.registry, _today())
    say(document, status_lines(document, style_of(lang, no_emoji), hub_shown(folder)), as_json=as_json)


@click.command(epilog="Example: govern confidence brief --lang es")
@SESSION
@FOLDER
@LANG
@NO_EMOJI
@AS_JSON
def brief(session: str, folder: Path, lang: str, no_emoji: bool, as_json: bool) -> None:
    """Show what a session starts with: scores, the last five evaluations, active anti-patterns."""
    from governance_pipeline.confidence.hub.shown import hub_shown
    from governance_pipeline.confidence.status import brief_document
    from governance_pipeline.confidence.status_lines import brief_lines

    found = open_store(folder).standing(rows=_LAST)
    rows = [row for row in found.folded.events if row.domain is not None][-_LAST:]
    document = brief_document(found.folded.state, found.registry, rows, _today())
    say(document, brief_lines(document, style_of(lang, no_emoji), hub_shown(folder)), as_json=as_json)
    tell_hub(folder, session, "start", lang)


@click.command(epilog="Example: govern confidence team --json")
@FOLDER
@LANG
@NO_EMOJI
@AS_JSON
def team(folder: Path, lang: str, no_emoji: bool, as_json: bool) -> None:
    """Show each team: weighted score, quadrant and floor; and both sides and every sub-agent by domain."""
    from governance_pipeline.confidence.status_lines import score_lines, team_document, team_lines

    document, style = _status(folder), style_of(lang, no_emoji)
    lines = [*team_lines(document, style), *score_lines(document["subjects"], style)]
    say(team_document(document), lines, as_json=as_json)


@click.command(epilog="Example: govern confidence pool --json")
@FOLDER
@LANG
@NO_EMOJI
@AS_JSON
def pool(folder: Path, lang: str, no_emoji: bool, as_json: bool) -> None:
    """Show each runtime: the mean of its agents, their evaluations, maturity and interval."""
    from governance_pipeline.confidence.status_lines import pool_lines

    document = _part(folder, "pools", "govern/confidence-pools/v1")
    say(document, pool_lines(document, style_of(lang, no_emoji)), as_json=as_json)


@click.command(epilog="Example: govern confidence recovery --json")
@FOLDER
@LANG
@NO_EMOJI
@AS_JSON
def recovery(folder: Path, lang: str, no_emoji: bool, as_json: bool) -> None:
    """List domains in trust recovery: entered below 20, left after three closed days above 35."""
    from governance_pipeline.confidence.status_lines import recovery_document, recovery_lines

    document = recovery_document(_part(folder, "subjects", "govern/confidence-recovery/v1"))
    say(document, recovery_lines(document, style_of(lang, no_emoji)), as_json=as_json)


@click.command(epilog="Example: govern confidence check --lang es")
@LANG
@AS_JSON
def check(lang: str, as_json: bool) -> None:
    """Print the questions to ask before answering, and what to do after a loss."""
    from governance_pipeline.confidence.checklist import checklist_document, checklist_lines

    document = checklist_document(lang)
    say(document, checklist_lines(document), as_json=as_json)


@click.command(epilog="Example: govern confidence explain --agent ada --domain TECH")
@AGENT
@USER
@click.option("--domain", metavar="DOMAIN", help="Only this domain.")
@FOLDER
@AS_JSON
def explain(agent: str | None, user: str | None, domain: str | None, folder: Path, as_json: bool) -> None:
    """Show why a score is what it is, event by event, with the reason of every delta that was changed."""
    from governance_pipeline.confidence.explanation import explanation_document, explanation_lines

    found = open_store(folder).whole()
    document = explanation_document(found.registry, found.folded, rated_of(agent, user, None), domain)
    say(document, explanation_lines(document), as_json=as_json)


def _part(folder: Path, name: str, schema: str) -> dict[str, Any]:
    whole = _status(folder)
    return {"schema": schema, "as_of": whole["as_of"], name: whole[name]}


def _status(folder: Path) -> dict[str, Any]:
    from governance_pipeline.confidence.status import status_document

    found = open_store(folder).standing()
    return status_document(found.folded.state, found.registry, _today())


def _today() -> int:
    return datetime.now().astimezone().date().toordinal()
