"""`govern ledger`: was it touched, and everything that is in it.

What belongs here: arguments and printing. What does not: rules; they are in `ledger`.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode

CONFIG = click.option(
    "--config", "config_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Configuration that names the ledger; default: gate.toml of this account.",
)  # fmt: skip
LEDGER = click.option(
    "--ledger", "ledger_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="The ledger itself, where there is no configuration.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")

_HEAD = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})", re.ASCII)


@click.group(epilog="Example: govern ledger verify")
def ledger() -> None:
    """The append-only record of everything that was decided."""


@ledger.command(epilog="\b\nExample: govern ledger verify --json\nExit: 0 sound, 1 it was touched, 3 it cannot be read")
@click.option(
    "--head", "heads", multiple=True, metavar="SIZE:ROOT", help="Head that was kept elsewhere; an approval carries one."
)
@CONFIG
@LEDGER
@AS_JSON
def verify(heads: tuple[str, ...], config_path: Path | None, ledger_path: Path | None, as_json: bool) -> int:
    """Check every event against its bytes, its place and the events before it.

    A file cut off or written anew with care is found only by a head that was kept elsewhere.
    """
    from governance_pipeline.ledger.documents import verify_document
    from governance_pipeline.ledger.head import Head
    from governance_pipeline.ledger.ledger import Ledger

    remembered = []
    for text in heads:
        match = _HEAD.fullmatch(text)
        if match is None:
            raise click.BadParameter(
                f"{text!r} is no head; write the size, a colon and 64 hex digits", param_hint="--head"
            )
        remembered.append(Head(int(match[1]), match[2]))
    opened = Ledger(_path(config_path, ledger_path))
    faults = opened.verify(remembered)
    document = verify_document(opened.path, opened.head(), faults)
    if as_json:
        click.echo(json_text(document))
    else:
        state = "touched" if faults else "sound"
        click.echo(
            f"{document['ledger']}: {state}, {document['size']} events, head {document['size']}:{document['root']}"
        )
        for fault in faults:
            click.echo(f"  {'file' if fault.seq is None else f'event {fault.seq}'}: {fault.code}: {fault.message}")
    return ExitCode.FINDINGS if faults else ExitCode.CLEAN


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
    opened = Ledger(_path(config_path, ledger_path))
    if as_json:
        document = export_document(opened.path, opened.events(after))
        click.echo(json_text(document))
        return
    for event in opened.events(after):
        click.echo(event.bytes)


def _path(config_path: Path | None, ledger_path: Path | None) -> Path:
    from governance_pipeline.trust.config import load_config

    if ledger_path is not None and config_path is not None:
        raise click.UsageError("--config and --ledger name the same thing; give one of them")
    return load_config(config_path).ledger if ledger_path is None else ledger_path
