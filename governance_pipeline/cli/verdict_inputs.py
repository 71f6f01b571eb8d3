"""Where `govern verdict` finds what a verdict is made from: the lake, the landing folder, or one round folder.

What belongs here: the options that name these, and reading them. What does not: rules, and printing.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from governance_pipeline.pipeline import Trust
    from governance_pipeline.verdict.calibration import Records
    from governance_pipeline.verdict.dismissals import Dismissals
    from governance_pipeline.verdict.policy_document import Policy

    Tables = Mapping[str, pd.DataFrame]

LAKE = click.option(
    "--lake", type=click.Path(file_okay=False, path_type=Path), default=Path("lake"), show_default=True,
    envvar="GOVERN_LAKE", help="Root of the stored tables.",
)  # fmt: skip
LANDING = click.option(
    "--landing", type=click.Path(file_okay=False, path_type=Path), default=Path("data/rounds"), show_default=True,
    envvar="GOVERN_LANDING", help="Folder with one folder per round, for rounds the lake does not hold.",
)  # fmt: skip
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


CONFIG = click.option(
    "--config", "config_path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="What this verifier trusts, and so whose dismissals count; default: gate.toml of this account, if there.",
)  # fmt: skip


def trust_of(config_path: Path | None) -> Trust:
    """Give whom a verdict may believe; nobody where no gate is configured and none is named.

    Raises:
        GovernError: what is configured cannot be used.
    """
    from datetime import UTC, datetime

    from governance_pipeline.believed import believed
    from governance_pipeline.pipeline import Trust
    from governance_pipeline.trust.config import default_config_path, load_config

    place = default_config_path() if config_path is None else config_path
    if config_path is None and not place.exists():
        return Trust()
    return believed(load_config(place), datetime.now(UTC))


class Said(NamedTuple):
    """What people have signed: dismissals, the calibrations in force by signal, and the plans of these."""

    dismissals: Dismissals
    calibrations: Records
    plans: Sequence[Mapping[str, Any]]


def said_of(trust: Trust) -> Said:
    """Give what of the recorded dismissals and calibrations counts."""
    from governance_pipeline.verdict.calibrations import plans_in_force, records_in_force
    from governance_pipeline.verdict.dismissals import Dismissals

    known = (trust.calibrations, trust.root, trust.now)
    dismissals = Dismissals(trust.root, trust.now, trust.dismissals, trust.dismissal_policy)
    return Said(dismissals, records_in_force(*known), plans_in_force(*known))


def verdict_of(round_: str, lake: Path, landing: Path, trust: Trust) -> dict[str, Any]:
    """Make the verdict document of one round now.

    Raises:
        click.UsageError: no such round.
        StorageError: an input table of it is missing or damaged.
    """
    from governance_pipeline.verdict.policy_document import shipped_policy

    round_id, tables = inputs_of_round(round_, lake, landing)
    return verdict_document(round_id, tables, shipped_policy(), said_of(trust))


def verdict_document(round_id: str, tables: Tables, policy: Policy, said: Said) -> dict[str, Any]:
    """Make the verdict document of a round from its input tables; duration_ms is the time that took."""
    from governance_pipeline.verdict.findings import findings
    from governance_pipeline.verdict.verdicts import verdicts

    started = time.perf_counter_ns()
    rows = verdicts(tables, findings(tables, policy, said.dismissals, said.calibrations), policy)
    took_ms = (time.perf_counter_ns() - started) // 1_000_000
    (text,) = rows.loc[rows["round_id"] == round_id, "document"]
    return {**json.loads(text), "duration_ms": took_ms}


def inputs_of_round(round_: str, lake: Path, landing: Path) -> tuple[str, Tables]:
    """Give the id of a round and its input tables, those of the rounds it continues included; raises as above."""
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.verdict.stored import stored_tables

    if is_round_id(round_):
        stored = Lake(lake)
        if lake.is_dir() and stored.has("core_rounds", round_):
            return round_, stored_tables(stored, [round_])
        if (landing / round_).is_dir():
            return round_, folder_tables([landing / round_])
    if Path(round_).is_dir():
        folder = Path(round_).resolve()
        return folder.name, folder_tables([folder])
    raise click.UsageError(
        f"{shown(round_)!r} is neither a round of {shown(str(lake))} or {shown(str(landing))} nor a round folder"
    )


def inputs_of_finding(finding: str, folder: Path | None, lake: Path, landing: Path) -> tuple[Any, Tables]:
    """Give the stored findings of the rounds that may have a finding (None: none are stored), and their input tables.

    Raises:
        click.UsageError: no round of these places can have it.
        StorageError: a stored table is damaged.
    """
    from governance_pipeline.rounds.landing import landing_rounds
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.verdict.stored import rounds_with_finding, stored_findings, stored_tables

    if folder is not None:
        return None, folder_tables([folder])
    stored = Lake(lake)
    if lake.is_dir() and (round_ids := rounds_with_finding(stored, finding)):
        return stored_findings(stored, round_ids), stored_tables(stored, round_ids)
    if landing.is_dir() and (names := landing_rounds(landing).rounds):
        return None, folder_tables([landing / name for name in names])
    raise click.UsageError(
        f"no finding of {shown(str(lake))} begins with {finding}, and {shown(str(landing))} holds no round; "
        "name --lake, --landing or --folder"
    )


def folder_tables(folders: Sequence[Path]) -> Tables:
    """Make every table of round folders and of the rounds beside them that they continue, without storing any."""
    from governance_pipeline.ingest.round import RoundTables, read_round
    from governance_pipeline.pipeline import Trust, run_in_memory
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
    return run_in_memory(list(read.values()), Trust(landing=homes))


def bytes_of(path: Path) -> bytes:
    """Read a file a person names, whole.

    Raises:
        UsageError: it cannot be read.
    """
    from governance_pipeline.errors import UnreadableError, UsageError
    from governance_pipeline.strict.files import open_regular
    from governance_pipeline.strict.limits import LIMITS

    try:
        with open_regular(path) as stream:
            return stream.read(LIMITS.document_bytes + 1)
    except (UnreadableError, OSError) as error:
        raise UsageError(f"{shown(str(path))} cannot be read: {error}") from None


def shown(text: str) -> str:
    """Make text of a command line safe for a message."""
    from governance_pipeline.strict.excerpt import excerpt

    return excerpt(text)


def answer(document: Mapping[str, Any], as_json: bool, page: Any) -> None:
    """Print a document as JSON, or its page."""
    from governance_pipeline.report.json_text import json_text

    if as_json:
        click.echo(json_text(document))
        return
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=160)
    console.print(page)
