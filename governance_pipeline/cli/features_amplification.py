"""`govern features amplification`: how often units change times how far a change reaches, and what that signals.

What belongs here: arguments, printing and the exit code. What does not: rules and words; they are in `trajectory`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping

IMPACT_INCREASE = "impact_increase"
NAMED = 5
"""Units named on stderr; the rest is counted."""


@click.command(
    epilog="\b\nExample: govern features amplification units.json --fail-on impact_increase --json\n"
    "Exit: 0; input refused 2. With --fail-on: 1 when the impact of a touched unit grew materially, else\n"
    "3 when for a touched unit that still exists nobody can tell"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--fail-on",
    type=click.Choice([IMPACT_INCREASE]),
    help="Exit 1 when this signal is raised. Without it the exit code is 0 whatever is found.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def amplification(file: Path, fail_on: str | None, as_json: bool) -> int:
    """Compute amplification = frequency x impact of the units of FILE (govern/amplification-input/v1).

    The outlier region is made of the baseline of all units; signals exist for touched units only. Nothing is stored.
    """
    from governance_pipeline.trajectory.amplification_document import amplification_document
    from governance_pipeline.trajectory.amplification_input import read_amplification_input

    document = amplification_document(read_amplification_input(_bytes_of(file)))
    if as_json:
        click.echo(json_text(document))
    else:
        _print_page(document)
    return ExitCode.CLEAN if fail_on is None else _exit_code(document)


def _exit_code(document: Mapping[str, Any]) -> int:
    """An increase fails; an unknown one is not taken for none."""
    from governance_pipeline.trajectory.amplification_document import increased, undecided

    if grown := increased(document):
        click.echo(f"{IMPACT_INCREASE}: {_some(grown)}", err=True)
        return ExitCode.FINDINGS
    if unknown := undecided(document):
        click.echo(f"{IMPACT_INCREASE} unknown: {_some([f'{id_} ({why})' for id_, why in unknown.items()])}", err=True)
        return ExitCode.UNKNOWN
    return ExitCode.CLEAN


def _some(names: list[str]) -> str:
    from governance_pipeline.strict.excerpt import excerpt

    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(map(excerpt, names[:NAMED]))}{more}"


def _bytes_of(file: Path) -> bytes:
    """Read the input; one that cannot be read is refused like one that is wrong."""
    from governance_pipeline.errors import UnreadableError, UsageError
    from governance_pipeline.strict.excerpt import excerpt
    from governance_pipeline.strict.files import open_regular
    from governance_pipeline.strict.limits import LIMITS

    try:
        with open_regular(file) as stream:
            return stream.read(LIMITS.document_bytes + 1)
    except (UnreadableError, OSError) as error:
        raise UsageError(f"{excerpt(str(file))} cannot be read: {error}") from None


def _print_page(document: Mapping[str, Any]) -> None:
    from rich.console import Console

    from governance_pipeline.trajectory.amplification_page import amplification_page

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(amplification_page(document))
