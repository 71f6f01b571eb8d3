"""`govern rounds from-git` and `export-git`: a git history as rounds, and as a file.

What belongs here: arguments and printing. What does not: rules; they are in `ingest.history`.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.import_result import warn_of_what_is_not_there
from governance_pipeline.cli.waiting import waiting
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.history.commits import Commit
    from governance_pipeline.ingest.history.folders import Promise
    from governance_pipeline.ingest.history.grouping import CommitRound
    from governance_pipeline.ingest.importing import Imported

REPOSITORY = click.Path(file_okay=False, path_type=Path)
SPAN = click.option("--range", "span", metavar="A..B", help="Commits of B that A does not have; default: all of HEAD.")


@click.command("from-git", epilog="Example: govern rounds from-git . --range v1.0..HEAD --round-by week")
@click.argument("repository", required=False, type=REPOSITORY)
@click.option("--log", "export", type=click.Path(dir_okay=False, path_type=Path), help="Read this export instead.")
@SPAN
@click.option(
    "--round-by", "by", type=click.Choice(["commit", "tag", "day", "week", "pr-merge"]), default="commit",
    show_default=True, help="What one round is.",
)  # fmt: skip
@click.option("--prefix", metavar="NAME", help="How round ids begin; default: the name of the folder or file.")
@click.option("--scope", multiple=True, metavar="GLOB", help="Scope every round is held to; more than once allowed.")
@click.option(
    "--public", multiple=True, metavar="GLOB", help="Files that are a public boundary; without any P and S are unknown."
)
@click.option("--objective", multiple=True, metavar="GLOB", help="Files that are the objective, for graph distances.")
@click.option("--cohort", metavar="NAME", help="Cohort every round is compared in.")
@click.option("--project", metavar="NAME", help="Project every round belongs to.")
@click.option("--no-repo", is_flag=True, help="Leave repository and base commit out of the contracts.")
@click.option("--dry-run", is_flag=True, help="Say which rounds it would make, and make none.")
@click.option(
    "--landing", type=REPOSITORY, default=Path("data/rounds"), show_default=True, envvar="GOVERN_LANDING",
    help="Folder with one folder per round.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def from_git(
    repository: Path | None, export: Path | None, span: str | None, by: str, prefix: str | None,
    scope: tuple[str, ...], public: tuple[str, ...], objective: tuple[str, ...], cohort: str | None,
    project: str | None, no_repo: bool, dry_run: bool, landing: Path, as_json: bool,
) -> int:  # fmt: skip
    """Make rounds of the commits of REPOSITORY, or of an exported history.

    Each commit is a step with the files it changed against its first parent. Renames are followed, the lines of binary
    files are unknown. Coding agents among author and co-authors are named. A contract says what --scope, --public,
    --objective, --cohort and --project promise, and the repository and commit a round started from, which graph
    features need.

    Exit 0 when all rounds are there, 2 when one exists already with other commits, 3 when the history cannot be read.
    """
    from governance_pipeline.ingest.documents import import_document
    from governance_pipeline.ingest.history.folders import Promise
    from governance_pipeline.ingest.history.grouping import RoundBy, rounds_of
    from governance_pipeline.rounds.globs import Globs

    Globs((*scope, *public, *objective))  # a bad glob would make every contract invalid
    with waiting("reading commits…", quiet=as_json):
        commits, name = _history(repository, export, span)
        found = rounds_of(commits, RoundBy(by), prefix or name)
    place = None if repository is None or no_repo else _from_a_round(repository, landing)
    promise = Promise(project, cohort, scope, objective, place, public)
    results = _import(found, promise, landing, dry_run=dry_run)
    said = f"{len(found)} rounds of {len(commits)} commits {'would be' if dry_run else 'are'} in {landing}"
    _print(import_document(results, dry_run), said, as_json=as_json)
    warn_of_what_is_not_there(results)
    return ExitCode.USAGE if any(result.conflicts for result in results) else ExitCode.CLEAN


@click.command("export-git", epilog="Example: govern rounds export-git . --out history.jsonl")
@click.argument("repository", type=REPOSITORY)
@SPAN
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write; it must not exist."
)
@click.option("--keep-authors", is_flag=True, help="Keep e-mail addresses; default: pseudonyms.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def export_git(repository: Path, span: str | None, out: Path, keep_authors: bool, as_json: bool) -> int:
    """Write the history of REPOSITORY as one line per commit (govern/git-log/v1)."""
    from governance_pipeline.errors import UsageError
    from governance_pipeline.ingest.documents import export_document
    from governance_pipeline.ingest.history.exports import export_bytes
    from governance_pipeline.ingest.history.repository import read_commits
    from governance_pipeline.storage.atomic import AtomicWriter

    out = out.absolute()
    if out.exists():
        raise UsageError(f"{out} exists and is not overwritten; give another --out")
    with waiting("reading commits…", quiet=as_json):
        commits = list(read_commits(repository, span))
    data = export_bytes(commits, keep_authors=keep_authors)
    AtomicWriter(out.parent).write(out, data)
    document = export_document(out.name, len(commits), len(data), hashlib.sha256(data).hexdigest())
    _print(document, f"{len(commits)} commits, {len(data)} bytes: {out}", as_json=as_json)
    return ExitCode.CLEAN


def _print(document: dict[str, Any], said: str, *, as_json: bool) -> None:
    from governance_pipeline.report.json_text import json_text

    click.echo(json_text(document) if as_json else said)


def _history(repository: Path | None, export: Path | None, span: str | None) -> tuple[list[Commit], str]:
    """Give the commits of what was named, and the name it has."""
    from governance_pipeline.errors import UsageError
    from governance_pipeline.ingest.history.exports import read_export
    from governance_pipeline.ingest.history.repository import read_commits

    if repository is not None and export is None:
        return list(read_commits(repository, span)), repository.resolve().name
    if repository is not None or export is None:
        raise UsageError("name either a repository or an exported history with --log")
    if span is not None:
        raise UsageError("--range asks a repository; an export is taken whole")
    return read_export(export), export.stem


def _from_a_round(repository: Path, landing: Path) -> str:
    """Path of the repository from the folder of a round: it holds as long as both are moved together."""
    return Path(os.path.relpath(repository.resolve(), landing.resolve() / "round")).as_posix()


def _import(found: Sequence[CommitRound], promise: Promise, landing: Path, *, dry_run: bool) -> list[Imported]:
    """Write every round beside the landing area and import it like any other round folder."""
    from governance_pipeline.ingest.history.folders import write_folder
    from governance_pipeline.ingest.importing import import_round, preview_round
    from governance_pipeline.ingest.planning import plan_import

    results = []
    with tempfile.TemporaryDirectory(prefix="govern-git-") as scratch:
        for one in found:
            [planned] = plan_import([write_folder(one, promise, Path(scratch))])
            results.append(preview_round(planned, landing) if dry_run else import_round(planned, landing))
    return results
