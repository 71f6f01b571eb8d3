"""`govern framework`: what is enforced, and the scripts that lay out a folder without Python.

What belongs here: arguments and printing. What does not: rules; they are in `framework`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.scaffold_options import AS_JSON, LANGUAGE, SKELETON, TEMPLATE, plan_asked_for, say_lines
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT_SCHEMA = "govern/framework-script/v1"


@click.group(epilog="Example: govern framework coverage")
def framework() -> None:
    """What of a governed project's rules is enforced, and laying one out without Python."""


@framework.command(
    epilog="\b\nExample: govern framework coverage --project .\n"
    "Exit: 0, or 1 when a check that is promised is not in this installation"
)
@click.option(
    "--project", type=click.Path(path_type=Path), envvar="GOVERN_PROJECT", metavar="DIR",
    help="Say it of this project, whose safety_checks.py may be a skeleton; default: of the installed version.",
)  # fmt: skip
@LANGUAGE
@AS_JSON
def coverage(project: Path | None, language: str, as_json: bool) -> int:
    """Print every written rule with the code that enforces it and the test that breaks it, or as convention only."""
    from governance_pipeline.framework.coverage import coverage_document
    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.scaffold.signatures import variant_of_folder

    variant = None if project is None else variant_of_folder(GovernedFolder(project).root)
    document = coverage_document(language, variant)
    if as_json:
        click.echo(json_text(document))
    else:
        say_lines(_coverage_lines(document))
    return ExitCode.FINDINGS if any(rule["missing"] for rule in document["rules"]) else ExitCode.CLEAN


@framework.command(epilog="Example: govern framework script sh > setup_agent_project.sh")
@click.argument("kind", type=click.Choice(("sh", "bat")))
@LANGUAGE
@TEMPLATE
@SKELETON
@AS_JSON
def script(kind: str, language: str, template: Path | None, skeleton: bool, as_json: bool) -> None:
    """Print the script that lays out the same tree without Python: POSIX shell (sh) or Windows batch (bat)."""
    from governance_pipeline.framework.scaffold.batch_script import batch_script
    from governance_pipeline.framework.scaffold.shell_script import shell_script

    plan = plan_asked_for(language, is_skeleton=skeleton, template=template)
    data = shell_script(plan) if kind == "sh" else batch_script(plan)
    if not as_json:
        click.echo(data, nl=False)
        return
    document = {
        "schema": SCRIPT_SCHEMA,
        "name": f"setup_agent_project.{kind}",
        "language": language,
        "safety_checks": str(plan.variant),
        "sha256": hashlib.sha256(data).hexdigest(),
        "text": data.decode("utf-8"),
    }
    click.echo(json_text(document))


def _coverage_lines(document: dict[str, Any]) -> Iterator[str]:
    for rule in document["rules"]:
        yield f"{rule['rule_id']:<13} {rule['state'].replace('_', ' '):<16} {rule['title']}"
        for check in rule["checks"]:
            yield f"{'':<13}   check    {check['name']}"
            yield f"{'':<13}   called   {check['called_at']}"
            yield f"{'':<13}   test     {check['test']}"
        if rule["convention"]:
            yield f"{'':<13}   not enforced: {rule['convention']}"
    counts = document["counts"]
    yield (
        f"enforced: {counts['enforced']}, in part: {counts['partly']}, convention only: {counts['convention_only']}"
        + ("" if document["safety_checks"] is None else f"; safety_checks.py: {document['safety_checks']}")
    )
