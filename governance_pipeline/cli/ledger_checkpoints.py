"""`govern ledger checkpoint`, and what `verify` makes of checkpoints that were kept.

What belongs here: arguments and printing. What does not: rules; they are in `ledger`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.ledger_options import AS_JSON, CONFIG
from governance_pipeline.errors import GovernError, UsageError
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.ledger.head import Head
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.verification import Fault


@click.command(
    epilog="\b\nExample: govern ledger checkpoint > ledger-2026-11-30.note\n"
    "Exit: 0 signed, 1 the ledger was touched, so nothing is signed, 2 there is no key of the log here"
)
@CONFIG
@AS_JSON
def checkpoint(config_path: Path | None, as_json: bool) -> int:
    """Sign the head the ledger has now, as a note for whoever keeps it elsewhere.

    Keep it where nobody who can write the ledger can write: `govern ledger verify --checkpoint` holds the ledger to it.
    """
    from governance_pipeline.ledger.checkpoint import log_keys, log_signer, signed_checkpoint
    from governance_pipeline.ledger.documents import checkpoint_document
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.remembered import remember_head
    from governance_pipeline.ledger.trusted_root import trusted_root
    from governance_pipeline.trust.config import load_config

    config, now = load_config(config_path), datetime.now(UTC)
    opened = Ledger(config.ledger)
    root = trusted_root(config, opened, now)
    signer = log_signer(config, root, now)
    if signer is None:
        raise UsageError("the trust root has no key of the log; `govern trust log-key` makes one")
    for fault in opened.verify(remembered_heads(config_path)):
        click.echo(f"nothing is signed: {fault.code}: {fault.message}", err=True)
        return ExitCode.FINDINGS
    head = remember_head(config, opened, signer)
    note = signed_checkpoint(head, config, signer)
    document = checkpoint_document(config, head, note, log_keys(root))
    click.echo(json_text(document) if as_json else note, nl=as_json)
    return ExitCode.CLEAN


def remembered_heads(config_path: Path | None) -> list[Head]:
    """Give the head this verifier remembers, if it does."""
    from governance_pipeline.ledger.remembered import remembered_head
    from governance_pipeline.trust.config import load_config

    head = remembered_head(load_config(config_path))
    return [] if head is None else [head]


def remember(ledger: Ledger, config_path: Path | None) -> None:
    """Remember the head of a sound ledger; where that cannot be written a message says so."""
    from governance_pipeline.ledger.remembered import remember_head
    from governance_pipeline.trust.config import load_config

    try:
        remember_head(load_config(config_path), ledger)
    except GovernError as error:
        click.echo(f"the head is not remembered: {error}", err=True)


def held_faults(ledger: Ledger, files: Sequence[Path], config_path: Path | None) -> list[Fault]:
    """Hold a ledger to kept checkpoints; one that contradicts it is kept as proof."""
    from governance_pipeline.ledger.held import hold_to
    from governance_pipeline.ledger.note import NOTE_BYTES
    from governance_pipeline.ledger.remembered import keep_conflict
    from governance_pipeline.ledger.trusted_root import trusted_root
    from governance_pipeline.strict.files import open_regular
    from governance_pipeline.trust.config import load_config

    if not files:
        return []
    config, notes = load_config(config_path), list[bytes]()
    for file in files:
        with open_regular(file) as stream:
            notes.append(stream.read(NOTE_BYTES + 1))
    held = hold_to(ledger, notes, trusted_root(config, ledger, datetime.now(UTC)))
    for note in held.contradicting:
        click.echo(f"kept as proof, and every gate is closed by it: {keep_conflict(config, note)}", err=True)
    return held.faults
