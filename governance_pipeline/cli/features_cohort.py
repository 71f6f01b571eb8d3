"""`govern features cohort`: the baselines rounds are compared with, and what superseded what.

What belongs here: arguments and printing. What does not: rules; they are in `trajectory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.verdict_inputs import AS_JSON, LAKE
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from pathlib import Path


@click.command(epilog="Example: govern features cohort --round parser-0001 --lake data/lake")
@click.option(
    "--round", "round_id", metavar="ROUND", help="Only the cohort of this round, and what it is compared with."
)
@LAKE
@AS_JSON
def cohort(round_id: str | None, lake: Path, as_json: bool) -> int:
    """Show the baselines of each cohort: statistics, versions, what superseded what and why.

    Baselines that are in force no more are listed as long as the lake has an earlier version of the table. One
    govern/cohort-baselines/v1 document with --json.
    """
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trajectory.cohort_document import cohort_document

    document = cohort_document(Lake(lake), round_id)
    if as_json:
        click.echo(json_text(document))
        return ExitCode.CLEAN
    from rich.console import Console

    from governance_pipeline.trajectory.cohort_page import cohort_page

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(cohort_page(document))
    return ExitCode.CLEAN
