"""`govern trust prove|log-key`: keys other than those of the root.

What belongs here: arguments and printing. What does not: rules; they are in `trust` and `ledger`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import click

from governance_pipeline.cli.signing import signer_of
from governance_pipeline.cli.trust_opened import AS_JSON, CONFIG, ROOT_KEY, answer, opened
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import SHA256_PATTERN


@click.command(epilog="Example: govern trust prove ben --root 3f2a91c0… --key ~/.ssh/id_ed25519 > ben.proof")
@click.argument("principal")
@click.option("--root", "root_fingerprint", required=True, metavar="FINGERPRINT",
              help="Of the root key, all 64 digits, as its owner told you.")  # fmt: skip
@click.option("--key", "key_path", type=click.Path(path_type=Path), required=True, metavar="FILE",
              help="Your key file, or a key of OpenSSH.")  # fmt: skip
@click.option("--passphrase-file", type=click.Path(path_type=Path), metavar="FILE",
              help="File whose first line opens the key; default: ask.")  # fmt: skip
@AS_JSON
def prove(principal: str, root_fingerprint: str, key_path: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Sign that you hold a key, so that it can be added as PRINCIPAL to the trust root with this root key.

    Needs no configuration: it runs wherever the key is.
    """
    from governance_pipeline.trust.keys import fingerprint
    from governance_pipeline.trust.possession import prove_possession

    if re.fullmatch(SHA256_PATTERN, root_fingerprint, re.ASCII) is None:
        raise click.BadParameter("it has 64 lower-case hex digits; `govern trust show` prints it", param_hint="--root")
    signer = signer_of(key_path, passphrase_file)
    proof = prove_possession(principal, root_fingerprint, signer).decode()
    document = {
        "schema": "govern/trust-proof/v1",
        "principal": principal,
        "root_fingerprint": root_fingerprint,
        "key_fingerprint": fingerprint(signer.public_key),
        "envelope": proof,
    }
    click.echo(json_text(document) if as_json else proof)


@click.command("log-key", epilog="Example: govern trust log-key --new-key ~/governance/log-key.pem")
@click.option("--new-key", type=click.Path(path_type=Path), required=True, metavar="FILE",
              help="New file, on the machine that records decisions; nobody types a passphrase there.")  # fmt: skip
@ROOT_KEY
@CONFIG
@AS_JSON
def log_key(new_key: Path, root_key: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Give a ledger that has none a key that signs its checkpoints, or another key.

    What was decided before stays valid; from now on every decision is sealed by a signed checkpoint.
    """
    from governance_pipeline.ledger.log_keeping import add_log_key

    now = datetime.now(UTC)
    current, signer = opened(config_path, root_key, now)
    answer(add_log_key(current.config, new_key.absolute(), signer, now), as_json)
