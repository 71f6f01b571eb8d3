"""`govern crosscheck`: compare declared with computed numbers in files of your own.

What belongs here: arguments, progress and printing. What does not: rules; page and report are made in `crosscheck`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from governance_pipeline.errors import CheckSetError, Fault, UsageError
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from governance_pipeline.crosscheck.check_set import CheckSet
    from governance_pipeline.crosscheck.run import Batch
    from governance_pipeline.crosscheck.source import Source

PROGRESS_BYTES = 32 * 2**20
"""Sources smaller than this together are read in about a second: no progress bar."""

PIPE_WIDTH = 160
"""Columns of a page that goes into a file or a pipe, where nothing says how wide it may be."""

_CHECKS = click.Path(dir_okay=False, path_type=Path)


@click.group(epilog="Example: govern crosscheck run data/sample/checks/invoices.yaml")
def crosscheck() -> None:
    """Compare what a source declares with what is computed from rawer data.

    A mismatch is shown with both values and handed to a person; nothing is ever corrected.
    """


@crosscheck.command(
    epilog="Example: govern crosscheck run checks.yaml --out out/\n\n"
    "Exit, first that applies: 2 check file refused, 3 a source cannot be read or a check looked at nothing, "
    "1 a mismatch, 3 only unverifiable numbers, 0 clean."
)
@click.argument("checks", metavar="CHECKS.yaml", type=_CHECKS)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Also write report.json into this folder."
)
@click.option(
    "--fail-on", type=click.Choice(["mismatch", "unverifiable", "never"]), default="mismatch", show_default=True,
    help="From what on the exit code is 1; never: findings do not change it.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the report (or the errors) as JSON instead of a page.")
@click.pass_context
def run(ctx: click.Context, checks: Path, out: Path | None, fail_on: str, as_json: bool) -> None:
    """Run a check file (govern/checks/v1) over its sources."""
    from governance_pipeline.crosscheck.page import run_page
    from governance_pipeline.crosscheck.report import FailOn, exit_code, report_blocks, write_report
    from governance_pipeline.crosscheck.run import SourcesUnreadableError

    try:
        batch = _batch(_load(checks), quiet=as_json)
        code = exit_code(batch, FailOn(fail_on))
        if out is not None:
            click.echo(f"written: {write_report(batch, out)}", err=True)
    except CheckSetError as error:
        _refuse(checks, error.faults, as_json=as_json)
        ctx.exit(ExitCode.USAGE)
    except SourcesUnreadableError as error:
        _refuse(checks, error.faults, as_json=as_json)
        ctx.exit(ExitCode.UNKNOWN)
    except UsageError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        for block in report_blocks(batch):
            click.echo(block, nl=False)
    else:
        _print(run_page(batch, code))
    ctx.exit(code)


@crosscheck.command(epilog="Example: govern crosscheck policy checks.yaml")
@click.argument("checks", metavar="[CHECKS.yaml]", required=False, type=_CHECKS)
@click.option("--json", "as_json", is_flag=True, help="Print the govern/epsilon-policy/v1 document.")
@click.pass_context
def policy(ctx: click.Context, checks: Path | None, as_json: bool) -> None:
    """Print the epsilon policy in force: the shipped one, or the one a check file tightened."""
    from governance_pipeline.crosscheck.page import policy_page
    from governance_pipeline.crosscheck.policy import shipped_epsilon_policy
    from governance_pipeline.crosscheck.report import json_text

    try:
        in_force = shipped_epsilon_policy() if checks is None else _load(checks).policy
    except CheckSetError as error:
        _refuse(checks or Path(), error.faults, as_json=as_json)
        ctx.exit(ExitCode.USAGE)
    except UsageError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json_text(in_force.to_json()), nl=False)
    else:
        _print(policy_page(in_force))


def _load(checks: Path) -> CheckSet:
    from governance_pipeline.crosscheck.check_set import load_check_set

    return load_check_set(checks)


def _batch(check_set: CheckSet, *, quiet: bool) -> Batch:
    from governance_pipeline.crosscheck.run import run_checks

    size = sum(map(_size, check_set.sources.values()))
    if quiet or size < PROGRESS_BYTES or not sys.stderr.isatty():
        return run_checks(check_set)
    with click.progressbar(length=size, label="reading", file=sys.stderr) as bar:
        return run_checks(check_set, bar.update)


def _size(source: Source) -> int:
    """Bytes of a source; 0 when nobody can tell: the reader will say why."""
    try:
        return 0 if source.file is None else source.file.stat().st_size
    except (OSError, ValueError):
        return 0


def _refuse(checks: Path, faults: list[Fault], *, as_json: bool) -> None:
    from governance_pipeline.crosscheck.report import errors_document, json_text
    from governance_pipeline.strict.excerpt import excerpt

    if as_json:
        click.echo(json_text(errors_document(faults)), nl=False)
        return
    for fault in faults:
        click.echo(f"{excerpt(str(checks))}:{fault.line}: {fault.code}: {excerpt(fault.message, 400)}", err=True)


def _print(page: object) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    console.print(page)
