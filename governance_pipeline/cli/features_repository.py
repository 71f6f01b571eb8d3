"""`govern features repository`: the graph of a repository at a commit, and how much of it could be read.

What belongs here: arguments and printing. What does not: rules; they are in `trajectory`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.cli.waiting import waiting
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode


@click.command(
    epilog="\b\nExample: govern features repository . --base v1.0 --json\nExit: 0; no such commit 2; unreadable 3"
)
@click.argument("repository", type=click.Path(file_okay=False, path_type=Path))
@click.option("--base", default="HEAD", show_default=True, metavar="COMMIT", help="Commit whose files are read.")
@click.option("--json", "as_json", is_flag=True, help="Print one govern/repository-graph/v1 document instead of text.")
def repository(repository: Path, base: str, as_json: bool) -> int:
    """Read the files of REPOSITORY at a commit into a typed graph, and say what it covers and what it does not.

    The graph is the one features_graph_surface measures rounds in. Nothing is checked out or run.
    """
    from governance_pipeline.trajectory.repository_document import repository_document, repository_lines

    with waiting("reading files…", quiet=as_json):
        document = repository_document(repository, base)
    click.echo(json_text(document) if as_json else "\n".join(repository_lines(document)))
    return ExitCode.CLEAN
