"""`govern crosscheck prove`, `validate` and `selftest`: what shows that a check can fail and a report can be trusted.

What belongs here: arguments and printing. What does not: the proofs, the validator and the shipped reports.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.check_files import CHECKS, print_page
from governance_pipeline.cli.check_files import run as run_file
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from governance_pipeline.crosscheck.mutation import MutationProof


@click.command(
    epilog="Example: govern crosscheck prove checks.yaml\n\n"
    "Exit: 0 every check can fail, 4 one cannot (check_cannot_fail); 2 and 3 as for run."
)
@click.argument("checks", metavar="[CHECKS.yaml]", required=False, type=CHECKS)
@click.option("--catalogue", "is_catalogue", is_flag=True, help="Prove the built-in checks; also without an argument.")
@click.option("--json", "as_json", is_flag=True, help="Print the govern/crosscheck-proof/v1 document.")
@click.pass_context
def prove(ctx: click.Context, checks: Path | None, is_catalogue: bool, as_json: bool) -> None:
    """Prove by mutation that checks can fail: the whole of a check file, or the built-in catalogue.

    Each declared value is shifted and must become a mismatch; components are changed and must move the computed number.
    """
    from governance_pipeline.crosscheck.mutation import proof_document
    from governance_pipeline.crosscheck.page import proof_page
    from governance_pipeline.crosscheck.report import json_text

    if checks is not None and is_catalogue:
        raise click.UsageError("--catalogue proves the built-in checks; give it or a check file, not both")
    proofs = _catalogue_proofs() if checks is None else _file_proofs(ctx, checks, as_json=as_json)
    if as_json:
        click.echo(json_text(proof_document(proofs)), nl=False)
    else:
        print_page(proof_page(proofs))
    ctx.exit(ExitCode.CLEAN if all(proof.can_fail for proof in proofs) else ExitCode.REFUSED)


@click.command(
    epilog="Example: govern crosscheck validate out/report.json\n\n"
    "Exit: 0 sound and green, 1 at least one violation, 3 not JSON or not readable."
)
@click.argument("report", metavar="REPORT", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the govern/crosscheck-validation/v1 document.")
@click.pass_context
def validate(ctx: click.Context, report: Path, as_json: bool) -> None:
    """Recompute every derived member of a report, offline; one line per violation: its code and its place."""
    from governance_pipeline.crosscheck.report import json_text
    from governance_pipeline.crosscheck.report_file import file_violations, violations_document
    from governance_pipeline.strict.excerpt import excerpt

    found = file_violations(report)
    if as_json:
        click.echo(json_text(violations_document(found)), nl=False)
    else:
        for violation in found:
            click.echo(f"{violation.code} {excerpt(violation.where)}")
        click.echo(f"{excerpt(str(report))}: {len(found) or 'no'} violation{'s' * (len(found) != 1)}", err=True)
    ctx.exit(ExitCode.FINDINGS if found else ExitCode.CLEAN)


@click.command(
    epilog="Example: govern crosscheck selftest \n\nExit: 0 each shipped report is judged as it must be, 1 one is not."
)
@click.option("--json", "as_json", is_flag=True, help="Print the govern/crosscheck-selftest/v1 document.")
@click.pass_context
def selftest(ctx: click.Context, as_json: bool) -> None:
    """Validate the shipped reports, offline: the valid ones pass, each invalid one is refused with its code."""
    from governance_pipeline.crosscheck.report import json_text
    from governance_pipeline.crosscheck.selftest import selftest_document, selftest_results

    results = list(selftest_results())
    failed = [result for result in results if not result.passed]
    if as_json:
        click.echo(json_text(selftest_document(results)), nl=False)
    else:
        for result in results:
            click.echo(f"{'ok' if result.passed else 'FAILED':6} {result.report}: {', '.join(result.found) or 'sound'}")
        click.echo(f"{len(results)} reports, {len(failed)} not judged as they must be", err=True)
    ctx.exit(ExitCode.FINDINGS if failed else ExitCode.CLEAN)


def _catalogue_proofs() -> list[MutationProof]:
    from governance_pipeline.auditing import built_in_proofs

    return built_in_proofs()


def _file_proofs(ctx: click.Context, checks: Path, *, as_json: bool) -> list[MutationProof]:
    return list(run_file(ctx, checks, as_json=as_json, whole_proof=True).proofs.values())
