"""Where the key of a principal comes from: a file that was brought along, a new file, or a passkey made in a browser.

What belongs here: options and finding what they name. What does not: the command that adds it (`trust`), and rules.
"""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from governance_pipeline.cli.trust_passkey import made_passkey
from governance_pipeline.gate.inbox.site import DEFAULT_PORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from governance_pipeline.ledger.root_keeping import Kept
    from governance_pipeline.trust.principals import Key, Validity

_OPTIONS = (
    click.option("--public-key", type=click.Path(path_type=Path), metavar="FILE",
                 help="Its key: PEM, OpenSSH or Base64."),
    click.option("--proof", type=click.Path(path_type=Path), metavar="FILE",
                 help="What its owner made with `govern trust prove`; a key that is brought along needs it."),
    click.option("--new-key", type=click.Path(path_type=Path), metavar="FILE", help="Make a key for it in this file."),
    click.option("--passkey", "has_passkey", is_flag=True,
                 help="Make a passkey for it in a browser; it signs in the inbox of `govern gate serve`."),
    click.option("--port", type=click.IntRange(1024, 65535), default=DEFAULT_PORT, show_default=True,
                 help="Port of the inbox the passkey is for."),
)  # fmt: skip


class KeySource(NamedTuple):
    """What the options name."""

    public_key: Path | None
    proof: Path | None
    new_key: Path | None
    has_passkey: bool
    port: int

    @property
    def is_named(self) -> bool:
        """Tell whether a key is named at all."""
        return self.has_passkey or self.public_key is not None or self.new_key is not None


class FoundKey(NamedTuple):
    """Keys to add (one, or none), place and content of a new key file, and the proof that the key is held."""

    keys: tuple[Key, ...] = ()
    key_file: tuple[Path, bytes] | None = None
    proof: bytes | None = None


def key_source(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a key."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


def check_source(source: KeySource) -> None:
    """Refuse options that do not fit together.

    Raises:
        click.UsageError: says which.
    """
    if sum((source.public_key is not None, source.new_key is not None, source.has_passkey)) > 1:
        raise click.UsageError("--public-key, --new-key and --passkey are ways to the same key; give one of them")
    if (source.public_key is None) is not (source.proof is None):
        raise click.UsageError("a key that is brought along needs --public-key and the --proof of its owner that it is "
                               "held: `govern trust prove` makes it")  # fmt: skip


def found_key(source: KeySource, principal: str, current: Kept, ends: Validity) -> FoundKey:
    """Read, make or have made the key the options name.

    Args:
        source: the options.
        principal: whose key it is.
        current: the trust root in force.
        ends: when the key counts.

    Raises:
        GovernError: it cannot be read or made.
        click.Abort: nobody made the passkey.
    """
    from governance_pipeline.trust import keys
    from governance_pipeline.trust.principals import Key

    if source.has_passkey:
        made = made_passkey(principal, current, source.port)
        return FoundKey((Key(made.public_key, ends, passkey=made.passkey),), proof=made.proof)
    if source.public_key is not None and source.proof is not None:
        public_key, application = _public_key(source.public_key)
        return FoundKey((Key(public_key, ends, application),), proof=_bytes_of(source.proof))
    if source.new_key is not None:
        new = keys.new_key(None if current.root.is_throwaway else new_passphrase("the new key"))
        return FoundKey((Key(new.public_key, ends),), (source.new_key, new.file_bytes))
    return FoundKey()


def new_passphrase(what: str) -> bytes:
    """Ask for a new passphrase, twice."""
    answer = click.prompt(f"Passphrase for {what}", hide_input=True, confirmation_prompt=True, err=True)
    return str(answer).encode()


def _public_key(path: Path) -> tuple[bytes, str | None]:
    from governance_pipeline.strict.files import open_regular
    from governance_pipeline.trust import keys
    from governance_pipeline.trust.ssh_signer import is_ssh_key, read_ssh_public_key

    with open_regular(path) as stream:
        is_ssh = is_ssh_key(stream.read(keys.KEY_FILE_BYTES))
    return read_ssh_public_key(path) if is_ssh else (keys.read_public_key(path), None)


def _bytes_of(path: Path) -> bytes:
    from governance_pipeline.strict.files import open_regular
    from governance_pipeline.trust.dsse import ENVELOPE_BYTES

    with open_regular(path) as stream:
        return stream.read(ENVELOPE_BYTES + 1).strip()
