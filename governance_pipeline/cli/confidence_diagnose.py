"""`govern confidence diagnose`: who answers for a delegation that failed, each in its own pool.

What belongs here: arguments and printing. What does not: rules; they are in `confidence.diagnosis`.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.confidence_hub import tell_hub
from governance_pipeline.cli.confidence_options import FOLDER, LANG, NO_EMOJI, SESSION, open_store, say, style_of
from governance_pipeline.cli.signing import AS_JSON
from governance_pipeline.confidence.diagnosis import Outcome
from governance_pipeline.confidence.terms import Domain, Role, Severity

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.confidence.diagnosis import Side
    from governance_pipeline.confidence.store import Standing


@click.command(
    epilog="\b\nExample: govern confidence diagnose good_context --orchestrator lead --executor dev "
    "--domain TECH --severity severe"
)
@click.argument("outcome", type=click.Choice([one.value for one in Outcome]))
@click.option("--orchestrator", required=True, metavar="AGENT", help="Who delegated.")
@click.option("--executor", required=True, metavar="AGENT", help="Who carried it out.")
@click.option("--domain", type=click.Choice([one.value for one in Domain]), default="TECH", show_default=True,
              help="Where the executor failed.")  # fmt: skip
@click.option("--severity", type=click.Choice([one.value for one in Severity]), default="medium", show_default=True,
              help="How bad.")  # fmt: skip
@click.option("--evidence", metavar="ID", help="Record or finding it rests on.")
@SESSION
@FOLDER
@LANG
@NO_EMOJI
@AS_JSON
def diagnose(
    outcome: str,
    orchestrator: str,
    executor: str,
    domain: str,
    severity: str,
    evidence: str | None,
    session: str,
    folder: Path,
    lang: str,
    no_emoji: bool,
    as_json: bool,
) -> None:
    """Record who answers for a failed delegation between two agents of different runtimes.

    Bad context is the orchestrator's; with good context the executor answers whole and the orchestrator a quarter;
    unreviewed work is both sides'; a fault caught in review is a gain. Inside one pool nothing is recorded.
    """
    from governance_pipeline.confidence.diagnosis import diagnosis
    from governance_pipeline.confidence.display import event_line
    from governance_pipeline.confidence.replay_document import event_document

    store = open_store(folder)
    standing = store.standing()
    sides = (_side(standing, orchestrator), _side(standing, executor))
    found = diagnosis(Outcome(outcome), *sides, Domain(domain), Severity(severity))
    recorded = store.append_all([_event(members, session, evidence) for members in found])
    rows = [row for one in recorded for row in one.rows]
    document = {
        "schema": "govern/confidence-diagnosis/v1",
        "outcome": outcome,
        "is_one_pool": sides[0].runtime == sides[1].runtime,
        "events": [{**event_document(row), "subject_id": row.event.subject_id} for row in rows],
    }
    style = style_of(lang, no_emoji)
    lines = [f"{event_line(row, '', standing.registry, style)} ({row.event.subject_id})" for row in rows]
    say(document, lines or ["one pool: diagnosis only, nothing is recorded"], as_json=as_json)
    tell_hub(folder, session, "event", lang)


def _side(standing: Standing, agent: str) -> Side:
    from governance_pipeline.confidence.diagnosis import Side
    from governance_pipeline.confidence.measures import current_track
    from governance_pipeline.errors import UsageError

    current = current_track(standing.folded.state, Role.AGENT, agent)
    if current is None or current[0].runtime is None:
        raise UsageError(f"agent {agent!r} has no event yet, so its runtime is unknown; rate it once first")
    return Side(agent, current[0].runtime)


def _event(members: dict[str, Any], session: str, evidence: str | None) -> dict[str, Any]:
    from governance_pipeline.confidence.event import EVENT_SCHEMA
    from governance_pipeline.trust.instants import instant_text

    now = datetime.now().astimezone()
    event = {
        "schema": EVENT_SCHEMA,
        "event_id": f"diagnosis-{uuid.uuid4().hex}",
        "ts": instant_text(now),
        "day": now.date().isoformat(),
        "session_id": session,
        "evidence": evidence,
        **members,
    }
    return {name: value for name, value in event.items() if value is not None}
