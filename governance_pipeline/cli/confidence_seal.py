"""`govern confidence seal|verify`: close a day for ever, and hold sealed days to the ledger.

What belongs here: arguments and printing. What does not: rules; they are in `confidence`.
"""

from __future__ import annotations

import getpass
import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.confidence_hub import tell_hub
from governance_pipeline.cli.confidence_options import (
    AGENT,
    FOLDER,
    LANG,
    NO_EMOJI,
    RUNTIME,
    USER,
    open_store,
    rated_of,
    say,
    style_of,
    with_options,
)
from governance_pipeline.cli.ledger_options import CONFIG, LEDGER, path_of
from governance_pipeline.cli.signing import AS_JSON, clock
from governance_pipeline.confidence.terms import Domain, EventType
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.confidence.recording import Recorded
    from governance_pipeline.confidence.store import EventStore

_HELP = "Judgement of a domain, such as TECH=60; may be repeated."


@click.command(
    epilog="\b\nExample: govern confidence seal --agent ada --self TECH=60 --judged TECH=50\n"
    "Exit: 0, 2 the rules refuse it, 3 events or ledger cannot be used"
)
@click.option("--self", "own", multiple=True, metavar="DOMAIN=N", help=f"The subject's own. {_HELP}")
@click.option("--judged", multiple=True, metavar="DOMAIN=N", help=f"The other side's. {_HELP}")
@click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="The day; default: today, local time.")
@click.option("--without-ledger", is_flag=True, help="Seal only here; `verify` will say so until it is appended.")
@with_options(AGENT, USER, RUNTIME, FOLDER, CONFIG, LEDGER, LANG, NO_EMOJI, AS_JSON)
def seal(
    own: tuple[str, ...],
    judged: tuple[str, ...],
    day: datetime | None,
    without_ledger: bool,
    agent: str | None,
    user: str | None,
    runtime: str | None,
    folder: Path,
    config_path: Path | None,
    ledger_path: Path | None,
    lang: str,
    no_emoji: bool,
    as_json: bool,
) -> None:
    """Seal a day: half the difference of both judgements is applied, then no event of that day is taken any more.

    The digest of the day's events goes to the ledger, so that whoever changes one later is found out.
    """
    from governance_pipeline.confidence.display import event_line
    from governance_pipeline.confidence.recorded_document import recorded_document
    from governance_pipeline.confidence.wording import words

    ledger = None if without_ledger else _ledger(config_path, ledger_path)
    store = open_store(folder)
    recorded = store.append(_event(store, day, (agent, user, runtime), _numbers(own), _numbers(judged)))
    if ledger is not None:
        _append(ledger, recorded)
    after, style = store.standing(), style_of(lang, no_emoji)
    document = recorded_document(recorded, after.folded.state, after.registry)
    lines = [event_line(row, "seal", after.registry, style) for row in recorded.rows if row.domain]
    lines += [words(lang)["sealed"].format(**one) for one in document["seals"]]
    say(document, lines, as_json=as_json)
    tell_hub(folder, "cli", "seal", lang)


@click.command(
    epilog="\b\nExample: govern confidence verify\n"
    "Exit: 0 every sealed day is as the ledger has it, 1 one is not, 3 events or ledger cannot be used"
)
@click.option("--append-missing", is_flag=True, help="Append digests that are not in the ledger yet.")
@with_options(FOLDER, CONFIG, LEDGER, AS_JSON)
def verify(
    append_missing: bool, folder: Path, config_path: Path | None, ledger_path: Path | None, as_json: bool
) -> int:
    """Fold every event anew and compare each sealed day with its digest in the ledger."""
    from governance_pipeline.confidence.sealing import SEALED, record_seal, seal_faults

    ledger = _ledger(config_path, ledger_path)
    folded = open_store(folder).whole().folded
    if append_missing:
        for one in folded.seals:
            record_seal(ledger, one, _actor(), clock())
    faults = seal_faults(folded, ledger.events(types={SEALED}))
    document = {
        "schema": "govern/confidence-verify/v1",
        "events": folded.accepted,
        "sealed_days": len(folded.seals),
        "faults": [fault._asdict() for fault in faults],
    }
    lines = [f"{fault.day} {fault.role} {fault.subject_id}: {fault.code}" for fault in faults]
    lines.append(f"{folded.accepted} events, {len(folded.seals)} sealed days, {len(faults)} not as the ledger has them")
    say(document, lines, as_json=as_json)
    return ExitCode.FINDINGS if faults else ExitCode.CLEAN


def _event(
    store: EventStore,
    day: datetime | None,
    who: tuple[str | None, str | None, str | None],
    own: dict[str, Any],
    judged: dict[str, Any],
) -> dict[str, Any]:
    from governance_pipeline.confidence.rating import rating_event

    now, standing = datetime.now().astimezone(), store.standing()
    members = {"self_score": own or None, "user_score": judged or None}
    members["day"] = (day or now).date().isoformat()  # type: ignore[assignment]
    name = f"seal-{uuid.uuid4().hex}"
    registered = (standing.registry, standing.folded.state)
    return rating_event(name, EventType.SEAL, rated_of(*who), now, members, registered)


def _numbers(given: tuple[str, ...]) -> dict[str, Any]:
    from governance_pipeline.confidence.plain_numbers import as_written
    from governance_pipeline.strict.numbers import is_number

    numbers: dict[str, Any] = {}
    for text in given:
        domain, sign, number = text.partition("=")
        if domain not in list(Domain) or not sign or not is_number(number) or (value := as_written(number)) is None:
            raise click.UsageError(f"{text!r} is no judgement; write DOMAIN=N, such as TECH=60")
        numbers[domain] = value
    return numbers


def _ledger(config_path: Path | None, ledger_path: Path | None) -> Any:
    from governance_pipeline.ledger.ledger import Ledger

    ledger = Ledger(path_of(config_path, ledger_path))
    ledger.size()  # says what is missing before anything is recorded
    return ledger


def _append(ledger: Any, recorded: Recorded) -> None:
    from governance_pipeline.confidence.sealing import record_seal

    for one in recorded.seals:
        record_seal(ledger, one, _actor(), clock())


def _actor() -> str:
    return getpass.getuser()
