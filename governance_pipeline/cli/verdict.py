"""`govern verdict`: what a round adds up to, why, and the command that shows it again.

What belongs here: arguments and printing. What does not: rules; they are in `verdict`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.cli.verdict_calibration import calibration
from governance_pipeline.cli.verdict_check import check
from governance_pipeline.cli.verdict_dismiss import dismiss
from governance_pipeline.cli.verdict_forms import FORMS, form_text
from governance_pipeline.cli.verdict_inputs import (
    AS_JSON,
    CONFIG,
    LAKE,
    LANDING,
    answer,
    bytes_of,
    trust_of,
    verdict_of,
)
from governance_pipeline.vocabulary import ExitCode


@click.group(epilog="Example: govern verdict show parser-0001 --landing data/sample/rounds")
def verdict() -> None:
    """Verdicts of rounds: pass, warn, block or unknown, with evidence for each finding."""


verdict.add_command(calibration)
verdict.add_command(check)
verdict.add_command(dismiss)


@verdict.command(
    epilog="\b\nExample: govern verdict decide signals.json --json\n"
    "Exit: that of the status: pass and warn 0, block 1, unknown 3; input refused 2"
)
@click.argument("file", type=click.Path(path_type=Path))
@AS_JSON
def decide(file: Path, as_json: bool) -> int:
    """Look the signals of FILE (govern/decide-input/v1) up in the decision table."""
    from governance_pipeline.verdict import decide as table
    from governance_pipeline.verdict.decision_table import exit_code
    from governance_pipeline.verdict.page import decision_page
    from governance_pipeline.verdict.signals import Status

    document = table.decide(table.read_decide_input(bytes_of(file)))
    answer(document, as_json, decision_page(document))
    return exit_code(Status(document["status"]))


@verdict.command(epilog="Example: govern verdict show parser-0001 --format sarif > verdict.sarif")
@click.argument("round_", metavar="ROUND")
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="human", show_default=True,
    help="A page for people, the govern/verdict/v1 document, Markdown, SARIF 2.1.0, JUnit XML, or one HTML page.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@LAKE
@LANDING
@CONFIG
def show(round_: str, form: str, as_json: bool, lake: Path, landing: Path, config_path: Path | None) -> int:
    """Show the verdict of ROUND: an id in the lake or the landing folder, or a round folder.

    It is made again from the inputs, so what is shown is what they say now. Exit 0 whatever it says.
    """
    from governance_pipeline.verdict.page import verdict_page

    if as_json and form not in ("human", "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other; give one of them")
    document = verdict_of(round_, lake, landing, trust_of(config_path))
    if form == "human":
        answer(document, as_json, verdict_page(document))
    else:
        click.echo(form_text(document, form), nl=False)
    return ExitCode.CLEAN


@verdict.command(epilog="Example: govern verdict selftest --json")
@AS_JSON
def selftest(as_json: bool) -> int:
    """Run both controls of every detector: the input it must fire on, and the one it must not. Exit 0 or 1."""
    from governance_pipeline.verdict.controls import selftest as run_controls
    from governance_pipeline.verdict.page import selftest_page

    results = run_controls()
    rows = [{**result._asdict(), "is_as_expected": result.is_as_expected} for result in results]
    answer({"schema": "govern/verdict-selftest/v1", "controls": rows}, as_json, selftest_page(results))
    return ExitCode.CLEAN if all(result.is_as_expected for result in results) else ExitCode.FINDINGS
