"""`govern stage`: marks between the stages of a run, derived again before the next one begins.

What belongs here: arguments and printing. What does not: rules; they are in `framework.gate_markers`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from governance_pipeline.cli.governed_project import AS_JSON, PROJECT, folder_of
from governance_pipeline.cli.signing import answer
from governance_pipeline.vocabulary import ExitCode

STAGE = click.argument("name", metavar="STAGE")
FILE = click.Path(path_type=Path)


@click.group(epilog="Example: govern stage inspect A --needs data/clean.parquet && python publish.py")
def stage() -> None:
    """What a stage read and made: measured when it ends, measured again before the next begins."""


@stage.command(epilog="Example: govern stage complete A --run run-7 --by worker-1 --output data/clean.parquet")
@STAGE
@click.option("--run", "run_id", required=True, metavar="ID", help="Run the stage belongs to.")
@click.option("--by", required=True, metavar="ID", help="Agent that ran it.")
@click.option("--output", "outputs", multiple=True, required=True, type=FILE, help="File it made; again for each.")
@click.option("--input", "inputs", multiple=True, type=FILE, help="File it read; again for each.")
@PROJECT
@AS_JSON
def complete(
    name: str, run_id: str, by: str, outputs: tuple[Path, ...], inputs: tuple[Path, ...], project: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Mark STAGE as completed, with digest, size and rows of every file as they are now."""
    from governance_pipeline.framework.gate_markers import complete_stage

    document = dict(
        complete_stage(
            folder_of(project), name, run_id=run_id, by=by, now=datetime.now(UTC), outputs=outputs, inputs=inputs
        )
    )
    count = len(document["inputs"]) + len(document["outputs"])
    answer(document, [f"stage {name} is marked with {count} measured files"], as_json=as_json)


@stage.command(
    epilog="\b\nExample: govern stage inspect A --needs data/clean.parquet\n"
    "Exit: 0 the next stage may begin, 4 it may not, with the reason code"
)
@STAGE
@click.option("--needs", multiple=True, type=FILE, help="File the next stage uses; STAGE must have made it.")
@PROJECT
@AS_JSON
def inspect(name: str, needs: tuple[Path, ...], project: Path | None, as_json: bool) -> int:
    """Measure again everything the mark of STAGE says; that the file is there proves nothing.

    A count that a program made is derived again by a program (framework.gate_markers), never here.
    """
    from governance_pipeline.framework.gate_markers import inspect_stage
    from governance_pipeline.framework.work_documents import stage_document

    found = inspect_stage(folder_of(project), name, needs=needs)
    code = str(found.reason_code).upper()
    said = f"stage {name} is completed: every file is as it was marked" if found.ok else f"{code}: {found.message}"
    answer(stage_document(found), [said], as_json=as_json)
    return ExitCode.CLEAN if found.ok else ExitCode.REFUSED
