"""Check files on the command line: load one, run it with progress, say why it is refused, print a page.

What belongs here: what several commands of `govern crosscheck` do alike. What does not: the commands, and any rule.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from governance_pipeline.errors import CheckSetError, Fault, UsageError
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from governance_pipeline.crosscheck.batch import Batch
    from governance_pipeline.crosscheck.check_set import CheckSet

PROGRESS_BYTES = 32 * 2**20
"""Sources smaller than this together are read in about a second: no progress bar."""

PIPE_WIDTH = 160
"""Columns of a page that goes into a file or a pipe, where nothing says how wide it may be."""

CHECKS = click.Path(dir_okay=False, path_type=Path)
"""Type of an argument that names a check file."""


def load(ctx: click.Context, checks: Path, *, as_json: bool) -> CheckSet:
    """Return an accepted check file; a refused one ends the command with exit code 2 and every fault.

    Raises:
        click.UsageError: there is no such regular file.
    """
    from governance_pipeline.crosscheck.check_set import load_check_set

    try:
        return load_check_set(checks)
    except CheckSetError as error:
        _refuse(checks, error.faults, as_json=as_json)
        ctx.exit(ExitCode.USAGE)
    except UsageError as error:
        raise click.UsageError(str(error)) from None


def run(ctx: click.Context, checks: Path, *, as_json: bool, whole_proof: bool = False) -> Batch:
    """Return what running a check file gave; a source that cannot be read ends the command with exit code 3.

    Args:
        ctx: of the command.
        checks: the check file.
        as_json: whether faults are printed as JSON; there is no progress bar then.
        whole_proof: whether each check is proved on all its records instead of a sample.

    Raises:
        click.UsageError: there is no such regular file.
    """
    from governance_pipeline.crosscheck.batch import SourcesUnreadableError

    check_set = load(ctx, checks, as_json=as_json)
    try:
        # Records of large sources stay in files, which the page and the report are made of after this returns.
        spill = ctx.with_resource(TemporaryDirectory(prefix="govern-check-"))
        return _batch(check_set, Path(spill), quiet=as_json, whole_proof=whole_proof)
    except SourcesUnreadableError as error:
        _refuse(checks, error.faults, as_json=as_json)
        ctx.exit(ExitCode.UNKNOWN)


def print_page(page: object) -> None:
    """Print a page (rich) on stdout; no text of it is read as markup."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    console.print(page)


def _batch(check_set: CheckSet, spill: Path, *, quiet: bool, whole_proof: bool) -> Batch:
    from governance_pipeline.crosscheck.mutation import SAMPLE_RECORDS
    from governance_pipeline.crosscheck.run import run_checks
    from governance_pipeline.crosscheck.source import size_of

    proved = None if whole_proof else SAMPLE_RECORDS
    size = sum(map(size_of, check_set.sources.values()))
    if quiet or size < PROGRESS_BYTES or not sys.stderr.isatty():
        return run_checks(check_set, proved_records=proved, spill=spill)
    with click.progressbar(length=size, label="reading", file=sys.stderr) as bar:
        return run_checks(check_set, bar.update, proved_records=proved, spill=spill)


def _refuse(checks: Path, faults: list[Fault], *, as_json: bool) -> None:
    from governance_pipeline.crosscheck.report import errors_document, json_text
    from governance_pipeline.strict.excerpt import excerpt

    if as_json:
        click.echo(json_text(errors_document(faults)), nl=False)
        return
    for fault in faults:
        click.echo(f"{excerpt(str(checks))}:{fault.line}: {fault.code}: {excerpt(fault.message, 400)}", err=True)
