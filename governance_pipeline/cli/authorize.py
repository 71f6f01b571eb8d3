"""`govern authorize`: may this agent do this now, and by which rule.

What belongs here: arguments and printing. What does not: the rules; they are in `framework.authorize`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG, PROJECT, folder_of
from governance_pipeline.cli.signing import LAKE, answer, clock, open_trusted
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from governance_pipeline.framework.authorize import Answer
    from governance_pipeline.gate.passage import Verifier

CORPUS = "reprocess_corpus"


@click.command(
    epilog="\b\nExample: govern authorize delete_exports --agent worker --scope exports/old.csv --ask\n\b\n"
    "Exit: 0 allowed, 4 it needs an approval or is refused; the answer says which, and by which rule"
)
@click.argument("action", metavar="ACTION")
@click.option("--agent", required=True, metavar="ID", help="Who wants to act.")
@click.option("--scope", metavar="WHAT", help="On what: a path below the project, or a name.")
@click.option("--backup", type=click.Path(path_type=Path), metavar="FILE", help="Copy of what would be overwritten.")
@click.option("--why", metavar="TEXT", help="The reason, for the person who decides.")
@click.option("--ask", "asks", is_flag=True, help="Ask a person where one has to decide.")
@click.option(
    "--run", "run_id", metavar="ID", help="The run that acts now: it uses the approval, and no other run can."
)
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def authorize(
    action: str, agent: str, scope: str | None, backup: Path | None, why: str | None, asks: bool, run_id: str | None,
    project: Path | None, lake: Path, config_path: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Ask whether an agent may do ACTION now: by the allow-list, and by a person's approval where it is critical."""
    from governance_pipeline.contracts.registry import REGISTRY, is_by_round
    from governance_pipeline.errors import UsageError
    from governance_pipeline.framework.authorize import Question, Verdict, authorize_document
    from governance_pipeline.framework.authorize import authorize as decide

    question = Question(action, agent, scope, backup, why, asks, run_id)
    try:
        folder = folder_of(project)
    except UsageError:
        if project is not None or action != CORPUS:
            raise
        folder = None
    tables = [table for table in REGISTRY if is_by_round(table) and not table.startswith(("gate_", "published_"))]
    found = decide(question, folder, _trusted(config_path, lake), clock(), tables)
    answer(authorize_document(question, found), _lines(found), as_json=as_json)
    return ExitCode.CLEAN if found.verdict is Verdict.ALLOWED else ExitCode.REFUSED


def _trusted(config_path: Path | None, lake: Path) -> Verifier | None:
    """Open what is trusted; None where no gate is configured."""
    from governance_pipeline.trust.config import default_config_path

    if config_path is None and not default_config_path().exists():
        return None
    return open_trusted(config_path, lake, clock())


def _lines(found: Answer) -> list[str]:
    over = [f"{standing}: {row.words}; remove it" for row, standing in found.inactive]
    return [f"{found.verdict} ({found.rule}): {found.reason}", *over]
