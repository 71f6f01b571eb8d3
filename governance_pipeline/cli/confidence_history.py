"""`govern confidence history`: scores over days as a picture.

What belongs here: arguments and writing the file. What does not: scores and drawing.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.cli.confidence_options import FOLDER, open_store, say, with_options
from governance_pipeline.cli.signing import AS_JSON


@click.command(
    epilog="\b\nExample: govern confidence history scores.svg --lake data/out/lake\n"
    "Exit: 0, 2 usage or nothing to draw, 3 events or tables cannot be used"
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--lake", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Draw the derived facts of this lake too, whether they were recorded or not.",
)  # fmt: skip
@with_options(FOLDER, AS_JSON)
def history(file: Path, lake: Path | None, folder: Path, as_json: bool) -> None:
    """Draw the score of each subject and domain over days, as SVG or PNG by the name of the file."""
    import hashlib

    from governance_pipeline.confidence.lake_tables import fold_lake
    from governance_pipeline.confidence.score_tables import fold_together, score_rows
    from governance_pipeline.errors import UsageError
    from governance_pipeline.report.score_history import FORMATS, score_history
    from governance_pipeline.storage.atomic import AtomicWriter
    from governance_pipeline.storage.lake import Lake

    file_format = file.suffix.removeprefix(".").lower()
    if file_format not in FORMATS:
        raise click.UsageError(f"{file.name} ends in neither .svg nor .png")
    store = open_store(folder)
    recorded = list(store.lines()) if lake is None or store.path.exists() else []
    together = fold_together(recorded, []) if lake is None else fold_lake(Lake(lake), recorded)
    rows = list(score_rows(together.folded))
    if not rows:
        raise UsageError("there is no scored event yet, so there is nothing to draw")
    data = score_history(rows, file_format)
    AtomicWriter(file.absolute().parent).write(file.absolute(), data)
    document = {
        "schema": "govern/confidence-history/v1",
        "file": str(file),
        "sha256": hashlib.sha256(data).hexdigest(),
        "points": len(rows),
    }
    say(document, [f"{file}: {len(rows)} points"], as_json=as_json)
