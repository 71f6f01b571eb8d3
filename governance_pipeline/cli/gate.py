"""`govern gate`: what waits for a decision, deciding, and looking at what was decided.

What belongs here: arguments, prompts and printing. What does not: rules; they are in `gate`, and what every command of
a person who signs has alike; that is in `signing`.
"""

from __future__ import annotations

import secrets
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from governance_pipeline.cli.gate_delegate import delegate
from governance_pipeline.cli.gate_elsewhere import export, import_, sign
from governance_pipeline.cli.gate_notify import notify
from governance_pipeline.cli.gate_plan import plan_backfill
from governance_pipeline.cli.gate_retry import retry
from governance_pipeline.cli.gate_serve import serve
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
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.trust.keys import Signer

REQUESTS = click.argument("requests", metavar="REQUEST...", nargs=-1, required=True)
DIGEST = click.option(
    "--digest", "digests", multiple=True, metavar="HEX",
    help="First 8 digits or more of the digest you have read, one for each request; default: ask.",
)  # fmt: skip


class Deciding(NamedTuple):
    """What a person decides: which way, why, with which key, and in whose place (None: their own)."""

    verb: str
    reason: str
    signer: Signer
    on_behalf_of: str | None


def _with(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Give a command several arguments, in the order they are listed in its help."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


BEHALF = click.option("--on-behalf-of", metavar="PRINCIPAL", help="Who let you decide in their place (see delegate).")

_deciding = _with(REQUESTS, KEY, PASSPHRASE, REASON, BEHALF, LAKE, CONFIG, AS_JSON)
_looking = _with(LAKE, CONFIG, AT, AS_JSON)


@click.group(
    epilog="\b\nExample: govern gate inbox\n\b\nExit: 4 when passage is refused or still open, with its reason code; "
    "0 when it is granted or something was only shown"
)
def gate() -> None:
    """Approve, reject and look at what waits for a person."""


@gate.command(epilog="Example: govern gate inbox --json")
@click.option("--all", "every", is_flag=True, help="Also what is decided, superseded, expired or stale.")
@_looking
def inbox(every: bool, lake: Path, config_path: Path | None, at: str | None, as_json: bool) -> None:
    """List the requests that wait for a person, oldest first."""
    from governance_pipeline.gate.answers import inbox_document
    from governance_pipeline.gate.claim_pages import listed_lines
    from governance_pipeline.gate.events import read_history

    verifier, now = _opened(config_path, lake, at)
    document = inbox_document(verifier, read_history(verifier.ledger), now, every=every)
    answer(document, listed_lines(verifier.lake, document), as_json=as_json)


@gate.command(epilog="Example: govern gate show 3f2a91c0")
@click.argument("request")
@_looking
def show(request: str, lake: Path, config_path: Path | None, at: str | None, as_json: bool) -> None:
    """Show everything a decision on REQUEST is about, and where it stands.

    REQUEST is its id, or the beginning of it.
    """
    from governance_pipeline.gate.answers import request_document
    from governance_pipeline.gate.claim_pages import shown_lines
    from governance_pipeline.gate.shown import shown

    verifier, now = _opened(config_path, lake, at)
    document = request_document(shown(verifier, request, now), verifier, now)
    answer(document, shown_lines(verifier.lake, document), as_json=as_json)


@gate.command(
    epilog="\b\nExample: govern gate approve 3f2a91c0 --reason 'read it' --key ~/keys/ana.pem\n"
    "Exit: 0 the gate is open now, 4 it is not (another approver is needed, or the decision was refused)"
)
@_deciding
@DIGEST
def approve(
    requests: tuple[str, ...],
    reason: str,
    key_path: Path,
    passphrase_file: Path | None,
    digests: tuple[str, ...],
    on_behalf_of: str | None,
    lake: Path,
    config_path: Path | None,
    as_json: bool,
) -> int:
    """Sign for exactly what is shown: every REQUEST is shown whole and confirmed by its digest."""
    if digests and not len(digests) == len(requests) == len(set(requests)):
        raise click.UsageError(f"{len(requests)} requests need as many --digest, in the same order")
    verifier, signer = open_trusted(config_path, lake, clock()), signer_of(key_path, passphrase_file)
    given = iter(digests or (None,) * len(requests))

    def confirmed(request: str) -> str:
        return _confirmed(verifier, request, next(given), quiet=as_json)

    deciding = Deciding("APPROVE", reason, signer, on_behalf_of)
    return _decide_all(verifier, requests, deciding, confirmed, as_json=as_json)


@gate.command(epilog="\b\nExample: govern gate reject 3f2a91c0 --reason 'wrong baseline' --key ~/keys/ana.pem\n"
              "Exit: 4, for passage is refused now; --json says whether the decision was recorded")  # fmt: skip
@_deciding
def reject(**given: Any) -> int:
    """Say no: nothing passes on REQUEST, whoever approves it, until you take it back or the work changes."""
    return _close("REJECT", **given)


@gate.command(epilog="\b\nExample: govern gate revoke 3f2a91c0 --reason 'saw it too late' --key ~/keys/ana.pem\n"
              "Exit: 4, for passage is refused now; --json says whether the decision was recorded")  # fmt: skip
@_deciding
def revoke(**given: Any) -> int:
    """Take approvals back: nothing more passes on REQUEST. What was published stays, and its request says REVOKED."""
    return _close("REVOKE", **given)


@gate.command(epilog="Example: govern gate log parser-0001")
@click.argument("round_", metavar="ROUND")
@_looking
def log(round_: str, lake: Path, config_path: Path | None, at: str | None, as_json: bool) -> None:
    """Show what was asked, decided and used of one round, in order."""
    from governance_pipeline.gate.answers import log_document
    from governance_pipeline.gate.events import read_history
    from governance_pipeline.gate.page import log_lines

    verifier, now = _opened(config_path, lake, at)
    document = log_document(verifier, read_history(verifier.ledger), round_, now)
    answer(document, log_lines(document), as_json=as_json)


@gate.command(epilog="\b\nExample: govern gate verify 3f2a91c0 --asset published_features\n"
              "Exit: 0 passage would be granted, 4 refused, with its reason code")  # fmt: skip
@click.argument("request", required=False)
@click.option("--asset", metavar="NAME", help="Ask for this gated asset: also whether it was used already.")
@click.option("--envelope", "envelope", type=click.Path(path_type=Path), metavar="FILE",
              help="Judge this signed decision instead of those recorded.")  # fmt: skip
@_looking
def verify(
    request: str | None, asset: str | None, envelope: Path | None, lake: Path, config_path: Path | None,
    at: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Ask every question the gate asks of REQUEST, without using anything.

    Without REQUEST: was the ledger touched, and has every published file passed the gate.
    """
    from governance_pipeline.gate.answers import published_document, verification_document
    from governance_pipeline.gate.checking import check_request
    from governance_pipeline.gate.page import published_lines, verification_line

    verifier, now = _opened(config_path, lake, at)
    if request is None:
        document = published_document(verifier)
        answer(document, published_lines(document), as_json=as_json)
        return ExitCode.CLEAN if document["code"] is None else ExitCode.REFUSED
    checked = check_request(verifier, request, now, asset=asset, envelope=envelope)
    document = verification_document(verifier, checked.request, asset, checked.refusal, checked.dropped)
    answer(document, [verification_line(document)], as_json=as_json)
    return ExitCode.CLEAN if document["granted"] else ExitCode.REFUSED


def _close(
    verb: str,
    requests: tuple[str, ...],
    reason: str,
    key_path: Path,
    passphrase_file: Path | None,
    on_behalf_of: str | None,
    lake: Path,
    config_path: Path | None,
    as_json: bool,
) -> int:
    """Record a rejection or revocation: nothing is shown first, because closing needs no careful reading."""
    verifier, signer = open_trusted(config_path, lake, clock()), signer_of(key_path, passphrase_file)
    deciding = Deciding(verb, reason, signer, on_behalf_of)
    return _decide_all(verifier, requests, deciding, lambda _: None, as_json=as_json)


def _decide_all(
    verifier: Verifier,
    requests: tuple[str, ...],
    deciding: Deciding,
    confirmed: Callable[[str], str | None],
    *,
    as_json: bool,
) -> int:
    from governance_pipeline.gate.answers import results_document
    from governance_pipeline.gate.bulk import clock_warning, decide_each
    from governance_pipeline.gate.decision import Verb
    from governance_pipeline.gate.page import head_line, result_line

    if (warning := clock_warning(verifier.ledger, clock())) is not None:
        click.echo(warning, err=True)
    results = decide_each(
        verifier, requests, Verb(deciding.verb), deciding.reason, deciding.signer, confirmed=confirmed, clock=clock,
        nonces=lambda: secrets.token_hex(16), on_behalf_of=deciding.on_behalf_of,
    )  # fmt: skip
    document = results_document(verifier, results)
    answer(document, [*map(result_line, results), head_line(document)], as_json=as_json)
    is_granted = all(entry["recorded"] and entry["code"] is None for entry in results)
    return ExitCode.CLEAN if is_granted else ExitCode.REFUSED


def _confirmed(verifier: Verifier, request: str, given: str | None, *, quiet: bool) -> str:
    """Show a request and have its digest confirmed; gives the digest of the text that was shown."""
    from governance_pipeline.gate.display import CONFIRM_CHARACTERS, is_confirmed
    from governance_pipeline.gate.shown import shown
    from governance_pipeline.trust.reasons import ReasonCode, Refusal

    view = shown(verifier, request, clock())
    click.echo(view.text, nl=False, err=quiet)
    if given is None:
        given = str(click.prompt(f"First {CONFIRM_CHARACTERS} digits of the digest", err=True))
    if not is_confirmed(given, view.standing.request.subject_sha256):
        digits = f"type {CONFIRM_CHARACTERS} digits of it"
        message = f"{given!r} is not the beginning of the digest that was shown; read it, then {digits}"
        raise Refusal(ReasonCode.DIGEST_MISMATCH, message)
    return view.display_sha256


def _opened(config_path: Path | None, lake: Path, at: str | None) -> tuple[Verifier, datetime]:
    now = instant(at)
    return open_trusted(config_path, lake, now), now


gate.add_command(delegate)
gate.add_command(notify)
gate.add_command(export)
gate.add_command(import_)
gate.add_command(plan_backfill)
gate.add_command(retry)
gate.add_command(serve)
gate.add_command(sign)
