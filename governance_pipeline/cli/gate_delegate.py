"""`govern gate delegate`: let another person decide one request in your place, or take that back.

What belongs here: arguments and printing. What does not: rules; they are in `gate.delegating` and `gate.delegations`.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.signing import (
    AS_JSON,
    CONFIG,
    KEY,
    LAKE,
    PASSPHRASE,
    REASON,
    answer,
    clock,
    open_trusted,
    signer_of,
)

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    epilog="\b\nExample: govern gate delegate 3f2a91c0 --to ben --reason 'away until Monday' --key ~/keys/ana.pem\n"
    "Exit: 0 it is recorded, 4 it was refused, with its reason code"
)
@click.argument("request")
@click.option("--to", "delegate", required=True, metavar="PRINCIPAL", help="Who may decide: an approver of the root.")
@click.option("--hours", type=click.IntRange(1, 72), help="Until when; default: as long as the request waits.")
@click.option("--withdraw", is_flag=True, help="Take it back: what PRINCIPAL decided by it does not count any more.")
@KEY
@PASSPHRASE
@REASON
@LAKE
@CONFIG
@AS_JSON
def delegate(
    request: str,
    delegate: str,
    hours: int | None,
    withdraw: bool,
    key_path: Path,
    passphrase_file: Path | None,
    reason: str,
    lake: Path,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Let PRINCIPAL decide REQUEST in your place; they sign with --on-behalf-of, and both names are kept.

    Neither of you may have a part in the round, and both of you count as one approver.
    """
    from governance_pipeline.gate import delegating
    from governance_pipeline.gate.delegation_answers import delegation_document, delegation_line

    verifier, signer = open_trusted(config_path, lake, clock()), signer_of(key_path, passphrase_file)
    record = delegating.withdraw if withdraw else delegating.delegate
    wish = delegating.Wish(request, delegate, reason, hours)
    event = record(verifier, wish, signer, now=clock(), nonce=secrets.token_hex(16))
    document = delegation_document(verifier, event)
    answer(document, [delegation_line(document)], as_json=as_json)
