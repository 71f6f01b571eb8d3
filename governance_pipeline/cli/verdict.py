"""`govern verdict`: what a round adds up to, why, and the command that shows it again.

What belongs here: arguments, where the inputs are, and printing. What does not: rules; they are in `verdict`.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.report.json_text import json_text
from governance_pipeline.vocabulary import ExitCode, is_round_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    Tables = Mapping[str, pd.DataFrame]

LAKE = click.option(
    "--lake", type=click.Path(file_okay=False, path_type=Path), default=Path("lake"), show_default=True,
    envvar="GOVERN_LAKE", help="Root of the stored tables.",
)  # fmt: skip
LANDING = click.option(
    "--landing", type=click.Path(file_okay=False, path_type=Path), default=Path("data/rounds"), show_default=True,
    envvar="GOVERN_LANDING", help="Folder with one folder per round, for rounds the lake does not hold.",
)  # fmt: skip
FAIL_ON = click.option(
    "--fail-on", type=click.Choice(["warn", "block", "never"]), default="block", show_default=True,
    help="From what on the exit code is 1; never turns every verdict into 0.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")

_FINDING = re.compile(r"[0-9a-f]{8,64}")


@click.group(epilog="Example: govern verdict show parser-0001 --landing data/sample/rounds")
def verdict() -> None:
    """Verdicts of rounds: pass, warn, block or unknown, with evidence for each finding."""


@verdict.command(
    epilog="\b\nExample: govern verdict decide signals.json --json\n"
    "Exit: that of the status: pass and warn 0, block 1, unknown 3; input refused 2"
)
@click.argument("file", type=click.Path(path_type=Path))
@AS_JSON
def decide(file: Path, as_json: bool) -> int:
    """Look the signals of FILE (govern/decide-input/v1) up in the decision table."""
    from governance_pipeline.verdict import decide as table
    from governance_pipeline.verdict.decision_table import exit_code
    from governance_pipeline.verdict.page import decision_page
    from governance_pipeline.verdict.signals import Status

    document = table.decide(table.read_decide_input(_bytes_of(file)))
    _answer(document, as_json, decision_page(document))
    return exit_code(Status(document["status"]))


@verdict.command(epilog="Example: govern verdict show parser-0001 --format json")
@click.argument("round_", metavar="ROUND")
@click.option(
    "--format",
    "form",
    type=click.Choice(["human", "json"]),
    default="human",
    show_default=True,
    help="A page for people, or the govern/verdict/v1 document.",
)
@LAKE
@LANDING
def show(round_: str, form: str, lake: Path, landing: Path) -> int:
    """Show the verdict of ROUND: an id in the lake or the landing folder, or a round folder.

    It is made again from the inputs, so what is shown is what they say now. Exit 0 whatever it says.
    """
    from governance_pipeline.verdict.page import verdict_page

    document = _document(round_, lake, landing)
    _answer(document, form == "json", verdict_page(document))
    return ExitCode.CLEAN


@verdict.command(
    epilog="\b\nExample: govern verdict check --finding 1f3a90c4d2b7\n"
    "Exit, as the finding or the verdict says: block 1, unknown 3, else 0; 3 when a stored finding is not found again"
)
@click.option("--finding", metavar="ID", help="Run the detectors again and look for this finding; 8 digits are enough.")
@click.option("--round", "round_", metavar="ROUND", help="Make the whole verdict of a round again.")
@click.option(
    "--folder", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Look for the finding in this round folder instead of the lake.",
)  # fmt: skip
@LAKE
@LANDING
@FAIL_ON
@AS_JSON
def check(
    finding: str | None, round_: str | None, folder: Path | None, lake: Path, landing: Path, fail_on: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Run detectors again on the stored inputs of a finding, or of a whole round."""
    from governance_pipeline.verdict.decision_table import exit_code
    from governance_pipeline.verdict.page import verdict_page
    from governance_pipeline.verdict.signals import Status

    if (finding is None) == (round_ is None):
        raise click.UsageError("give either --finding or --round")
    if finding is not None:
        return _check_finding(finding, folder, lake, landing, fail_on, as_json=as_json)
    document = _document(str(round_), lake, landing)
    _answer(document, as_json, verdict_page(document))
    return exit_code(Status(document["status"]), fail_on)


@verdict.command(epilog="Example: govern verdict selftest --json")
@AS_JSON
def selftest(as_json: bool) -> int:
    """Run both controls of every detector: the input it must fire on, and the one it must not. Exit 0 or 1."""
    from governance_pipeline.verdict.controls import selftest as run_controls
    from governance_pipeline.verdict.page import selftest_page

    results = run_controls()
    rows = [{**result._asdict(), "is_as_expected": result.is_as_expected} for result in results]
    _answer({"schema": "govern/verdict-selftest/v1", "controls": rows}, as_json, selftest_page(results))
    return ExitCode.CLEAN if all(result.is_as_expected for result in results) else ExitCode.FINDINGS


def _check_finding(finding: str, folder: Path | None, lake: Path, landing: Path, fail_on: str, *, as_json: bool) -> int:
    from governance_pipeline.verdict.again import look_again
    from governance_pipeline.verdict.decision_table import exit_code, status_of
    from governance_pipeline.verdict.page import finding_page
    from governance_pipeline.verdict.policy_document import shipped_policy
    from governance_pipeline.verdict.signals import Decision

    if not _FINDING.fullmatch(finding):
        raise click.UsageError(f"{_shown(finding)!r} is no finding id; give 8 to 64 hex digits of one")
    stored, tables = _inputs_of_finding(finding, folder, lake, landing)
    again = look_again(finding, tables, shipped_policy(), stored)
    document = again.document()
    page = finding_page(again.round_id, again.entry, is_reproduced=again.is_reproduced)
    _answer(document, as_json, page)
    if not again.is_reproduced:
        return ExitCode.UNKNOWN
    return exit_code(status_of([Decision(again.entry["decision"])]), fail_on)


def _inputs_of_finding(finding: str, folder: Path | None, lake: Path, landing: Path) -> tuple[Any, Tables]:
    """The stored findings of the rounds that may have the finding (None: none are stored), and their input tables."""
    from governance_pipeline.rounds.landing import landing_rounds
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.verdict.stored import rounds_with_finding, stored_findings, stored_tables

    if folder is not None:
        return None, _folder_tables([folder])
    stored = Lake(lake)
    if lake.is_dir() and (round_ids := rounds_with_finding(stored, finding)):
        return stored_findings(stored, round_ids), stored_tables(stored, round_ids)
    if landing.is_dir() and (names := landing_rounds(landing).rounds):
        return None, _folder_tables([landing / name for name in names])
    raise click.UsageError(
        f"no finding of {_shown(str(lake))} begins with {finding}, and {_shown(str(landing))} holds no round; "
        "name --lake, --landing or --folder"
    )


def _document(round_: str, lake: Path, landing: Path) -> dict[str, Any]:
    """The verdict document of one round, made now; duration_ms is the time that took."""
    from governance_pipeline.verdict.findings import findings
    from governance_pipeline.verdict.policy_document import shipped_policy
    from governance_pipeline.verdict.verdicts import verdicts

    round_id, tables = _inputs_of_round(round_, lake, landing)
    started = time.perf_counter_ns()
    rows = verdicts(tables, findings(tables, shipped_policy()), shipped_policy())
    took_ms = (time.perf_counter_ns() - started) // 1_000_000
    (text,) = rows.loc[rows["round_id"] == round_id, "document"]
    return {**json.loads(text), "duration_ms": took_ms}


def _inputs_of_round(round_: str, lake: Path, landing: Path) -> tuple[str, Tables]:
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.verdict.stored import stored_tables

    if is_round_id(round_):
        stored = Lake(lake)
        if lake.is_dir() and stored.has("core_rounds", round_):
            return round_, stored_tables(stored, [round_])
        if (landing / round_).is_dir():
            return round_, _folder_tables([landing / round_])
    if Path(round_).is_dir():
        folder = Path(round_).resolve()
        return folder.name, _folder_tables([folder])
    raise click.UsageError(
        f"{_shown(round_)!r} is neither a round of {_shown(str(lake))} or {_shown(str(landing))} nor a round folder"
    )


def _folder_tables(folders: Sequence[Path]) -> Tables:
    """Every table of round folders and of the rounds beside them that they continue, without storing any."""
    from governance_pipeline.ingest.round import RoundTables, read_round
    from governance_pipeline.pipeline import run_in_memory
    from governance_pipeline.storage.content import ContentStore
    from governance_pipeline.verdict.baseline import ancestors

    read: dict[str, RoundTables] = {}
    homes = {folder.name: folder for folder in folders}

    def parent(round_id: str) -> str | None:
        named = read[round_id].frame("core_rounds")["parent_round_id"].dropna()
        name = str(named.iloc[0]) if len(named) else None
        if name is None or name in read:
            return name
        beside = homes[round_id].parent / name
        if beside.is_symlink() or not beside.is_dir():
            return None
        homes[name] = beside
        read[name] = read_round(beside, name, store)
        return name

    with tempfile.TemporaryDirectory(prefix="govern-verdict-") as scratch:
        store = ContentStore(Path(scratch))
        read |= {folder.name: read_round(folder, folder.name, store) for folder in folders}
        ancestors(list(read), parent)
    return run_in_memory(list(read.values()))


def _bytes_of(path: Path) -> bytes:
    from governance_pipeline.errors import UnreadableError, UsageError
    from governance_pipeline.strict.files import open_regular
    from governance_pipeline.strict.limits import LIMITS

    try:
        with open_regular(path) as stream:
            return stream.read(LIMITS.document_bytes + 1)
    except (UnreadableError, OSError) as error:
        raise UsageError(f"{_shown(str(path))} cannot be read: {error}") from None


def _shown(text: str) -> str:
    from governance_pipeline.strict.excerpt import excerpt

    return excerpt(text)


def _answer(document: Mapping[str, Any], as_json: bool, page: Any) -> None:
    if as_json:
        click.echo(json_text(document))
        return
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(page)
