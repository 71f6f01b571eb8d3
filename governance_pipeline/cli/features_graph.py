"""`govern features graph`: symbols, distance and centrality of changes in a given graph.

What belongs here: arguments and printing. What does not: rules; they are in `trajectory`.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode


@click.command(
    epilog="\b\nExample: govern features graph changes.json --json\nExit: 0; refused input 2, with nothing on stdout"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one govern/graph/v1 document instead of text.")
def graph(file: Path, as_json: bool) -> int:
    """Compute Y, D and C of the changes in FILE (govern/graph-input/v1) from the graph it holds.

    Y counts changed symbols, D is the mean number of hops to the objective set, C the mean PageRank percentile.
    """
    from governance_pipeline.trajectory.graph_document import graph_document
    from governance_pipeline.trajectory.graph_input import read_graph_input

    document = graph_document(read_graph_input(file))
    if as_json:
        click.echo(json_text(document))
        return ExitCode.CLEAN
    from rich.console import Console

    from governance_pipeline.trajectory.graph_page import graph_page

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(graph_page(document))
    return ExitCode.CLEAN
