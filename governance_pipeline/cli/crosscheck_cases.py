"""`govern crosscheck cases`: what was escalated to a person, and what they say about it.

What belongs here: arguments, prompts and printing. What does not: rules; they are in `gate.cases` and
`gate.case_deciding`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.signing import (
    AS_JSON,
    AT,
    CONFIG,
    KEY,
    LAKE,
    PASSPHRASE,
    REASON,
    answer,
    clock,
    instant,
    open_trusted,
    signer_of,
)
from governance_pipeline.cli.waiting import waiting

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.gate.cases import CaseStanding
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.trust.case_statement import Outcome

OUTCOMES = ["source_wrong", "computation_wrong", "data_conflict", "accepted"]
CASE = click.argument("case_id", metavar="CASE")
ROUND = click.option("--round", "round_id", metavar="ROUND", help="Its round, where the same case is in two.")


@click.group(
    epilog="\b\nExample: govern crosscheck cases list\nExit: 0, 2 no such case or a reason the policy refuses, "
    "4 the statement would not count"
)
def cases() -> None:
    """List what was escalated to a person, acknowledge and resolve it.

    A resolution is signed. It changes no value and no flag.
    """


@cases.command("list", epilog="Example: govern crosscheck cases list --overdue")
@click.option("--round", "round_ids", multiple=True, metavar="ROUND", help="Only cases of this round; may be repeated.")
@click.option("--state", type=click.Choice(["open", "acknowledged", "resolved"]), help="Only cases in this state.")
@click.option("--owner", metavar="NAME", help="Only cases this person holds, or, if nobody does, is asked to look at.")
@click.option("--overdue", "is_overdue", is_flag=True, help="Only cases older than the escalation policy allows.")
@click.option("--all", "every", is_flag=True, help="Also what is resolved.")
@LAKE
@CONFIG
@AT
@AS_JSON
def list_cases(
    round_ids: tuple[str, ...],
    state: str | None,
    owner: str | None,
    is_overdue: bool,
    every: bool,
    lake: Path,
    config_path: Path | None,
    at: str | None,
    as_json: bool,
) -> None:
    """List the cases nobody has resolved, oldest first, with both values of each."""
    from governance_pipeline.gate.case_page import cases_document, cases_lines, is_listed
    from governance_pipeline.gate.cases import Cases

    now = instant(at)
    with waiting("reading cases", quiet=as_json):
        found = Cases(open_trusted(config_path, lake, now), now)
        listed = [s for s in found.standings(round_ids or None) if is_listed(s, state, owner, every=every)]
    document = cases_document(found, [s for s in listed if s.is_overdue or not is_overdue])
    answer(document, cases_lines(document), as_json=as_json)


@cases.command(epilog="Example: govern crosscheck cases show case-3f2a91c0")
@CASE
@ROUND
@LAKE
@CONFIG
@AT
@AS_JSON
def show(
    case_id: str, round_id: str | None, lake: Path, config_path: Path | None, at: str | None, as_json: bool
) -> None:
    """Show CASE: both values, delta, epsilon with its reason, the formula, and where in the log the number stands.

    CASE is its id, or the beginning of it.
    """
    from governance_pipeline.gate.case_deciding import find_case
    from governance_pipeline.gate.case_page import case_document, case_lines
    from governance_pipeline.gate.cases import Cases

    now = instant(at)
    found = Cases(open_trusted(config_path, lake, now), now)
    document = case_document(found, find_case(found, case_id, round_id))
    answer(document, case_lines(document), as_json=as_json)


@cases.command(
    epilog="Example: govern crosscheck cases acknowledge case-3f2a91c0 --reason 'asking the vendor' --key ana.pem"
)
@CASE
@ROUND
@KEY
@PASSPHRASE
@REASON
@LAKE
@CONFIG
@AS_JSON
def acknowledge(
    case_id: str,
    round_id: str | None,
    key_path: Path,
    passphrase_file: Path | None,
    reason: str,
    lake: Path,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Say that you look after CASE; it stays to be resolved."""
    verifier = open_trusted(config_path, lake, clock())
    _record(verifier, (case_id, round_id), reason, (key_path, passphrase_file), None, None, as_json=as_json)


@cases.command(
    epilog="\b\nExample: govern crosscheck cases resolve case-3f2a91c0 --as source_wrong "
    "--reason 'the log counts a retry twice' --key ana.pem"
)
@CASE
@click.option("--as", "outcome", type=click.Choice(OUTCOMES), required=True, help="What you found; it is signed.")
@click.option("--digest", metavar="HEX", help="First 8 digits or more of the digest you have read; default: ask.")
@ROUND
@KEY
@PASSPHRASE
@REASON
@LAKE
@CONFIG
@AS_JSON
def resolve(
    case_id: str,
    outcome: str,
    digest: str | None,
    round_id: str | None,
    key_path: Path,
    passphrase_file: Path | None,
    reason: str,
    lake: Path,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Sign what you found about CASE, which is shown whole first. Nobody who made the round can.

    Values and flag stay as they are: the gate may be asked again, that is all.
    """
    from governance_pipeline.trust.case_statement import Outcome

    verifier = open_trusted(config_path, lake, clock())
    shown = _confirmed(verifier, case_id, round_id, digest, quiet=as_json)
    named = (shown.case.case_id, shown.case.round_id)
    seen, key = shown.case.sha256, (key_path, passphrase_file)
    _record(verifier, named, reason, key, Outcome(outcome), seen, as_json=as_json)


def _confirmed(
    verifier: Verifier, case_id: str, round_id: str | None, given: str | None, *, quiet: bool
) -> CaseStanding:
    """Show a case and have its digest confirmed."""
    from governance_pipeline.gate.case_deciding import find_case
    from governance_pipeline.gate.case_page import case_document, case_lines
    from governance_pipeline.gate.cases import Cases
    from governance_pipeline.gate.display import CONFIRM_CHARACTERS, is_confirmed
    from governance_pipeline.strict.excerpt import escape_unprintable
    from governance_pipeline.trust.reasons import ReasonCode, Refusal

    found = Cases(verifier, clock())
    standing = find_case(found, case_id, round_id)
    for line in case_lines(case_document(found, standing)):
        click.echo(escape_unprintable(line), err=quiet)
    if given is None:
        given = str(click.prompt(f"First {CONFIRM_CHARACTERS} digits of the digest", err=True))
    if not is_confirmed(given, standing.case.sha256):
        message = f"{given!r} is not the beginning of the digest that was shown; read it, then type 8 digits of it"
        raise Refusal(ReasonCode.DIGEST_MISMATCH, message)
    return standing


def _record(
    verifier: Verifier,
    named: tuple[str, str | None],
    reason: str,
    key: tuple[Path, Path | None],
    outcome: Outcome | None,
    seen_sha256: str | None,
    *,
    as_json: bool,
) -> None:
    from governance_pipeline.gate.case_deciding import state_case
    from governance_pipeline.gate.case_page import result_document, result_line
    from governance_pipeline.gate.cases import Cases

    recorded = state_case(verifier, *named, reason, signer_of(*key), outcome, clock=clock, seen_sha256=seen_sha256)
    document = result_document(Cases(verifier, clock()), recorded)
    answer(document, [result_line(document)], as_json=as_json)
