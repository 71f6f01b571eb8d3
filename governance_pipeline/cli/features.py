"""`govern features`: how far each step of a round spread, and how much it proved.

What belongs here: arguments, progress and printing. What does not: rules; numbers, words and pages are made in
`trajectory`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.features_amplification import amplification
from governance_pipeline.cli.features_cohort import cohort
from governance_pipeline.cli.features_conformal import conformal
from governance_pipeline.cli.features_graph import graph
from governance_pipeline.cli.features_plot import plot
from governance_pipeline.cli.features_repository import repository
from governance_pipeline.cli.features_weights import register, sensitivity
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode, is_round_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

LANDING = click.option(
    "--landing", type=click.Path(file_okay=False, path_type=Path), default=Path("data/rounds"), show_default=True,
    envvar="GOVERN_LANDING", help="Folder with one folder per round.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")

ROUNDS_AT_ONCE = 50
"""Rounds whose tables are held at a time; computing them together costs a fraction of one by one."""


@click.group(epilog="Example: govern features compute data/sample/rounds/parser-0001")
def features() -> None:
    """Trajectory features: surface, scope, entropy and evidence of every step of a round."""


features.add_command(amplification)
features.add_command(graph)
features.add_command(plot)
features.add_command(repository)
features.add_command(conformal)
features.add_command(cohort)
features.add_command(register)
features.add_command(sensitivity)


@features.command(epilog="Example: govern features compute data/sample/rounds/parser-0001 --json")
@click.argument("round_dir", metavar="[ROUND_DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--all", "all_rounds", is_flag=True, help="All rounds of the landing folder instead of one.")
@LANDING
@AS_JSON
def compute(round_dir: Path | None, all_rounds: bool, landing: Path, as_json: bool) -> int:
    """Compute the features of the round in ROUND_DIR, or of --all rounds. Nothing is stored.

    One round gives a govern/features/v1 document, --all a govern/features-list/v1 document.
    """
    from governance_pipeline.trajectory.documents import list_document
    from governance_pipeline.trajectory.page import features_page

    if (round_dir is None) != all_rounds:
        raise click.UsageError("give either ROUND_DIR or --all")
    folders = _all_folders(landing) if round_dir is None else [_folder(round_dir)]
    documents = _documents(folders, quiet=as_json)
    if as_json:
        _print_json(list_document(documents) if all_rounds else documents[0])
    else:
        _print_page(features_page(documents))
    return ExitCode.CLEAN


@features.command(epilog="Example: govern features explain parser-0001 --landing data/sample/rounds")
@click.argument("round_", metavar="ROUND")
@LANDING
@AS_JSON
def explain(round_: str, landing: Path, as_json: bool) -> int:
    """Show the terms of S, D, E and J of each step in words, with numbers and sources.

    ROUND is an id in the landing folder, or a round folder. D is the share outside the scope; then come symbols, hops
    to the objective set and centrality in the repository graph (version 2), and what the round is compared by, each
    with its reason when unknown.
    """
    from governance_pipeline.trajectory.explanation import explain_document
    from governance_pipeline.trajectory.page import explain_page

    named = landing / round_
    folder = _folder(named if is_round_id(round_) and named.is_dir() else Path(round_))
    document = explain_document(_tables([folder]), folder.name, {folder.name: folder})
    if as_json:
        _print_json(document)
    else:
        _print_page(explain_page(document))
    return ExitCode.CLEAN


@features.command(epilog="Example: govern features formulas --json > features_formulas.json")
@click.option("--graph", "of_graph", is_flag=True, help="Those of the tables that need a repository, as JSON.")
@AS_JSON
def formulas(of_graph: bool, as_json: bool) -> int:
    """Print the formulas in force, with epsilon, version and the digest of the code that computes them."""
    from governance_pipeline.trajectory import graph_formulas
    from governance_pipeline.trajectory.formulas import formulas_document, formulas_text
    from governance_pipeline.trajectory.page import formulas_page

    if of_graph:
        click.echo(graph_formulas.formulas_text(), nl=False)
    elif as_json:
        click.echo(formulas_text(), nl=False)
    else:
        _print_page(formulas_page(formulas_document()))
    return ExitCode.CLEAN


def _folder(given: Path) -> Path:
    """The round folder, named as the round is; a wrong one is a usage error."""
    folder = Path(os.path.abspath(given))  # noqa: PTH100 - resolve() would follow a link to a folder
    if folder.is_symlink() or not folder.is_dir():
        raise click.UsageError(f"{_shown(str(given))} is no round folder; give the folder itself, not a file or a link")
    if not is_round_id(folder.name):
        raise click.UsageError(
            f"{_shown(folder.name)!r} is no legal round id, and the name of the folder is the id of its round"
        )
    return folder


def _all_folders(landing: Path) -> list[Path]:
    from governance_pipeline.rounds.landing import landing_rounds

    found = landing_rounds(landing)
    for refused in found.refused:
        click.echo(f"no round: {refused.name}: {refused.reason}", err=True)
    if not found.rounds:
        raise click.UsageError(f"{_shown(str(landing))} holds no round; import some with `govern rounds import`")
    return [landing / round_id for round_id in found.rounds]


def _documents(folders: Sequence[Path], *, quiet: bool) -> list[dict[str, Any]]:
    from governance_pipeline.trajectory.documents import features_documents

    hidden = quiet or len(folders) == 1 or not sys.stderr.isatty()
    documents: list[dict[str, Any]] = []
    with click.progressbar(length=len(folders), label="computing", file=sys.stderr, hidden=hidden) as progress:
        for start in range(0, len(folders), ROUNDS_AT_ONCE):
            batch = folders[start : start + ROUNDS_AT_ONCE]
            documents += features_documents(_tables(batch))
            progress.update(len(batch))
    return documents


def _tables(folders: Sequence[Path]) -> Mapping[str, pd.DataFrame]:
    """Raw and core tables of round folders, read into a store that is thrown away."""
    from governance_pipeline.ingest.round import read_round
    from governance_pipeline.pipeline import joined
    from governance_pipeline.storage.content import ContentStore

    with tempfile.TemporaryDirectory(prefix="govern-features-") as scratch:
        store = ContentStore(Path(scratch))
        read = [read_round(folder, folder.name, store).frames for folder in folders]
    return {table: joined(table, [frames[table] for frames in read]) for table in read[0]}


def _shown(text: str) -> str:
    from governance_pipeline.strict.excerpt import excerpt

    return excerpt(text)


def _print_json(document: Mapping[str, Any]) -> None:
    click.echo(json_text(document))


def _print_page(page: Any) -> None:
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(page)
