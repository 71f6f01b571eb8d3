"""`govern gate notify`: who is told of requests, what waits to be sent, and sending it.

What belongs here: arguments and printing. What does not: rules; they are in `notify`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.signing import AS_JSON, CONFIG, LAKE, answer, clock, open_trusted
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    epilog="\b\nExample: govern gate notify --send\n"
    "Exit: 0 shown or sent, 3 a message could not be handed over (it is tried again)"
)
@click.option("--send", is_flag=True, help="Send now what is due, as the sensor `notifications` does at each tick.")
@click.option("--test", "tested", metavar="TARGET", help="Send one test message to TARGET and nothing else.")
@LAKE
@CONFIG
@AS_JSON
def notify(send: bool, tested: str | None, lake: Path, config_path: Path | None, as_json: bool) -> int:
    """Show who is told of requests, and what is due to each of them; addresses are never shown."""
    from governance_pipeline.notify.answers import notify_document, notify_lines
    from governance_pipeline.notify.delivery import deliver
    from governance_pipeline.notify.sending import Means, send_due, send_test
    from governance_pipeline.notify.targets import load_notifications

    if send and tested is not None:
        raise click.UsageError("--send and --test are two things; do one of them")
    verifier = open_trusted(config_path, lake, clock())
    wanted = load_notifications(verifier.config.notifications)
    means = Means(deliver, clock, time.sleep)
    sent = send_due(verifier, wanted, means) if send else []
    if tested is not None:
        sent = [send_test(wanted, tested, means)]
    document = notify_document(verifier, wanted, clock(), sent)
    answer(document, notify_lines(document), as_json=as_json)
    return ExitCode.CLEAN if all(one.is_sent for one in sent) else ExitCode.UNKNOWN
