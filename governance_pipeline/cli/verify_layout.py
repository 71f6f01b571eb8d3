"""`govern verify-layout`: look whether a project folder is as it was laid out.

What belongs here: arguments and printing. What does not: rules; they are in `framework.scaffold`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.scaffold_options import AS_JSON, TEMPLATE, say_lines
from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(
    epilog="\b\nExample: govern verify-layout ~/projects/sales\n"
    "         govern verify-layout . --in-use --safety-checks library\n"
    "Exit: 0 as laid out, 1 with the differences, 2 no such folder, 3 it cannot be read"
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--lang", "language", type=click.Choice(("en", "es")),
    help="Hold it to the words of this language; default: the one most of its files are in.",
)  # fmt: skip
@TEMPLATE
@click.option(
    "--safety-checks", "wanted", type=click.Choice(("library", "skeleton")),
    help="Which safety_checks.py must be there; default: either, and the answer says which.",
)  # fmt: skip
@click.option(
    "--in-use", "is_in_use", is_flag=True,
    help="The project has been at work: its own files in working folders, and changed state files and tables that keep "
    "their form, are no difference.",
)  # fmt: skip
@click.option("--diff", "is_diff", is_flag=True, help="Also show the changed lines of each file that differs.")
@AS_JSON
def verify_layout(
    folder: Path,
    language: str | None,
    template: Path | None,
    wanted: str | None,
    is_in_use: bool,
    is_diff: bool,
    as_json: bool,
) -> int:
    """Compare DIR with its template, folder by folder and file by file, byte for byte; nothing in it is executed."""
    from governance_pipeline.framework.scaffold import layout as layouts
    from governance_pipeline.framework.scaffold.line_diff import line_diffs
    from governance_pipeline.framework.scaffold.signatures import Variant

    if as_json and is_diff:
        raise click.UsageError("--diff shows lines and --json a document; give one of them")
    plan = layouts.matching_plan(folder, language, template)
    variant = None if wanted is None else Variant(wanted)
    found = layouts.verify_layout(folder, plan, variant=variant, is_in_use=is_in_use)
    document = layouts.layout_document(folder, plan, found, is_in_use=is_in_use)
    if as_json:
        click.echo(json_text(document))
    else:
        say_lines(_lines(document))
        if is_diff:
            say_lines(line_diffs(folder, plan))
    return ExitCode.CLEAN if document["is_as_laid_out"] else ExitCode.FINDINGS


_KINDS = {
    "library": "calls the installed library",
    "skeleton": "is the skeleton: signatures only, it enforces nothing",
    "neither": "is neither the library's nor the skeleton",
}


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield f"safety_checks.py {_KINDS[document['safety_checks']]}"
    for difference in document["differences"]:
        yield f"{difference['deviation']:<15} {difference['path']}: {difference['detail']}"
        if difference["found_sha256"]:
            yield f"{'':<15} expected {difference['expected_sha256']}"
            yield f"{'':<15} found    {difference['found_sha256']}"
    yield from (f"{'changed in use':<15} {path}" for path in document["changed_in_use"])
    count = len(document["differences"])
    answer = "is as laid out" if not count else f"differs in {count} places"
    yield (
        f"{document['folder']} {answer}; {document['compared_count']} files compared with the "
        f"{document['language']} template"
    )
