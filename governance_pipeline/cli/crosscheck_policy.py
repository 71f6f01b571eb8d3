"""`govern crosscheck policy`: every policy of the cross-check that is in force.

What belongs here: arguments and printing. What does not: reading and tightening; they are in `crosscheck`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.cli.check_files import CHECKS, load, print_page


@click.command(
    epilog="\b\nExample: govern crosscheck policy checks.yaml\n"
    "Exit: 0, or 2 when a copy loosens a shipped policy (stderr says in what)"
)
@click.argument("checks", metavar="[CHECKS.yaml]", required=False, type=CHECKS)
@click.option(
    "--config", "config_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Configuration beside which copies lie that tighten; default: gate.toml of this account.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the govern/crosscheck-policies/v1 document.")
@click.pass_context
def policy(ctx: click.Context, checks: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Print the policies in force: epsilon, mismatch, escalation, structural tests, rubric and checklist.

    A check file may lower a maximum of epsilon. A copy of another policy, under its shipped name beside the
    configuration, may only tighten it.
    """
    from governance_pipeline.crosscheck.page import policy_page
    from governance_pipeline.crosscheck.policies import policies_in_force
    from governance_pipeline.crosscheck.policies_page import epsilon_in_force, policies_document, policy_lines
    from governance_pipeline.crosscheck.policy import shipped_epsilon_policy
    from governance_pipeline.crosscheck.report import json_text
    from governance_pipeline.errors import UsageError
    from governance_pipeline.trust import config

    check_set = None if checks is None else load(ctx, checks, as_json=as_json)
    epsilon = shipped_epsilon_policy() if check_set is None else check_set.policy
    try:
        in_force = policies_in_force((config.default_config_path() if config_path is None else config_path).parent)
    except UsageError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        document = policies_document(epsilon_in_force(epsilon, check_set, str(checks)), in_force)
        click.echo(json_text(document), nl=False)
        return
    print_page(policy_page(epsilon))
    for line in policy_lines(in_force):
        click.echo(line)
