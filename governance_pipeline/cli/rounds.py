"""`govern rounds`: bring logs into rounds, look at them, check that they are what was read.

What belongs here: arguments, progress and printing. What does not: rules; they are in `ingest`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.import_result import import_exit_code, warn_of_what_is_not_there
from governance_pipeline.cli.rounds_from_git import export_git, from_git
from governance_pipeline.cli.waiting import waiting
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from governance_pipeline.ingest.importing import Imported
    from governance_pipeline.ingest.planning import PlannedRound

LANDING = click.option(
    "--landing", type=click.Path(file_okay=False, path_type=Path), default=Path("data/rounds"), show_default=True,
    envvar="GOVERN_LANDING", help="Folder with one folder per round.",
)  # fmt: skip
LAKE = click.option(
    "--lake", type=click.Path(file_okay=False, path_type=Path), default=Path("lake"), show_default=True,
    envvar="GOVERN_LAKE", help="Root of the stored tables.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


@click.group(epilog="Example: govern rounds import ~/.claude/projects")
def rounds() -> None:
    """Import rounds of agent work, list and verify them."""


rounds.add_command(from_git)
rounds.add_command(export_git)


@rounds.command("import", epilog="Example: govern rounds import runs/ --by dir --landing data/rounds")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--round", "round_id", metavar="ID", help="Make one round of everything, with this id.")
@click.option(
    "--by", type=click.Choice(["session", "day", "dir"]), default="session", show_default=True,
    help="How logs are cut into rounds: one session or trajectory, one UTC day, or one folder each.",
)  # fmt: skip
@click.option(
    "--format", "format_name", default="auto", show_default=True, help="Only logs of this format (rounds formats)."
)
@click.option("--dry-run", is_flag=True, help="Say what would be copied or refused, and copy nothing.")
@LANDING
@AS_JSON
def import_(
    paths: tuple[Path, ...],
    round_id: str | None,
    by: str,
    format_name: str,
    dry_run: bool,
    landing: Path,
    as_json: bool,
) -> int:
    """Copy logs and round folders under PATHS into the landing folder. Nothing is moved or overwritten.

    A folder with round.toml, or with a native file and no round further down, is a round and keeps its name. Of other
    logs one session or trajectory is one round, called by its session id or by 16 hex digits of its digest; files of no
    supported format that lie in one folder become one round, so that they are accounted for too.

    Exit 0 when all is there, 2 when a file was not imported because other bytes have its place, 3 when a file cannot be
    read, or is a link or no regular file. Copies of a log and what --format leaves out are not missing.
    """
    from governance_pipeline.ingest.documents import import_document
    from governance_pipeline.ingest.importing import preview_round
    from governance_pipeline.ingest.planning import By, plan_import

    with waiting("looking at files…", quiet=as_json):
        plan = plan_import(list(paths), By(by), round_id=round_id, format_name=format_name)
    results = [preview_round(one, landing) for one in plan] if dry_run else _import_all(plan, landing, quiet=as_json)
    _answer(import_document(results, dry_run), as_json, _import_lines(results, landing))
    warn_of_what_is_not_there(results)
    return import_exit_code(results)


@rounds.command("list", epilog="Example: govern rounds list --landing data/sample/rounds --json")
@LANDING
@LAKE
@AS_JSON
def list_(landing: Path, lake: Path, as_json: bool) -> int:
    """List the rounds of the landing folder."""
    from governance_pipeline.ingest.documents import list_document
    from governance_pipeline.storage.lake import Lake

    with waiting("looking at rounds…", quiet=as_json):
        document = list_document(landing, Lake(lake))
    header = ("round", "files", "bytes", "contract", "read")
    lines = [
        (row["round_id"], row["files"], row["bytes"], row["contract"], "yes" if row["is_read"] else "no")
        for row in document["rounds"]
    ]
    _answer(document, as_json, _columns([header, *lines]))
    for folder in document["refused"]:
        click.echo(f"no round: {folder['name']}: {folder['reason']}", err=True)
    return ExitCode.CLEAN


@rounds.command(epilog="Example: govern rounds show r-0042 --json")
@click.argument("round_id")
@LANDING
@AS_JSON
def show(round_id: str, landing: Path, as_json: bool) -> int:
    """Show one round as its folder is now: contract, time span, and the account of every file."""
    from governance_pipeline.ingest.documents import show_document
    from governance_pipeline.ingest.round import read_round
    from governance_pipeline.storage.content import ContentStore

    (folder,) = _folders(landing, [round_id])
    with waiting("reading the round…", quiet=as_json), tempfile.TemporaryDirectory(prefix="govern-show-") as scratch:
        document = show_document(read_round(folder, round_id, ContentStore(Path(scratch))))
    _answer(document, as_json, _show_lines(document))
    return ExitCode.CLEAN


@rounds.command(epilog="Example: govern rounds verify r-0042 r-0043")
@click.argument("round_ids", nargs=-1)
@LANDING
@LAKE
@AS_JSON
def verify(round_ids: tuple[str, ...], landing: Path, lake: Path, as_json: bool) -> int:
    """Hash the files of rounds (default: all) again and compare them with what was read.

    Exit 0 when all are the same, 1 when a file changed, is new or missing, 3 when a round was not read yet.
    """
    from governance_pipeline.ingest.documents import NOT_READ_YET, verify_document
    from governance_pipeline.rounds.landing import landing_rounds
    from governance_pipeline.storage.lake import Lake

    names = [folder.name for folder in _folders(landing, round_ids)] or landing_rounds(landing).rounds
    hidden = as_json or not sys.stderr.isatty()
    with click.progressbar(names, label="hashing", file=sys.stderr, hidden=hidden) as progress:
        document = verify_document(landing, Lake(lake), progress)
    _answer(document, as_json, _verify_lines(document))
    states = {row["state"] for row in document["rounds"]}
    if "changed" in states:
        return ExitCode.FINDINGS
    return ExitCode.UNKNOWN if NOT_READ_YET in states else ExitCode.CLEAN


@rounds.command(epilog="Example: govern rounds formats --json")
@AS_JSON
@click.option("--markdown", "is_markdown", is_flag=True, help="Print docs/formats.md: each format with its traps.")
def formats(as_json: bool, is_markdown: bool) -> int:
    """List the supported formats: what each declares, what of it can be recomputed, which versions were seen."""
    from governance_pipeline.ingest.documents import formats_document
    from governance_pipeline.ingest.formats_page import formats_markdown

    if is_markdown and not as_json:
        click.echo(formats_markdown(), nl=False)
        return ExitCode.CLEAN
    document = formats_document()
    lines = [
        (row["name"], row["versions"], f"declares {', '.join(row['declares']) or 'nothing'}",
         f"recomputes {', '.join(row['recomputable']) or 'nothing'}")
        for row in document["formats"]
    ]  # fmt: skip
    _answer(document, as_json, _columns(lines))
    return ExitCode.CLEAN


def _folders(landing: Path, round_ids: Sequence[str]) -> list[Path]:
    from governance_pipeline.errors import UsageError
    from governance_pipeline.rounds.landing import landing_rounds

    known = set(landing_rounds(landing).rounds)
    strangers = [_shown(round_id) for round_id in round_ids if round_id not in known]
    if strangers:
        raise UsageError(f"no such round in {landing}: {', '.join(strangers)}; `govern rounds list` names them")
    return [landing / round_id for round_id in round_ids]


def _import_all(plan: Sequence[PlannedRound], landing: Path, *, quiet: bool) -> list[Imported]:
    from governance_pipeline.ingest.importing import import_round

    hidden = quiet or not sys.stderr.isatty()
    with click.progressbar(length=len(plan), label="importing", file=sys.stderr, hidden=hidden) as progress:
        results = []
        for planned in plan:
            results.append(import_round(planned, landing))
            progress.update(1)
    return results


def _import_lines(results: Sequence[Imported], landing: Path) -> list[str]:
    rows = [
        (str(landing / result.round_id), f"{len(result.copied)} copied", f"{len(result.unchanged)} unchanged",
         f"{len(result.left_out)} left out", f"{len(result.conflicts)} refused")
        for result in results
    ]  # fmt: skip
    return _columns(rows)


def _show_lines(document: dict[str, Any]) -> list[str]:
    contract = document["contract"]
    files = [
        (file["path"], file["format"] or file["reason_code"], f"{file['lines_in']} {file['record_unit']}s",
         f"{file['accepted']} accepted", f"{file['quarantined']} quarantined", f"{file['blank']} blank",
         f"{file['duplicates']} duplicates")
        for file in document["files"]
    ]  # fmt: skip
    return [
        f"round     {document['round_id']}",
        f"contract  {contract['state']}{_after(contract['fault'])}",
        f"objective {_shown(contract['objective'] or 'unknown')}",
        f"span      {document['started_at'] or 'unknown'} to {document['ended_at'] or 'unknown'}",
        *_columns(files),
        *(f"{_shown(row['path'])}:{row['line'] or ''}{row['pointer']} {row['reason_code']}: {row['excerpt']}"
          for row in document["quarantine"]),
    ]  # fmt: skip


def _verify_lines(document: dict[str, Any]) -> list[str]:
    rows: list[tuple[object, ...]] = []
    for verified in document["rounds"]:
        rows.append((verified["round_id"], verified["state"]))
        rows += [(f"  {file['path']}", file["state"]) for file in verified["files"] if file["state"] != "same"]
    return _columns(rows)


def _after(fault: str | None) -> str:
    return f" ({_shown(fault)})" if fault else ""


def _shown(text: str) -> str:
    from governance_pipeline.strict.excerpt import escape_unprintable

    return escape_unprintable(text)


def _columns(rows: Sequence[Sequence[object]]) -> list[str]:
    """Align cells in columns, escaped: names of files and rounds were written by somebody else."""
    cells = [[_shown(str(cell)) for cell in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    widths = [max(len(row[index]) for row in cells if index < len(row)) for index in range(width)]
    return ["  ".join(cell.ljust(widths[i]) for i, cell in enumerate(row)).rstrip() for row in cells]


def _answer(document: dict[str, Any], as_json: bool, lines: Iterable[str]) -> None:
    if as_json:
        from governance_pipeline.report.json_text import json_text

        click.echo(json_text(document))
        return
    for line in lines:
        click.echo(line)
