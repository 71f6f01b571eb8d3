"""`govern verdict dismiss`: a person says that a finding shall not count, and signs it.

What belongs here: arguments, prompts and printing. What does not: rules; they are in `gate.dismissals`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    from datetime import date
    from pathlib import Path

    from governance_pipeline.gate.dismissals import Recorded
    from governance_pipeline.gate.passage import Verifier

SCHEMA = "govern/finding-dismissal/v1"


@click.command(
    epilog="\b\nExample: govern verdict dismiss 1f3a90c4d2b7 --reason 'the log counts a retry twice' --key eva.pem\n"
    "Exit: 0, 2 no such finding or a reason too short, 4 it would not count"
)
@click.argument("finding", metavar="FINDING")
@click.option("--until", metavar="DATE", help="Last day, in UTC, on which it counts (2026-12-31); default: no end.")
@click.option("--digest", metavar="HEX", help="First 8 digits or more of the digest you have read; default: ask.")
@KEY
@PASSPHRASE
@REASON
@LAKE
@CONFIG
@AS_JSON
def dismiss(
    finding: str,
    until: str | None,
    digest: str | None,
    key_path: Path,
    passphrase_file: Path | None,
    reason: str,
    lake: Path,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Dismiss FINDING, which is shown whole first.

    It stays in every output with your name and reason, and counts no more. Needs the role dismisser; nobody who made or
    requested the round can.

    The verdict is another one when its tables are made again; the gate is then asked anew.
    """
    from governance_pipeline.gate.dismissals import dismiss as record

    last_day = _day(until)
    verifier = open_trusted(config_path, lake, clock())
    seen = _confirmed(verifier, finding, digest, quiet=as_json)
    signer = signer_of(key_path, passphrase_file)
    recorded = record(verifier, finding, reason, last_day, signer, clock=clock, seen_sha256=seen)
    document = _document(recorded, reason, last_day)
    line = f"recorded as event {document['ledger_seq']}; make the verdict of {document['round_id']} again to see it"
    answer(document, [line], as_json=as_json)


def _day(until: str | None) -> date | None:
    from governance_pipeline.trust.dismissal_statement import read_date

    if until is None:
        return None
    try:
        return read_date(until)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--until") from None


def _confirmed(verifier: Verifier, finding: str, given: str | None, *, quiet: bool) -> str:
    """Show a finding, have its digest confirmed, and give the digest."""
    from governance_pipeline.gate.dismissals import find_finding
    from governance_pipeline.gate.display import CONFIRM_CHARACTERS, is_confirmed
    from governance_pipeline.strict.excerpt import escape_unprintable
    from governance_pipeline.trust.reasons import ReasonCode, Refusal
    from governance_pipeline.verdict.dismissals import ref_of
    from governance_pipeline.verdict.document import finding_entry

    row = find_finding(verifier.lake, finding)
    entry, sha256 = finding_entry(row), ref_of(row).sha256
    names = ("finding_id", "code", "class", "severity", "decision", "reason", "message")
    lines = [f"round: {row['round_id']}", *(f"{name}: {entry[name]}" for name in names)]
    lines += [f"  {name}: {value}" for name, value in entry["factors"].items()]
    lines += [f"evidence: {entry['evidence'] or 'none'}", f"digest: {sha256}"]
    for line in lines:
        click.echo(escape_unprintable(line), err=quiet)
    if given is None:
        given = str(click.prompt(f"First {CONFIRM_CHARACTERS} digits of the digest", err=True))
    if not is_confirmed(given, sha256):
        message = f"{given!r} is not the beginning of the digest that was shown; read it, then type 8 digits of it"
        raise Refusal(ReasonCode.DIGEST_MISMATCH, message)
    return sha256


def _document(recorded: Recorded, reason: str, until: date | None) -> dict[str, Any]:
    from governance_pipeline.trust.instants import instant_text

    event, finding = recorded
    return {
        "schema": SCHEMA,
        "round_id": finding["round_id"],
        "finding_id": finding["finding_id"],
        "code": finding["code"],
        "decision": finding["dismissed_decision"] or finding["decision"],
        "by": event.actor,
        "reason": reason,
        "until": None if until is None else until.isoformat(),
        "at": instant_text(event.ts),
        "ledger_seq": event.seq,
    }
