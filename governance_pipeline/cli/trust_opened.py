"""What the `govern trust` commands have alike: options, opening the root in force, and how it is printed.

What belongs here: that. What does not: commands, and rules.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.signing import signer_of
from governance_pipeline.report.json_text import json_text

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.ledger.root_keeping import Kept
    from governance_pipeline.trust.keys import Signer

CONFIG = click.option(
    "--config", "config_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Configuration that pins the root; default: gate.toml of this account.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
ROOT_KEY = click.option(
    "--root-key", type=click.Path(path_type=Path), metavar="FILE", help="Default: root-key.pem by the root."
)


def current_root(config: Any, now: datetime, *, is_record_forged: bool = False) -> Kept:
    """Read the trust root a configuration names; raises as `ledger.trusted_root.trusted_root`."""
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.ledger.root_keeping import Kept
    from governance_pipeline.ledger.trusted_root import trusted_root

    root = trusted_root(config, Ledger(config.ledger), now, is_record_forged=is_record_forged)
    return Kept(config, root)


def opened(
    config_path: Path | None, root_key: Path | None, now: datetime, *, is_record_forged: bool = False
) -> tuple[Kept, Signer]:
    """Open the trust root in force and its key.

    Raises:
        As `ledger.trusted_root.trusted_root` and `signing.signer_of`.
    """
    from governance_pipeline.ledger.root_keeping import KEY_FILE
    from governance_pipeline.trust.config import load_config

    current = current_root(load_config(config_path), now, is_record_forged=is_record_forged)
    path = current.config.root.parent / KEY_FILE if root_key is None else root_key
    return current, signer_of(path, None)


def answer(kept: Kept, as_json: bool) -> None:
    """Print a trust root, as JSON or as lines."""
    from governance_pipeline.strict.excerpt import escape_unprintable
    from governance_pipeline.trust.documents import trust_document

    document = trust_document(kept.config, kept.root)
    if as_json:
        click.echo(json_text(document))
        return
    for line in _lines(document):
        click.echo(escape_unprintable(line))


def _lines(document: dict[str, Any]) -> list[str]:
    mark = "  THROW-AWAY: every decision made with it says so" if document["is_throwaway"] else ""
    lines = [
        f"version     {document['version']}, until {document['expires']}{mark}",
        f"root        {document['root']}",
        f"root key    {document['root_fingerprint']}",
        f"ledger      {document['ledger']}",
        f"config      {document['config']}",
    ]
    for principal in document["principals"]:
        names = ", ".join([principal["id"], *principal["aliases"]])
        control = "" if principal["controller"] == principal["id"] else f", controlled by {principal['controller']}"
        lines.append(f"{principal['kind']:<11} {names}: {', '.join(principal['roles']) or 'no role'}{control}")
        for key in principal["keys"]:
            end = f" until {key['expires']}" if key["expires"] else ""
            revoked = f" REVOKED {key['revoked_at']}" if key["revoked_at"] else ""
            held = " in an authenticator" if key["application"] else ""
            held = f" passkey of {key['passkey']['origin']}" if key["passkey"] else held
            lines.append(f"  key       {key['fingerprint']}{held}{end}{revoked}")
    return lines
