"""`govern trust`: make the trust root, add principals, look at it.

What belongs here: arguments, prompts and printing. What does not: rules; they are in `trust` and `ledger`. Passphrases
are asked for, never taken from an argument or a variable, where other processes could read them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.signing import signer_of
from governance_pipeline.cli.trust_key_source import KeySource, check_source, found_key, key_source, new_passphrase
from governance_pipeline.cli.trust_keys import log_key, prove
from governance_pipeline.cli.trust_opened import AS_JSON, CONFIG, ROOT_KEY, answer, current_root, opened

if TYPE_CHECKING:
    from governance_pipeline.trust.root import TrustRoot

ROLES = ("approver", "validator", "dismisser", "log")
KINDS = ("human", "validator", "agent", "service")


@click.group(epilog="Example: govern trust init --dir ~/governance")
def trust() -> None:
    """Who may sign: the signed list of people, validators and agents, and its key."""


@trust.command(epilog="Example: govern trust init --dir ~/governance --owner ana-root")
@click.option(
    "--dir", "folder", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR",
    help="Folder for root key, trust root and ledger; keep it away from agents.",
)  # fmt: skip
@click.option("--owner", default="root", show_default=True, help="Id of the human who owns the root key.")
@click.option("--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="Until the root expires.")
@click.option("--throwaway", is_flag=True, help="For a demo or a test: no passphrase; every decision will say so.")
@CONFIG
@AS_JSON
def init(folder: Path, owner: str, days: int, throwaway: bool, config_path: Path | None, as_json: bool) -> None:
    """Make a root key, a trust root with its owner, an empty ledger, and the configuration that pins them."""
    from governance_pipeline.ledger.root_keeping import make_root
    from governance_pipeline.trust.config import default_config_path

    passphrase = None if throwaway else new_passphrase("the root key")
    place = (default_config_path() if config_path is None else config_path).absolute()
    kept = make_root(folder.absolute(), place, owner, datetime.now(UTC), days=days, passphrase=passphrase)
    answer(kept, as_json)


@trust.command(
    epilog="\b\nExample: govern trust add ana --kind human --role approver --new-key ana.pem\n"
    "         govern trust add ben --kind human --role approver --public-key ben.pub --proof ben.proof\n"
    "         govern trust add cho --kind human --role approver --passkey\n"
    "         govern trust add coder-5 --kind agent --controller ana"
)
@click.argument("principal")
@click.option("--kind", type=click.Choice(KINDS), required=True, help="What it is; only a human fills a human slot.")
@click.option("--role", "roles", type=click.Choice(ROLES), multiple=True, help="What its signatures are good for.")
@click.option("--controller", metavar="ID", help="Who controls it; default: itself.")
@click.option("--alias", "aliases", multiple=True, help="Another name logs use for it.")
@key_source
@click.option("--days", type=click.IntRange(1, 3650), help="Until its key expires; default: with the root.")
@ROOT_KEY
@CONFIG
@AS_JSON
def add(
    principal: str,
    kind: str,
    roles: tuple[str, ...],
    controller: str | None,
    aliases: tuple[str, ...],
    days: int | None,
    root_key: Path | None,
    config_path: Path | None,
    as_json: bool,
    **source: Any,
) -> None:
    """Add PRINCIPAL to the trust root, or what is new about it, in a new version signed by the root key."""
    from governance_pipeline.ledger.root_keeping import add_principal
    from governance_pipeline.trust.principals import Kind, Principal, Role, Validity

    named = KeySource(**source)
    check_source(named)
    if roles and not named.is_named and kind != "agent":
        click.echo("no key given: the roles count for the keys it has already", err=True)
    now = datetime.now(UTC)
    current, signer = opened(config_path, root_key, now)
    ends = Validity(now, None if days is None else now + timedelta(days=days))
    found = found_key(named, principal, current, ends)
    added = Principal(principal, Kind(kind), controller or principal, frozenset(map(Role, roles)), found.keys, aliases)
    kept = add_principal(current.config, added, signer, datetime.now(UTC), key_file=found.key_file, proof=found.proof)
    answer(kept, as_json)


@trust.command(epilog="Example: govern trust revoke 3f2a91c0… --reason 'the laptop was lost'")
@click.argument("key_fingerprint", metavar="FINGERPRINT")
@click.option("--reason", required=True, help="Why; it stands in the trust root.")
@click.option("--unsigned-records-are-forged", "is_forged", is_flag=True,
              help="For a ledger of before 0.2 into which somebody wrote a version nobody made.")  # fmt: skip
@ROOT_KEY
@CONFIG
@AS_JSON
def revoke(
    key_fingerprint: str, reason: str, is_forged: bool, root_key: Path | None, config_path: Path | None, as_json: bool
) -> None:
    """Revoke the key with FINGERPRINT (its beginning is enough) from now on: nothing it signed opens a gate."""
    from governance_pipeline.ledger.root_keeping import revoke_key
    from governance_pipeline.trust.root import Revocation

    now = datetime.now(UTC)
    current, signer = opened(config_path, root_key, now, is_record_forged=is_forged)
    revocation = Revocation(_one_key(current.root, key_fingerprint), now, reason)
    answer(revoke_key(current.config, revocation, signer, now, is_record_forged=is_forged), as_json)


@trust.command(epilog="Example: govern trust renew --days 365")
@click.option("--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="Until the root expires.")
@ROOT_KEY
@CONFIG
@AS_JSON
def renew(days: int, root_key: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Sign the trust root anew with another end, before it expires."""
    from governance_pipeline.ledger.root_keeping import renew_root

    now = datetime.now(UTC)
    current, signer = opened(config_path, root_key, now)
    answer(renew_root(current.config, signer, now, days=days), as_json)


@trust.command(epilog="Example: govern trust rotate --new-key ~/governance/root-key-2.pem")
@click.option(
    "--new-key", type=click.Path(path_type=Path), required=True, metavar="FILE",
    help="Make the new root key in this file; one that holds an OpenSSH key is used as it is.",
)  # fmt: skip
@ROOT_KEY
@CONFIG
@AS_JSON
def rotate(new_key: Path, root_key: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Replace the root key: both sign the next version, this account pins the new one, then the old one is revoked.

    Every other machine that pins the old key refuses the root from then on, and says that the new one must be pinned.
    """
    from governance_pipeline.ledger.root_keeping import NewRootKey, rotate_root_key
    from governance_pipeline.trust import keys

    now = datetime.now(UTC)
    current, signer = opened(config_path, root_key, now)
    if new_key.exists():
        new = NewRootKey(signer_of(new_key, None), None)
    else:
        passphrase = None if current.root.is_throwaway else new_passphrase("the new root key")
        made = keys.new_key(passphrase)
        new = NewRootKey(keys.signer_of(made, passphrase), (new_key, made.file_bytes))
    answer(rotate_root_key(current.config, signer, new, now), as_json)


@trust.command(epilog="Example: govern trust show --json")
@CONFIG
@AS_JSON
def show(config_path: Path | None, as_json: bool) -> None:
    """Show the trust root in force: verified, not expired, and not older than one used before."""
    from governance_pipeline.trust.config import load_config

    answer(current_root(load_config(config_path), datetime.now(UTC)), as_json)


def _one_key(root: TrustRoot, beginning: str) -> str:
    """Give the fingerprint of the root's only key that begins so."""
    found = [key.fingerprint for p in root.principals for key in p.keys if key.fingerprint.startswith(beginning)]
    if len(found) != 1:
        what = "no key" if not found else f"{len(found)} keys"
        raise click.BadParameter(f"{what} of the root begin with {beginning!r}; `govern trust show` lists them")
    return found[0]


trust.add_command(prove)
trust.add_command(log_key)
