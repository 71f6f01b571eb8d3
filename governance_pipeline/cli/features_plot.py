"""`govern features plot`: the figures of one round as files.

What belongs here: arguments, writing and printing. What does not: rules; numbers and figures are made in `report`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from governance_pipeline.cli.verdict_inputs import LAKE, LANDING, inputs_of_round
from governance_pipeline.report.texts import LANGUAGES, words
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.report.plot_files import Form
    from governance_pipeline.report.texts import Language

_READABLE = 0o644


@click.command(epilog="Example: govern features plot parser-0001 --landing data/sample/rounds --out figures")
@click.argument("round_", metavar="ROUND")
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path),
    help="Folder for ROUND-surface, ROUND-cohort and ROUND-amplification; files of these names are replaced.",
)  # fmt: skip
@click.option("--format", "form", type=click.Choice(["svg", "png"]), default="svg", show_default=True, help="As what.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the figures.")
@LAKE
@LANDING
@click.option("--json", "as_json", is_flag=True, help="Print the numbers drawn as one JSON document instead of names.")
def plot(round_: str, out: Path, form: Form, lang: Language, lake: Path, landing: Path, as_json: bool) -> int:
    """Draw surface and evidence by step, position in the cohort, and amplification of ROUND.

    ROUND is an id in the lake or the landing folder, or a round folder; a cohort is known in the lake only. What is
    unknown is a gap, never 0; a figure without a known number is not made, and that is said. Exit 0.
    """
    from governance_pipeline.report.json_text import json_text
    from governance_pipeline.report.plot_files import plot_document, plot_files
    from governance_pipeline.report.trajectory_series import trajectories

    round_id, tables = inputs_of_round(round_, lake, landing)
    [shown] = [each for each in trajectories(tables) if each.round_id == round_id]
    files = plot_files(shown, words(lang), form)
    document = plot_document(shown, files, form)
    names = {each["figure"]: each["file"] for each in document["files"]}
    _write(out, {names[figure]: data for figure, data in files.items()})
    for figure in document["nothing_to_draw"]:
        click.echo(f"nothing known to draw: {figure}", err=True)
    if as_json:
        click.echo(json_text(document))
    else:
        for name in names.values():
            click.echo(str(out / name))
    return ExitCode.CLEAN


def _write(out: Path, files: Mapping[str, bytes]) -> None:
    from governance_pipeline.errors import StorageError, UsageError
    from governance_pipeline.storage.atomic import AtomicWriter

    try:
        out.mkdir(parents=True, exist_ok=True)
        writer = AtomicWriter(out)
        for name, data in files.items():
            writer.write(out / name, data, mode=_READABLE)
    except (StorageError, OSError) as error:
        raise UsageError(f"--out: {error}; choose another folder") from None
