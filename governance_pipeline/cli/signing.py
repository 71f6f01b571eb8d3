"""What commands of people who sign have alike: what is trusted, the key, the time, and how an answer is printed.

What belongs here: options and opening what they name. What does not: the commands, and any rule. Keys are files named
on the command line, passphrases are asked for or read from a file, never from an argument or a variable, where other
processes could read them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.report.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.trust.keys import Signer

LAKE = click.option(
    "--lake", type=click.Path(file_okay=False, path_type=Path), default=Path("lake"), show_default=True,
    envvar="GOVERN_LAKE", help="Root of the stored tables.",
)  # fmt: skip
CONFIG = click.option(
    "--config", "config_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="What this verifier trusts; default: gate.toml of this account.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
AT = click.option("--at", metavar="INSTANT", help="Judge as of this instant (2026-11-30T12:00:00Z); default: now.")
REASON = click.option("--reason", prompt="Reason", prompt_required=True, help="Why, in words; it is signed.")
KEY = click.option("--key", "key_path", type=click.Path(path_type=Path), required=True, metavar="FILE",
                   help="Your key file, or a key of OpenSSH (its .pub for one in an agent).")  # fmt: skip
PASSPHRASE = click.option(
    "--passphrase-file", type=click.Path(path_type=Path), metavar="FILE",
    help="File whose first line opens the key; default: ask.",
)  # fmt: skip


def open_trusted(config_path: Path | None, lake: Path, now: datetime) -> Verifier:
    """Open what is trusted, and say on stderr what that can prevent.

    Raises:
        As `gate.passage.open_verifier`.
    """
    from governance_pipeline.gate.decision import TIER_MEANS
    from governance_pipeline.gate.passage import open_verifier
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.config import load_config

    config = load_config(config_path)
    verifier = open_verifier(config, Ledger(config.ledger), Lake(lake), now)
    mark = "; THROW-AWAY trust root, for a demo or a test" if verifier.root.is_throwaway else ""
    click.echo(f"trust tier {TIER_MEANS}{mark}", err=True)
    return verifier


def signer_of(key_path: Path, passphrase_file: Path | None) -> Signer:
    """Open a key: a key file, whose passphrase is asked for unless a file gives it, or a key OpenSSH holds."""
    from governance_pipeline.strict.files import open_regular
    from governance_pipeline.trust.keys import KEY_FILE_BYTES, is_encrypted_key, load_signer, read_passphrase
    from governance_pipeline.trust.ssh_signer import is_ssh_key, ssh_signer

    with open_regular(key_path) as stream:
        data = stream.read(KEY_FILE_BYTES)
    if is_ssh_key(data):
        return ssh_signer(key_path)

    if not is_encrypted_key(key_path):
        return load_signer(key_path, None)
    if passphrase_file is None:
        return load_signer(key_path, str(click.prompt(f"Passphrase of {key_path}", hide_input=True, err=True)).encode())
    return load_signer(key_path, read_passphrase(passphrase_file))


def clock() -> datetime:
    """Give the time of this machine."""
    return datetime.now(UTC)


def instant(at: str | None) -> datetime:
    """Read an instant from the command line; None means now.

    Raises:
        click.BadParameter: it is none.
    """
    from governance_pipeline.trust.instants import instant_of

    if at is None:
        return clock()
    try:
        return instant_of(at)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--at") from None


def answer(document: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print a document as JSON, or lines; no character of a line steers the terminal."""
    from governance_pipeline.strict.excerpt import escape_unprintable

    if as_json:
        click.echo(json_text(document))
        return
    for line in lines:
        click.echo(escape_unprintable(line))
