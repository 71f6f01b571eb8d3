"""The confidence tables of a lake: made from its other tables, and read by none of them.

What belongs here: which tables are read and written, and what they say they were made from. What does not: the rows
(`event_rows`, `score_tables`). They are no steps of the pipeline: they need what people decided and recorded, and an
audit must be the same whatever anybody's score is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.confidence.event_rows import FILE, LineFile, fact_row, line_rows
from governance_pipeline.confidence.facts import FACT_TABLES, facts_of
from governance_pipeline.confidence.score_tables import Together, fold_together, pool_rows, score_rows, team_rows
from governance_pipeline.confidence.store import EventStore
from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.errors import StorageError
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.strict.canonical import canonical_json, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    import pandas as pd

    from governance_pipeline.storage.lake import Lake, Stored

    Decided = tuple[str, str, str, datetime]

EVENTS: Final = "confidence_events"
SCORES, POOLS, TEAMS = "confidence_scores", "confidence_pools", "confidence_teams"
INPUTS: Final = ("raw_log_files", *FACT_TABLES)
"""The tables `confidence_events` is made from."""
JUDGED: Final = "verdict_findings"
"""A round with this table can be looked at for facts."""
LINE_FILES: Final = "input.confidence_files"
"""Name under which a table says which confidence.jsonl files it lists, and whether a person has imported them."""


def make_events(
    lake: Lake, round_ids: Sequence[str], decided: Iterable[Decided] = (), imported: Collection[str] = ()
) -> dict[str, Stored]:
    """Make `confidence_events` of rounds, each from its own tables alone.

    Args:
        lake: where tables are read and stored.
        round_ids: the rounds.
        decided: mismatches people have decided in a way that counts.
        imported: digests of the confidence.jsonl files a person has imported.

    Returns:
        Round -> what was stored.

    Raises:
        StorageError: an input is missing or damaged.
    """
    facts = list(decided)
    made = {}
    for round_id in round_ids:
        made_from = {f"input.{table}": lake.digest(table, round_id) or "" for table in INPUTS}
        tables = {table: lake.get(table, round_id) for table in FACT_TABLES}
        rows = [fact_row(round_id, fact) for fact in facts_of(tables, round_id, facts)]
        files = list(_line_files(lake, round_id))
        for file in files:
            rows += line_rows(round_id, file, imported)
        made_from["input.decisions"] = decisions_digest(round_id, facts)
        made_from[LINE_FILES] = line_states([file.sha256 for file in files], imported)
        made[round_id] = lake.put(EVENTS, round_id, frame_of(EVENTS, rows), made_from)
    return made


def decisions_digest(round_id: str, decided: Iterable[Decided]) -> str:
    """Return the digest of what people decided about the mismatches of one round, in any order."""
    mine = sorted([record, outcome, at.isoformat()] for of, record, outcome, at in decided if of == round_id)
    return sha256_hex(canonical_json(mine))


def line_states(files: Iterable[str], imported: Collection[str]) -> str:
    """Return files by digest with whether a person has imported each, as one text."""
    return ",".join(sorted(f"{digest}:{'imported' if digest in imported else 'not_imported'}" for digest in files))


def rounds_without_events(lake: Lake) -> list[str]:
    """Return the judged rounds of a lake whose facts nobody has looked for, sorted."""
    return [round_id for round_id in lake.rounds(JUDGED) if not lake.has(EVENTS, round_id)]


def refresh_scores(lake: Lake, folder: Path | None) -> dict[str, Stored]:
    """Make the three tables of scores of all rounds of the lake and of what people recorded.

    Args:
        lake: where tables are read and stored.
        folder: of the recorded events; without one, or where none were ever recorded, only derived facts count.

    Returns:
        Table -> what was stored.

    Raises:
        StorageError: a table or the store is damaged.
    """
    with lake.writer.locked("confidence"):
        recorded = list(recorded_lines(folder))
        made_from = scores_made_from(lake, recorded)
        together = fold_lake(lake, recorded)
        rows = {SCORES: score_rows(together.folded), POOLS: pool_rows(together), TEAMS: team_rows(together)}
        return {table: lake.put(table, None, frame_of(table, found), made_from) for table, found in rows.items()}


def scores_made_from(lake: Lake, recorded: Sequence[bytes]) -> dict[str, str]:
    """Return what the tables of scores say they were made from: all events of the lake, and the recorded lines."""
    digests = lake.digests(EVENTS)
    return {
        f"input.{EVENTS}": sha256_hex(canonical_json(sorted([str(of), one] for of, one in digests.items()))),
        "input.recorded": sha256_hex(b"".join(line + b"\n" for line in recorded)),
    }


def fold_lake(lake: Lake, recorded: Iterable[bytes]) -> Together:
    """Fold recorded lines with the derived facts of every round of the lake; raises as `refresh_scores`."""
    return fold_together(recorded, [fact["event"] for fact in derived_facts(lake)])


def derived_facts(lake: Lake) -> list[dict[str, Any]]:
    """Return the rows of `confidence_events` that are scored, of all rounds, by round and row."""
    frames = (lake.get(EVENTS, round_id) for round_id in lake.rounds(EVENTS))
    return [row for frame in frames for row in plain_rows(_derived(frame))]


def _derived(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["state"] == "derived"]


def recorded_lines(folder: Path | None) -> Iterator[bytes]:
    """Yield what people recorded, registry lines included; nothing where there is no store.

    Raises:
        StorageError: the store is damaged.
    """
    if folder is None:
        return
    store = EventStore(folder)
    if store.path.exists() or store.path.is_symlink():
        yield from store.lines()


def _line_files(lake: Lake, round_id: str) -> Iterator[LineFile]:
    files = lake.get("raw_log_files", round_id)
    store = ContentStore(lake.root, lake.writer)
    for row in plain_rows(files[files["path"] == FILE]):
        digest = row["file_sha256"]
        if digest is None or not store.has(digest):
            raise StorageError(f"the copy of {FILE} of round {round_id} is gone; make its raw tables again")
        yield LineFile(row["path"], store.verify(digest), digest)
