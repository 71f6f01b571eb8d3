"""`govern features conformal`: how extreme rounds are among the comparable rounds before them.

What belongs here: arguments and printing. What does not: rules; they are in `trajectory`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode


@click.command(
    epilog="\b\nExample: govern features conformal cohort.json --json\nExit: 0; refused input 2, nothing on stdout"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one govern/conformal/v1 document instead of text.")
def conformal(file: Path, as_json: bool) -> int:
    """Compare the rounds in FILE (govern/conformal-input/v1) with the earlier rounds of their cohorts.

    Gives robust statistics, conformal p-values adjusted within the file's targets, and a test of exchangeability.
    """
    from governance_pipeline.trajectory.conformal_document import conformal_document
    from governance_pipeline.trajectory.conformal_input import read_conformal_input

    document = conformal_document(read_conformal_input(file))
    if as_json:
        click.echo(json_text(document))
        return ExitCode.CLEAN
    from rich.console import Console

    from governance_pipeline.trajectory.conformal_page import conformal_page

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(conformal_page(document))
    return ExitCode.CLEAN
