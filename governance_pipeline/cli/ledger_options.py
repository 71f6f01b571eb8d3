"""Options every `govern ledger` command has: which ledger, and heads that were kept elsewhere.

What belongs here: options and what they mean. What does not: commands.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from governance_pipeline.errors import UnreadableError
from governance_pipeline.ledger.head import Head

CONFIG = click.option(
    "--config", "config_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Configuration that names the ledger; default: gate.toml of this account.",
)  # fmt: skip
LEDGER = click.option(
    "--ledger", "ledger_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="The ledger itself, where there is no configuration.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")

_DIGITS = 15
_HEAD = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})", re.ASCII)


def path_of(config_path: Path | None, ledger_path: Path | None) -> Path:
    """Return the file of the ledger the options name; by default that of this account's configuration."""
    from governance_pipeline.trust.config import load_config

    if ledger_path is not None and config_path is not None:
        raise click.UsageError("--config and --ledger name the same thing; give one of them")
    return load_config(config_path).ledger if ledger_path is None else ledger_path


def head_of(text: str) -> Head:
    """Read a head a person kept: size, colon, root."""
    match = _HEAD.fullmatch(text)
    if match is None:
        raise click.BadParameter(f"{text!r} is no head; write the size, a colon and 64 hex digits", param_hint="--head")
    return Head(int(match[1]), match[2])


def state_of(text: str) -> tuple[int, Head | None]:
    """Read a state of a ledger: its size, or the file of a checkpoint, whose root is then known too.

    Raises:
        click.BadParameter: neither.
        UnreadableError: the file holds no checkpoint.
    """
    if text.isascii() and text.isdigit() and 0 < len(text) <= _DIGITS and int(text):
        return int(text), None
    head = head_in(Path(text))
    return head.size, head


def head_in(file: Path, verifier_key: str | None = None) -> Head:
    """Read the head of a checkpoint in a file, which the holder of a verifier key signed, if one is given.

    Raises:
        UnreadableError: there is no checkpoint, the key is none, or it did not sign it.
    """
    from governance_pipeline.ledger.checkpoint import read_checkpoint
    from governance_pipeline.ledger.note import NOTE_BYTES, is_note_by, parse_note, read_verifier_key
    from governance_pipeline.strict.files import open_regular

    with open_regular(file) as stream:
        note = parse_note(stream.read(NOTE_BYTES + 1))
    if verifier_key is not None and not is_note_by(note, *read_verifier_key(verifier_key)):
        raise UnreadableError(f"the key {verifier_key[:80]!r} did not sign the checkpoint in {file}")
    return read_checkpoint(note.text).head
