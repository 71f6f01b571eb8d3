"""`govern crosscheck`: compare declared with computed numbers in files of your own.

What belongs here: arguments and printing. What does not: rules; page and report are made in `crosscheck`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.cli.check_files import CHECKS, print_page
from governance_pipeline.cli.check_files import run as run_file
from governance_pipeline.cli.crosscheck_cases import cases
from governance_pipeline.cli.crosscheck_diff import diff
from governance_pipeline.cli.crosscheck_list import list_checks
from governance_pipeline.cli.crosscheck_policy import policy
from governance_pipeline.cli.crosscheck_proofs import prove, selftest, validate
from governance_pipeline.cli.crosscheck_triage import triage
from governance_pipeline.errors import UsageError


@click.group(epilog="Example: govern crosscheck run data/sample/checks/invoices.yaml")
def crosscheck() -> None:
    """Compare what a source declares with what is computed from rawer data.

    A mismatch is shown with both values and handed to a person; nothing is ever corrected.
    """


@crosscheck.command(
    epilog="Example: govern crosscheck run checks.yaml --out out/\n\n"
    "Exit, first that applies: 2 check file refused, 3 a source cannot be read, 4 the guardian blocks (a check that "
    "looked at nothing or cannot fail), 1 a mismatch, 3 only unverifiable numbers, 0 clean."
)
@click.argument("checks", metavar="CHECKS.yaml", type=CHECKS)
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
    from governance_pipeline.crosscheck.guardian import judge
    from governance_pipeline.crosscheck.page import run_page
    from governance_pipeline.crosscheck.report import FailOn, exit_code, report_blocks, write_report

    batch = run_file(ctx, checks, as_json=as_json)
    judgement = judge(batch)
    code = exit_code(batch, judgement, FailOn(fail_on))
    if out is not None:
        try:
            click.echo(f"written: {write_report(batch, judgement, out)}", err=True)
        except UsageError as error:
            raise click.UsageError(str(error)) from None
    if as_json:
        for block in report_blocks(batch, judgement):
            click.echo(block, nl=False)
    else:
        print_page(run_page(batch, judgement, code))
    ctx.exit(code)


for _command in (cases, diff, list_checks, policy, prove, triage, validate, selftest):
    crosscheck.add_command(_command)
