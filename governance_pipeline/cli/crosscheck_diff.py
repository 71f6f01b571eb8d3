"""`govern crosscheck diff`: two versions of a table compared by primary key.

What belongs here: arguments and printing. What does not: comparing; that is `crosscheck.dataset_diff`.
"""

from __future__ import annotations

import csv
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from governance_pipeline.cli.check_files import print_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from governance_pipeline.crosscheck.dataset_diff_values import Tolerance

_TOLERANCE: Final = re.compile(r"(?P<column>.+?)=(?P<epsilon>[-+.0-9eE]+):(?P<reason>.*)", re.DOTALL)
FILE = click.Path(path_type=Path)


@click.command(
    epilog="Example: govern crosscheck diff old.parquet new.parquet --key order_id,line "
    "--tolerance 'price=0.005:rounded to cents'\n\n"
    "Exit: 0 the same, 1 a difference, 2 no such key or column, 3 a side cannot be read or its key is null or repeated."
)
@click.argument("old", metavar="OLD", type=FILE)
@click.argument("new", metavar="NEW", type=FILE)
@click.option(
    "--key", "keys", multiple=True, required=True, metavar="K[,K2]",
    help="Column that identifies a row, or several; a name with a comma in it stands in double quotes.",
)  # fmt: skip
@click.option(
    "--tolerance", "tolerances", multiple=True, metavar="COLUMN=EPSILON:REASON",
    help="How far numbers of a column may lie apart, and why that is no difference; the reason is mandatory.",
)  # fmt: skip
@click.option("--old-table", help="Table of a DuckDB file given as OLD; not needed when it is the only one.")
@click.option("--new-table", help="Table of a DuckDB file given as NEW; OLD's name when left out.")
@click.option("--examples", type=click.IntRange(0, 1000), default=5, show_default=True, help="Examples of each kind.")
@click.option("--screen", is_flag=True, help="Take rows with equal hashes as the same: less memory, no evidence.")
@click.option(
    "--fail-on", type=click.Choice(["difference", "never"]), default="difference", show_default=True,
    help="From what on the exit code is 1; never: a difference does not change it.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the govern/dataset-diff/v1 document.")
@click.pass_context
def diff(
    ctx: click.Context,
    old: Path,
    new: Path,
    keys: tuple[str, ...],
    tolerances: tuple[str, ...],
    old_table: str | None,
    new_table: str | None,
    examples: int,
    screen: bool,
    fail_on: str,
    as_json: bool,
) -> None:
    """Compare two versions of a table by primary key: Parquet, CSV, or tables of DuckDB files.

    Every value of every row is compared; rows are never matched by position, and neither file is ever written.
    """
    from governance_pipeline.crosscheck.dataset_diff import compare_datasets_by_primary_key
    from governance_pipeline.crosscheck.dataset_diff_inputs import DATABASE_SUFFIXES, DatabaseTable
    from governance_pipeline.crosscheck.dataset_diff_page import diff_document, diff_page, exit_code
    from governance_pipeline.crosscheck.report import json_text

    names = (old_table, old_table if new_table is None and new.suffix in DATABASE_SUFFIXES else new_table)
    left, right = (
        path if name is None else DatabaseTable(path, name) for path, name in zip((old, new), names, strict=True)
    )
    with _waiting(quiet=as_json):
        found = compare_datasets_by_primary_key(
            left, right, _keys(keys), tolerances=_tolerances(tolerances), examples=examples, screen=screen
        )
    code = exit_code(found, fail_on_difference=fail_on == "difference")
    if as_json:
        click.echo(json_text(diff_document(found)), nl=False)
    else:
        print_page(diff_page(found, code))
    ctx.exit(code)


def _keys(given: Sequence[str]) -> list[str]:
    try:
        return [name for text in given for row in csv.reader([text], strict=True) for name in row]
    except csv.Error:
        raise click.BadParameter("a name in double quotes is not closed", param_hint="--key") from None


def _tolerances(given: Sequence[str]) -> list[Tolerance]:
    from governance_pipeline.crosscheck.dataset_diff_values import tolerance

    found = []
    for text in given:
        match = _TOLERANCE.fullmatch(text)
        if match is None:
            raise click.BadParameter(
                "write COLUMN=EPSILON:REASON, such as price=0.005:rounded", param_hint="--tolerance"
            )
        found.append(tolerance(match["column"], match["epsilon"], match["reason"]))
    return found


def _waiting(*, quiet: bool) -> AbstractContextManager[object]:
    """A sign of life on stderr: how long a join takes is not known before it ends."""
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status("comparing")
