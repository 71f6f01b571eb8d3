"""`govern ledger`: was it touched, and everything that is in it.

What belongs here: arguments and printing. What does not: rules; they are in `ledger`.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.ledger_checkpoints import checkpoint, held_faults, remember, remembered_heads
from governance_pipeline.cli.ledger_options import AS_JSON, CONFIG, LEDGER, head_of, path_of
from governance_pipeline.cli.ledger_proofs import check_proof, consistency, prove
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.verification import Fault


@click.group(epilog="Example: govern ledger verify")
def ledger() -> None:
    """The append-only record of everything that was decided."""


@ledger.command(
    epilog="\b\nExample: govern ledger verify --json\n"
    "Exit: 0 sound, 1 it was touched or a published file did not pass, 3 it cannot be read"
)
@click.option(
    "--head", "heads", multiple=True, metavar="SIZE:ROOT", help="Head that was kept elsewhere; an approval carries one."
)
@click.option(
    "--checkpoint", "checkpoints", type=click.Path(dir_okay=False, path_type=Path), multiple=True, metavar="FILE",
    help="Checkpoint that was kept elsewhere, signed by the log.",
)  # fmt: skip
@click.option(
    "--lake",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    envvar="GOVERN_LAKE",
    help="Also hold every published file of this lake to its events and decisions.",
)
@CONFIG
@LEDGER
@AS_JSON
def verify(
    heads: tuple[str, ...],
    checkpoints: tuple[Path, ...],
    lake: Path | None,
    config_path: Path | None,
    ledger_path: Path | None,
    as_json: bool,
) -> int:
    """Check every event against its bytes, its place and the events before it, and that the gate can use it.

    A file cut off or written anew with care is found only by a head that was kept elsewhere: one given here, or the one
    remembered beside the configuration, which is brought up to date when all is sound. A checkpoint the log signed and
    that is no state of this ledger is kept there as proof, and closes every gate until somebody has looked.
    """
    from governance_pipeline.ledger.documents import verify_document
    from governance_pipeline.ledger.ledger import Ledger

    if checkpoints and ledger_path is not None:
        raise click.UsageError("--checkpoint needs the configuration, which says whose key is the log's; not --ledger")
    remembered = [head_of(text) for text in heads]
    opened = Ledger(path_of(config_path, ledger_path))
    if ledger_path is None:
        remembered += remembered_heads(config_path)
    faults = opened.verify(remembered)
    faults += held_faults(opened, checkpoints, config_path)
    folded, files = _gate_faults(opened, lake, config_path, is_readable=not faults, has_root=ledger_path is None)
    document = verify_document(opened.path, opened.head(), [*faults, *folded], files)
    _answer_verified(document, as_json)
    if ledger_path is None and document["is_sound"]:
        remember(opened, config_path)
    return ExitCode.CLEAN if document["is_sound"] else ExitCode.FINDINGS


@ledger.command(epilog="Example: govern ledger export --jsonl > ledger.jsonl")
@click.option("--jsonl", is_flag=True, help="One event per line, its exact bytes; this is the default.")
@click.option("--after", type=click.IntRange(0), default=0, help="Leave out events up to this number.")
@CONFIG
@LEDGER
@AS_JSON
def export(jsonl: bool, after: int, config_path: Path | None, ledger_path: Path | None, as_json: bool) -> None:
    """Print the events: line n is event n, and the RFC 9162 root over the lines is the head."""
    from governance_pipeline.ledger.documents import export_document
    from governance_pipeline.ledger.ledger import Ledger

    if jsonl and as_json:
        raise click.UsageError("--jsonl and --json are two forms of the same events; give one of them")
    opened = Ledger(path_of(config_path, ledger_path))
    if as_json:
        document = export_document(opened.path, opened.events(after))
        click.echo(json_text(document))
        return
    is_screen = _is_screen()
    for event in opened.events(after):
        click.echo(_shown(event.bytes) if is_screen else event.bytes)
    if is_screen:
        click.echo("shown with what a screen would obey or hide written out; redirect it for the exact bytes", err=True)


def _is_screen() -> bool:
    return sys.stdout.isatty()


def _shown(data: bytes) -> str:
    """Give an event for a screen: what it would obey or not show is written as an escape of JSON."""
    from governance_pipeline.strict.excerpt import escape_unprintable

    return "".join(c if escape_unprintable(c) == c else json.dumps(c)[1:-1] for c in data.decode())


def _gate_faults(
    ledger: Ledger, lake: Path | None, config_path: Path | None, *, is_readable: bool, has_root: bool
) -> tuple[list[Fault], list[dict[str, str]] | None]:
    """Give the events the gate cannot use, and the files of a lake it did not let through (None: no lake is named).

    Events of a ledger that was touched are not folded: its own fault comes first. Without a configuration nobody knows
    who may approve, so a decision is then only held to be there.
    """
    from governance_pipeline.gate.events import read_history
    from governance_pipeline.gate.published import unaccounted_files
    from governance_pipeline.ledger.trusted_root import trusted_root, unusable_roots
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.config import load_config

    if not is_readable:
        return [], None
    history = read_history(ledger, is_strict=False)
    pinned = load_config(config_path).root_fingerprint if has_root else None
    unusable = sorted([*history.unusable, *unusable_roots(ledger, pinned)])
    if lake is None:
        return unusable, None
    root = trusted_root(load_config(config_path), ledger, datetime.now(UTC)) if has_root else None
    return unusable, [file._asdict() for file in unaccounted_files(Lake(lake), history, root)]


def _answer_verified(document: dict[str, Any], as_json: bool) -> None:
    from governance_pipeline.strict.excerpt import escape_unprintable

    if as_json:
        click.echo(json_text(document))
        return
    state = "sound" if document["is_sound"] else "touched" if document["faults"] else "sound, the lake is not"
    head = f"head {document['size']}:{document['root']}"
    lines = [f"{document['ledger']}: {state}, {document['size']} events, {head}"]
    for fault in document["faults"]:
        place = "file" if fault["seq"] is None else f"event {fault['seq']}"
        lines.append(f"  {place}: {fault['code']}: {fault['message']}")
    lines += [f"  {file['asset']}: {file['message']}" for file in document["unaccounted"] or []]
    for line in lines:
        click.echo(escape_unprintable(line))


ledger.add_command(checkpoint)
ledger.add_command(prove)
ledger.add_command(consistency)
ledger.add_command(check_proof)
