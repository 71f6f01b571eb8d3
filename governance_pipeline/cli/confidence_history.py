"""`govern confidence history`: scores over days as a picture.

What belongs here: arguments and writing the file. What does not: scores and drawing.
"""

from __future__ import annotations

from pathlib import Path

import click

from governance_pipeline.cli.confidence_options import FOLDER, open_store, say, with_options
from governance_pipeline.cli.signing import AS_JSON, LAKE


@click.command(
    epilog="\b\nExample: govern confidence history scores.svg --with-facts --lake data/out/lake\n"
    "Exit: 0, 2 usage or nothing to draw, 3 events or tables cannot be used"
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--with-facts", is_flag=True, help="Draw the derived facts of the lake too, recorded or not.")
@with_options(LAKE, FOLDER, AS_JSON)
def history(file: Path, with_facts: bool, lake: Path, folder: Path, as_json: bool) -> None:
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
    recorded = list(store.lines()) if not with_facts or store.path.exists() else []
    together = fold_lake(Lake(lake), recorded) if with_facts else fold_together(recorded, [])
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
