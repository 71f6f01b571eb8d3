"""`govern init`: lay out a governed project folder, or add what one lacks.

What belongs here: arguments and printing. What does not: rules; they are in `framework.scaffold`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.scaffold_options import AS_JSON, LANGUAGE, SKELETON, TEMPLATE, plan_asked_for, say_lines
from governance_pipeline.report.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(
    epilog="\b\nExample: govern init ~/projects/sales\n"
    "         govern init ~/projects/ventas --lang es --template our-wording/\n"
    "Exit: 0 laid out, 2 something stands in the way and nothing was written, 3 it could not be written"
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@LANGUAGE
@TEMPLATE
@SKELETON
@click.option("--dry-run", "is_dry_run", is_flag=True, help="Say what would be made, and change nothing.")
@AS_JSON
def init(folder: Path, language: str, template: Path | None, skeleton: bool, is_dry_run: bool, as_json: bool) -> None:
    """Lay out a governed project in DIR: what is missing is made, what is there is never overwritten.

    On an existing project it is the upgrade: new files are added, and files whose bytes differ from the template are
    listed and left as they are; `govern verify-layout DIR --diff` shows how they differ.
    """
    from governance_pipeline.framework.scaffold.laying_out import init_document, lay_out

    plan = plan_asked_for(language, is_skeleton=skeleton, template=template)
    done = lay_out(folder, plan, is_dry_run=is_dry_run)
    document = init_document(folder, plan, done, is_dry_run=is_dry_run)
    if as_json:
        click.echo(json_text(document))
        return
    say_lines(_lines(document))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    made = "would be added" if document["is_dry_run"] else "added"
    for name, word in (("added_folders", f"{made} folder"), ("added_files", made), ("differing", "differs, kept")):
        yield from (f"{word:<14} {path}" for path in document[name])
    folders, files = len(document["added_folders"]), len(document["added_files"])
    same, differing = len(document["same"]), len(document["differing"])
    yield (
        f"{document['folder']}: {folders} folders and {files} files {made}, {same} as in the template, "
        f"{differing} differ and were kept"
    )
    if document["safety_checks"] == "skeleton":
        yield "00_governance/safety_checks.py is a skeleton: until it is filled in and called, the rules are convention"
