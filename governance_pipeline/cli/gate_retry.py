"""`govern gate retry`: launch publication again after its run failed.

What belongs here: arguments and printing. What does not: rules; they are in `gate.retrying`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.signing import AS_JSON, CONFIG, LAKE, answer, clock, open_trusted
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    epilog="\b\nExample: govern gate retry parser-0001\n"
    "Exit: 0 each is recorded, 4 one is refused (its gate is closed, or all of it is published), with its reason code"
)
@click.argument("names", metavar="REQUEST|ROUND...", nargs=-1, required=True)
@LAKE
@CONFIG
@AS_JSON
def retry(names: tuple[str, ...], lake: Path, config_path: Path | None, as_json: bool) -> int:
    """Try again to publish what is approved and was not: nobody needs to decide anew.

    What a run has begun goes on as that run; the sensor `decisions` launches it at its next tick. `govern gate inbox`
    lists what failed as APPROVED_FAILED.
    """
    from governance_pipeline.gate.attempt_answers import retries_document, retry_line
    from governance_pipeline.gate.retrying import ask_each_again

    verifier = open_trusted(config_path, lake, clock())
    results = ask_each_again(verifier, names, clock())
    answer(retries_document(verifier, results), map(retry_line, results), as_json=as_json)
    return ExitCode.CLEAN if all(entry["recorded"] for entry in results) else ExitCode.REFUSED
