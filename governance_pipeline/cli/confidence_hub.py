"""`govern confidence hub …`: take part in a public hub, or not; nothing is sent before somebody registers.

What belongs here: arguments, the warning before a registration, and printing. What does not: rules; they are in
`confidence.hub`. A key is asked for without echo or read from a file, never taken from an argument, where other
processes and the shell's history could read it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.confidence_options import FOLDER, open_store, say
from governance_pipeline.cli.signing import AS_JSON, clock
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.confidence.hub.hub_file import HubPlace
    from governance_pipeline.confidence.hub.hub_sync import HubSync

WARNING = """\
Registering sends this runtime to a PUBLIC hub: a public leaderboard will show its scores to everybody.
From then on each accepted event is sent: domain, type, severity, pattern, quadrant, trigger, session id, time and
version, nothing else. Notes, contexts, evidence and the text of any conversation never leave this machine.
The hub starts from zero. Importing history recorded before is blocked here, and can get the account BANNED."""

_EMAIL = click.option("--email", required=True, metavar="ADDRESS", help="Your address; it is sent to the hub only.")
_EXIT = "Exit: 0, 2 not allowed as things stand, 3 the hub gave no usable answer"


@click.group(epilog="\b\nExample: govern confidence hub status")
def hub() -> None:
    """Send events to a public hub, after an explicit registration; scores never depend on it."""


@hub.command(
    epilog="\b\nExample: govern confidence hub register --url https://hub.example --runtime claude-code/opus-4-6/high\n"
    + _EXIT
)
@click.option("--url", required=True, metavar="URL", help="Address of the hub: https://HOST.")
@click.option("--runtime", metavar="P/M/T", help="platform/model/thinking; default: the only one registered.")
@click.option("--yes", is_flag=True, help="Do not ask; you have read that a public leaderboard shows the scores.")
@FOLDER
@AS_JSON
def register(url: str, runtime: str | None, yes: bool, folder: Path, as_json: bool) -> None:
    """Register a runtime: a public leaderboard shows its scores, and importing history can get the account banned."""
    from governance_pipeline.confidence.hub.hub_sync import current
    from governance_pipeline.confidence.hub.registering import register as register_at
    from governance_pipeline.confidence.hub.states import HubStatus, require

    require(current(_place(folder)).status, {HubStatus.UNREGISTERED}, "registering")
    name = runtime or _only_runtime(folder)
    click.echo(WARNING, err=True)
    if not yes:
        click.confirm(f"Register {name} at {url}?", abort=True, err=True)
    _say_registration(register_at(_place(folder), url, name, clock()), as_json=as_json)


@hub.command(epilog=f"\b\nExample: govern confidence hub verify --email kim@example.org --name 'kim and ada'\n{_EXIT}")
@_EMAIL
@click.option("--name", required=True, metavar="TEXT", help="Name the public leaderboard shows.")
@FOLDER
@AS_JSON
def verify(email: str, name: str, folder: Path, as_json: bool) -> None:
    """Give the open registration an address; the hub writes to it, and you set a password there."""
    from governance_pipeline.confidence.hub.registering import verify as verify_at

    _say_registration(verify_at(_place(folder), email, name, clock()), as_json=as_json)


@hub.command(epilog=f"\b\nExample: govern confidence hub resend --email kim@example.org\n{_EXIT}")
@_EMAIL
@FOLDER
@AS_JSON
def resend(email: str, folder: Path, as_json: bool) -> None:
    """Ask for the e-mail again, three times an hour at most."""
    from governance_pipeline.confidence.hub.registering import resend as resend_at

    _say_registration(resend_at(_place(folder), email, clock()), as_json=as_json)


@hub.command(epilog=f"\b\nExample: govern confidence hub key --key-file key.txt\n{_EXIT}")
@click.option("--key-file", type=click.File("r", encoding="ascii", errors="replace"), metavar="FILE",
              help="File that holds the key, - for stdin; default: ask.")  # fmt: skip
@click.option("--url", metavar="URL", help="Address of the hub, where this place does not know it.")
@click.option("--runtime", metavar="P/M/T", help="platform/model/thinking of the key, likewise.")
@click.option("--runtime-id", metavar="ID", help="The hub's name of the runtime, likewise.")
@FOLDER
@AS_JSON
def key(
    key_file: Any, url: str | None, runtime: str | None, runtime_id: str | None, folder: Path, as_json: bool
) -> None:
    """Enter an API key you have from the hub; it is kept in a file only you can open, and shown nowhere."""
    from governance_pipeline.confidence.hub.hub_sync import HubSync
    from governance_pipeline.confidence.hub.key_file import KEY_BYTES
    from governance_pipeline.confidence.hub.registering import enter_key

    text = key_file.read(2 * KEY_BYTES) if key_file else click.prompt("API key", hide_input=True, err=True)
    given = HubSync(url=url, runtime=runtime, runtime_id=runtime_id)
    _say_registration(enter_key(_place(folder), text.strip(), given, clock()), as_json=as_json)


@hub.command(epilog="\b\nExample: govern confidence hub status --json")
@FOLDER
@AS_JSON
def status(folder: Path, as_json: bool) -> None:
    """Show state, what waits to be sent, errors, and the end of the local log; nothing is sent."""
    from governance_pipeline.confidence.hub.hub_document import status_document, status_lines
    from governance_pipeline.confidence.hub.outbox import take_over

    place = _place(folder)
    if place.exists():
        take_over(place, clock())
    document = status_document(place)
    say(document, status_lines(document), as_json=as_json)


@hub.command(epilog=f"\b\nExample: govern confidence hub sync\n{_EXIT}")
@FOLDER
@AS_JSON
def sync(folder: Path, as_json: bool) -> int:
    """Start again after errors: send everything that waits and fetch the state. History is never sent."""
    from governance_pipeline.confidence.hub.answers import Outcome
    from governance_pipeline.confidence.hub.hub_document import sync_document, sync_lines
    from governance_pipeline.confidence.hub.syncing import sync_now

    place = _place(folder)
    done, found = sync_now(place, clock)
    document = sync_document(place, done, found)
    say(document, sync_lines(document), as_json=as_json)
    return ExitCode.CLEAN if found is Outcome.OK and not done.failed else ExitCode.UNKNOWN


def tell_hub(folder: Path, session: str, occasion: str, language: str) -> None:
    """Let the hub know, once the answer is printed: what is to be told goes to stderr, sending to another process."""
    from governance_pipeline.confidence.hub.after_answer import after_answer
    from governance_pipeline.confidence.hub.courier import Occasion

    sys.stdout.flush()
    for line in after_answer(folder, session, Occasion(occasion), clock(), language):
        click.echo(line, err=True)


def _place(folder: Path) -> HubPlace:
    from governance_pipeline.confidence.hub.hub_file import HubPlace

    return HubPlace(folder)


def _only_runtime(folder: Path) -> str:
    pools = sorted(open_store(folder).standing().registry.pools)
    if len(pools) != 1:
        raise click.UsageError(f"which runtime? Name --runtime; registered: {', '.join(pools) or 'none'}")
    return pools[0]


def _say_registration(found: HubSync, *, as_json: bool) -> None:
    from governance_pipeline.confidence.hub.hub_document import registration_document, registration_lines

    document = registration_document(found)
    say(document, registration_lines(document), as_json=as_json)
