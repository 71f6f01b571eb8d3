"""`govern audit PATH...`: any folder of supported logs, no configuration, no Dagster.

What belongs here: arguments, progress and printing. What does not: rules; the page and the file are made in `report`.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from governance_pipeline.cli.waiting import waiting
from governance_pipeline.report.texts import LANGUAGES, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.planning import PlannedRound
    from governance_pipeline.report.texts import Language
    from governance_pipeline.report.trajectory_series import Trajectory

PIPE_WIDTH: Final = 160
"""Columns of a page that goes into a file or a pipe, where nothing says how wide it may be."""

_READABLE: Final = 0o644
_HEAD_BYTES: Final = 1024
_ERROR_CHARACTERS: Final = 600

EPILOG = """\b
Example: govern audit ~/.claude/projects --report audit.html
Exit: 0 clean, 1 findings, 2 usage, 3 unknown, 4 a check cannot fail
"""


@click.command(epilog=EPILOG)
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, readable=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the govern/audit/v1 document instead of the page.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Also write one HTML file.")
@click.option(
    "--fail-on", type=click.Choice(["warn", "block", "never"]), default="warn", show_default=True,
    help="From which severity the exit code is 1. A false number is a warning, a false hash blocks.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(["session", "day", "dir"]), default="session", show_default=True,
    help="How logs are cut into rounds. Folders that are rounds already stay as they are.",
)  # fmt: skip
@click.option("--format", "format_name", default="auto", show_default=True, help="Only logs of this format.")
@click.option(
    "--store", type=click.Path(file_okay=False, path_type=Path),
    help="Keep rounds and tables here (landing/, lake/) instead of in a throw-away folder.",
)  # fmt: skip
@click.option(
    "--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Prices of your own as JSON lines, before the shipped table; a round that brings its prices.jsonl keeps it.",
)  # fmt: skip
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the page.")
def audit(
    paths: tuple[Path, ...], as_json: bool, report: Path | None, fail_on: str, by: str, format_name: str,
    store: Path | None, prices: Path | None, lang: Language,
) -> int:  # fmt: skip
    """Recompute every number the logs under PATHS declare, and show which ones are false.

    Nothing is changed: sources are copied and hashed, and both values of a mismatch are shown.
    """
    from governance_pipeline.report.audit_summary import verdict
    from governance_pipeline.report.json_text import json_text

    with waiting("looking at files…", quiet=as_json):
        plan = _plan(paths, by, format_name, prices)
    _refuse_outputs(paths, plan, report, store)
    document, trajectories = _document(plan, store, quiet=as_json)
    outcome = verdict(document, fail_on)
    if report is not None:
        _write_report(report, document, outcome, lang, trajectories)
    if as_json:
        click.echo(json_text(document))
    else:
        _print_page(document, outcome, lang)
    return outcome.exit_code


def _plan(paths: Sequence[Path], by: str, format_name: str, prices: Path | None) -> list[PlannedRound]:
    from governance_pipeline.ingest.planning import By, plan_import
    from governance_pipeline.ingest.price_file import with_prices

    plan = plan_import(list(paths), By(by), format_name=format_name)
    return plan if prices is None else with_prices(plan, prices)


def _refuse_outputs(
    paths: Sequence[Path], plan: Sequence[PlannedRound], report: Path | None, store: Path | None
) -> None:
    """Refuse to write over a source, or to keep a store inside what is audited: the next audit would read it.

    Raises:
        UsageError: says which path is meant.
    """
    from governance_pipeline.errors import UsageError
    from governance_pipeline.report.html import GENERATOR
    from governance_pipeline.strict.excerpt import excerpt

    if store is not None:
        real = os.path.realpath(store)
        for path in map(os.path.realpath, paths):
            if os.path.commonpath([real, path]) == path:
                raise UsageError(
                    f"--store {excerpt(real)} lies inside {excerpt(path)}; keep it outside what is audited"
                )
    if report is None or not report.exists():
        return
    sources = (file.source for planned in plan for file in planned.files)
    if any(source.exists() and report.samefile(source) for source in sources):
        with report.open("rb") as stream:
            is_ours = GENERATOR.encode() in stream.read(_HEAD_BYTES)
        if not is_ours:
            raise UsageError(f"--report {excerpt(str(report))} is one of the audited files, and no source is written")


def _document(
    plan: Sequence[PlannedRound], store: Path | None, *, quiet: bool
) -> tuple[dict[str, Any], list[Trajectory]]:
    """Audit; return the document, and what the report draws of the rounds."""
    from rich.console import Console
    from rich.progress import Progress

    from governance_pipeline.auditing import audit_plan, stated_proof
    from governance_pipeline.crosscheck.builtin import not_checkable
    from governance_pipeline.crosscheck.catalogue import catalogue
    from governance_pipeline.report.audit_document import audit_document
    from governance_pipeline.report.trajectory_series import trajectories

    console = Console(stderr=True)
    with ExitStack() as stack:
        root = store or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="govern-audit-")))
        is_hidden = quiet or not console.is_terminal
        progress = stack.enter_context(Progress(console=console, disable=is_hidden, transient=True))
        task = progress.add_task("reading rounds", total=len(plan))
        tables = audit_plan(
            plan,
            root,
            keep=store is not None,
            on_round=lambda: progress.advance(task),
            on_failure=_say_failure,
        )
        checks = tables["audit_cross_checks"]["check_id"]
        proof = stated_proof(set(checks))
    document = audit_document(tables, not_checkable(tables["core_declared"]), catalogue().meanings, proof)
    return document, trajectories(tables)


def _say_failure(round_id: str, error: Exception) -> None:
    """Say on stderr why a round is not analyzed; where it is a fault of ours also where it happened."""
    import traceback

    from governance_pipeline.errors import GovernError
    from governance_pipeline.strict.excerpt import excerpt

    at = traceback.extract_tb(error.__traceback__)[-1]
    where = "" if isinstance(error, GovernError) else f" ({Path(at.filename).name}, line {at.lineno})"
    why = f"{type(error).__name__}: {excerpt(str(error), _ERROR_CHARACTERS)}{where}"
    click.echo(f"round {round_id} could not be analyzed, please report this as a bug: {why}", err=True)


def _write_report(
    path: Path, document: dict[str, Any], outcome: Any, lang: Language, trajectories: Sequence[Trajectory]
) -> None:
    from governance_pipeline.errors import StorageError, UsageError
    from governance_pipeline.report.html import audit_html
    from governance_pipeline.storage.atomic import AtomicWriter
    from governance_pipeline.strict.excerpt import excerpt

    page = audit_html(document, words(lang), outcome, lang, trajectories)
    try:
        AtomicWriter(path.parent).write(path, page.encode(), mode=_READABLE)
    except StorageError as error:
        raise UsageError(f"--report: {error}; or choose another path") from None
    click.echo(f"report: {excerpt(str(path))}", err=True)


def _print_page(document: dict[str, Any], outcome: Any, lang: Language) -> None:
    from rich.console import Console

    from governance_pipeline.report.terminal import audit_page

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    console.print(audit_page(document, words(lang), outcome))
