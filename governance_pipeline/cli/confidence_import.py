"""`govern confidence import|derive`: what a person takes over into the recorded events.

What belongs here: arguments and printing. What does not: rules; they are in `confidence`.
"""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.confidence_options import FOLDER, open_store, say, with_options
from governance_pipeline.cli.ledger_options import CONFIG, LEDGER, path_of
from governance_pipeline.cli.signing import AS_JSON, LAKE, clock

if TYPE_CHECKING:
    from governance_pipeline.confidence.store import EventStore

_LANDING = click.option(
    "--landing", type=click.Path(file_okay=False, path_type=Path), default=Path("data/rounds"), show_default=True,
    envvar="GOVERN_LANDING", help="Folder with one folder per round.",
)  # fmt: skip


@click.command(
    "import",
    epilog="\b\nExample: govern confidence import --round atlas-0001\n"
    "Exit: 0, 2 usage, 3 the file, the events or the ledger cannot be used",
)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--round", "round_id", metavar="ID", help="Import confidence.jsonl of this round.")
@click.option("--with-registry", is_flag=True, help="Take over pools, subjects, teams and patterns of the file too.")
@with_options(_LANDING, FOLDER, CONFIG, LEDGER, AS_JSON)
def import_(
    file: Path | None,
    round_id: str | None,
    with_registry: bool,
    landing: Path,
    folder: Path,
    config_path: Path | None,
    ledger_path: Path | None,
    as_json: bool,
) -> None:
    """Record the events of a file an agent could have written, and in the ledger that you did.

    An agent's word about itself is left out: a gain or a judgement that neither a user's judgement nor evidence stands
    for. What the rules refuse is left out too; every such line is named with its reason.
    """
    from governance_pipeline.confidence.event_rows import digest_of
    from governance_pipeline.confidence.importing import import_file, record_import, refuse_agent
    from governance_pipeline.ledger.ledger import Ledger

    path = _path(file, round_id, landing)
    ledger = Ledger(path_of(config_path, ledger_path))
    ledger.size()  # says what is missing before anything is recorded
    store, person = open_store(folder), getpass.getuser()
    refuse_agent(person, _agents(store))
    digest = digest_of(path)
    done = import_file(store, path, person, with_registry=with_registry)
    body = {"file_sha256": digest, "round_id": round_id, "recorded": done.recorded, "left_out": len(done.left_out)}
    is_new = record_import(ledger, body, person, clock())
    document = {
        "schema": "govern/confidence-import/v1",
        **{name: body[name] for name in ("file_sha256", "round_id", "recorded")},
        "known": done.known,
        "registered": done.registered,
        "is_new_in_ledger": is_new,
        "left_out": [one._asdict() for one in done.left_out],
    }
    say(document, _lines(document), as_json=as_json)


@click.command(
    epilog="\b\nExample: govern confidence derive --lake data/out/lake --register\n"
    "Exit: 0, 2 usage, 3 tables or events cannot be used"
)
@click.option("--register", "registers", is_flag=True, help="Register agents and runtimes that are not known yet.")
@with_options(LAKE, FOLDER, AS_JSON)
def derive(registers: bool, lake: Path, folder: Path, as_json: bool) -> None:
    """Record the verified facts of a lake: what its table `confidence_events` has as derived.

    The table is made first for judged rounds that have none; mismatches that people confirmed come with the asset. A
    fact is recorded once. One of an agent or runtime nobody registered, or of a sealed day, is left out and named.
    """
    from governance_pipeline.confidence.deriving import record_facts
    from governance_pipeline.confidence.lake_tables import derived_facts, make_events, rounds_without_events
    from governance_pipeline.storage.lake import Lake

    tables, store = Lake(lake), open_store(folder)
    store.standing()  # says what is missing before anything is made
    make_events(tables, rounds_without_events(tables))
    done = record_facts(store, derived_facts(tables), registers=registers)
    document = {
        "schema": "govern/confidence-derived/v1",
        "recorded": done.recorded,
        "known": done.known,
        "left_out": [one._asdict() for one in done.left_out],
    }
    lines = [f"{one.event_id} of round {one.round_id}: {one.reason}" for one in done.left_out]
    lines.append(f"{done.recorded} facts recorded, {done.known} were before, {len(done.left_out)} left out")
    say(document, lines, as_json=as_json)


def _path(file: Path | None, round_id: str | None, landing: Path) -> Path:
    from governance_pipeline.confidence.event_rows import FILE
    from governance_pipeline.vocabulary import is_round_id

    if (file is None) == (round_id is None):
        raise click.UsageError("name a file or --round, one of the two")
    if file is not None:
        return file
    if not is_round_id(str(round_id)):
        raise click.UsageError(f"{round_id!r} is no round id")
    return landing / str(round_id) / FILE


def _agents(store: EventStore) -> set[str]:
    from governance_pipeline.confidence.terms import Role

    return {name for role, name in store.standing().registry.weights if role is Role.AGENT}


def _lines(document: dict[str, Any]) -> list[str]:
    lines = [f"line {one['line']}: {one['reason']}" for one in document["left_out"]]
    counts = f"{document['recorded']} events recorded, {document['known']} were before"
    return [*lines, f"{counts}, {len(document['left_out'])} lines left out"]
