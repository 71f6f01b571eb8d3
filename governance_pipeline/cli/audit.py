"""`govern audit PATH...`: any folder of supported logs, no configuration, no Dagster.

What belongs here: arguments, progress and printing. What does not: rules; the page and the file are made in `report`.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.report.texts import LANGUAGES, words

if TYPE_CHECKING:
    from governance_pipeline.report.texts import Language


EPILOG = """\b
Example: govern audit ~/.claude/projects --report audit.html
Exit: 0 clean, 1 findings, 2 usage, 3 unknown
"""


@click.command(epilog=EPILOG)
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
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
@click.option("--format", "format_name", default="auto", show_default=True, help="Only files of this format.")
@click.option(
    "--store", type=click.Path(file_okay=False, path_type=Path),
    help="Keep rounds and tables here (landing/, lake/) instead of in a throw-away folder.",
)  # fmt: skip
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the page.")
def audit(
    paths: tuple[Path, ...], as_json: bool, report: Path | None, fail_on: str, by: str, format_name: str,
    store: Path | None, lang: Language,
) -> int:  # fmt: skip
    """Recompute every number the logs under PATHS declare, and show which ones are false.

    Nothing is changed: sources are copied and hashed, and both values of a mismatch are shown.
    """
    from governance_pipeline.report.audit_summary import verdict

    document = _document(paths, by, format_name, store, quiet=as_json)
    outcome = verdict(document, fail_on)
    if report is not None:
        _write_report(report, document, outcome, lang)
    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        _print_page(document, outcome, lang)
    return outcome.exit_code


def _document(paths: tuple[Path, ...], by: str, format_name: str, store: Path | None, *, quiet: bool) -> dict[str, Any]:
    from rich.console import Console
    from rich.progress import Progress

    from governance_pipeline.crosscheck.builtin import not_checkable
    from governance_pipeline.ingest.planning import By, plan_import
    from governance_pipeline.workspace import audit_plan
    from governance_pipeline.report.audit_document import audit_document

    plan = plan_import(list(paths), By(by), format_name=format_name)
    with ExitStack() as stack:
        root = store or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="govern-audit-")))
        progress = stack.enter_context(Progress(console=Console(stderr=True), disable=quiet, transient=True))
        task = progress.add_task("reading rounds", total=len(plan))
        tables = audit_plan(plan, root, keep=store is not None, on_round=lambda: progress.advance(task))
    return audit_document(tables, not_checkable(tables["core_declared"]))


def _write_report(path: Path, document: dict[str, Any], outcome: Any, lang: Language) -> None:
    from governance_pipeline.report.html import audit_html

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(audit_html(document, words(lang), outcome, lang), "utf-8")
    click.echo(f"report: {path}", err=True)


def _print_page(document: dict[str, Any], outcome: Any, lang: Language) -> None:
    from rich.console import Console

    from governance_pipeline.report.terminal import audit_page

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(audit_page(document, words(lang), outcome))
