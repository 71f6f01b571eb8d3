"""A landing area and a lake: makes the tables of rounds in pipeline order and keeps them.

What belongs here: reading inputs, refusing stale ones, storing results. What does not: what a table is made from
(pipeline) and who asks (cli, assets_defs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from governance_pipeline.contracts.registry import validate
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.ingest.importing import import_round
from governance_pipeline.ingest.round import RAW_TABLES, RoundTables, read_files, read_round
from governance_pipeline.pipeline import PIPELINE, TABLES, Step, Trust, joined, run_in_memory, split
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.storage.lake import Lake, Stored
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.stored import read_features, write_formulas
from governance_pipeline.trust.stored_envelopes import envelopes_in
from governance_pipeline.verdict.baseline import ancestors
from governance_pipeline.vocabulary import Layer, is_round_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.importing import Imported
    from governance_pipeline.ingest.planning import PlannedRound


KEPT_ROUNDS = 64
"""Rounds whose parsed files are kept in memory at once, and made together."""


class RoundReader:
    """Reads round folders; the last chunk is kept, so that raw and core tables of one run share one parse.

    A folder is read again as soon as any file in it differs in size, inode, mtime or ctime: a file rewritten with
    the same size and mtime still changes its ctime.
    """

    def __init__(self, landing: Path, store: ContentStore, *, kept_rounds: int = KEPT_ROUNDS) -> None:
        self._landing = landing
        self._store = store
        self._kept_rounds = kept_rounds
        self._kept: dict[str, tuple[object, RoundTables]] = {}

    def read(self, round_id: str) -> RoundTables:
        """Return the raw and core rows of one round.

        Raises:
            StorageError: the round has no folder in the landing area.
        """
        folder = self.folder(round_id)
        seen = _fingerprint(folder)
        kept = self._kept.get(round_id)
        if kept is not None and kept[0] == seen:
            return kept[1]
        tables = read_round(folder, round_id, self._store)
        self._kept[round_id] = (seen, tables)
        while len(self._kept) > self._kept_rounds:
            self._kept.pop(next(iter(self._kept)))
        return tables

    def folder(self, round_id: str) -> Path:
        """Return the landing folder of a round.

        Raises:
            StorageError: not a legal id, or no such folder.
        """
        folder = self._landing / round_id
        if not is_round_id(round_id) or not folder.is_dir() or folder.is_symlink():
            raise StorageError(
                f"round {round_id!r} has no folder in {self._landing}; import it with `govern rounds import`"
            )
        return folder


class Workspace:
    """A landing area and a lake: makes tables of rounds and keeps them.

    Args:
        landing: folder with one folder per round.
        root: root of the lake.
        trust: whom the tables may believe; without it no signature is decided.
    """

    def __init__(self, landing: Path, root: Path, trust: Trust | None = None) -> None:
        self.landing = landing
        self.lake = Lake(root)
        store = ContentStore(root)
        self.trust = (trust or Trust())._replace(envelope_of=envelopes_in(store))
        self.reader = RoundReader(landing, store)

    def round_ids(self) -> list[str]:
        """Return the ids of all rounds in the landing area, sorted; folders that are no legal id are left out."""
        if not self.landing.is_dir():
            return []
        return sorted(p.name for p in self.landing.iterdir() if p.is_dir() and is_round_id(p.name))

    def make(self, tables: Sequence[str], round_ids: Sequence[str]) -> dict[str, dict[str, Stored]]:
        """Make `tables` (in pipeline order) of `round_ids` from what is stored, and store them.

        Returns:
            table -> round id -> what was stored.

        Raises:
            StorageError: an input is missing or older than the round folder.
            ContractBreach: a table breaks its contract; nothing of that table is stored.
        """
        made: dict[str, dict[str, Stored]] = {}
        fresh: dict[str, pd.DataFrame] = {}  # made in this call: not read back for the steps after it
        for step in PIPELINE:
            if step.table in tables:
                fresh[step.table] = self._frame(step, round_ids, fresh)
                made[step.table] = self._store(step, fresh[step.table], round_ids)
        return made

    def _frame(self, step: Step, round_ids: Sequence[str], fresh: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        if step.make is None:
            read = [self.reader.read(round_id) for round_id in round_ids]
            if step.table not in RAW_TABLES:
                self._refuse_stale(read)
            return joined(step.table, [tables.frame(step.table) for tables in read])
        parents = self._parents(step, round_ids) if step.reads_parents else []
        inputs = {
            name: joined(name, [fresh[name] if name in fresh else self._stored(name, round_ids),
                                self._stored(name, parents)])
            for name in step.inputs
        }  # fmt: skip
        frame = step.make(inputs, self.trust)
        return frame[frame["round_id"].isin(round_ids)].reset_index(drop=True)

    def _parents(self, step: Step, round_ids: Sequence[str]) -> list[str]:
        """Return the rounds these continue, with the tables the step reads; one not made yet is made first.

        So a verdict is the same whether its parent was audited before it or after. A parent that is not in the
        landing area is not at hand.
        """
        found = ancestors(round_ids, self._parent_of)
        for round_id in found:
            if not all(self.lake.has(table, round_id) for table in step.inputs):
                self.make(TABLES[: TABLES.index(step.table)], [round_id])
        return found

    def _parent_of(self, round_id: str) -> str | None:
        if not self.lake.has("core_rounds", round_id):
            self.make([table for table in TABLES if table.startswith(("raw_", "core_"))], [round_id])
        parent = self.lake.get("core_rounds", round_id)["parent_round_id"].iloc[0]
        is_at_hand = pd.notna(parent) and is_round_id(parent) and (self.landing / parent).is_dir()
        return str(parent) if is_at_hand else None

    def _stored(self, table: str, round_ids: Sequence[str]) -> pd.DataFrame:
        if table.startswith(f"{Layer.FEATURES}_"):
            return read_features(self.lake, table, round_ids)
        return joined(table, [self.lake.get(table, round_id) for round_id in round_ids])

    def _store(self, step: Step, frame: pd.DataFrame, round_ids: Sequence[str]) -> dict[str, Stored]:
        validate(step.table, frame, large_rows=SETTINGS.large_table_rows)
        if step.table.startswith(f"{Layer.FEATURES}_"):
            write_formulas(self.lake)
        parts = split(frame, round_ids)
        return {
            round_id: self.lake.put(
                step.table, round_id, part, {**step.metadata(), **self._inputs(step, round_id)}, is_validated=True
            )
            for round_id, part in parts.items()
        }

    def _inputs(self, step: Step, round_id: str) -> dict[str, str]:
        return {f"input.{name}": self.lake.digest(name, round_id) or "" for name in step.inputs}

    def _refuse_stale(self, read: Iterable[RoundTables]) -> None:
        for tables in read:
            if not tables.frame("raw_log_files").equals(self.lake.get("raw_log_files", tables.round_id)):
                raise StorageError(
                    f"round {tables.round_id} has changed since raw_log_files was made; make the raw tables again first"
                )


def audit_plan(
    plan: Sequence[PlannedRound], root: Path, *, keep: bool, on_round: Callable[[], object]
) -> dict[str, pd.DataFrame]:
    """Run the whole pipeline over planned rounds: the work of `govern audit`.

    Args:
        plan: what `ingest.planning.plan_import` made of the paths.
        root: folder for copies of the sources; with `keep` also for rounds (landing/) and tables (lake/).
        keep: store rounds and tables, so that a later run can go on from them.
        on_round: called after each round.

    Returns:
        table -> frame over all rounds.

    Raises:
        StorageError: a copy cannot be kept.
        ContractBreach: a table breaks its contract.
    """
    if not keep:
        store = ContentStore(root)
        read = []
        for planned in plan:
            read.append(read_files([file.found() for file in planned.files], planned.round_id, store))
            on_round()
        return run_in_memory(read)
    workspace = Workspace(root / "landing", root / "lake")
    for planned in plan:
        _refuse_conflicts(import_round(planned, workspace.landing))
    ids = [planned.round_id for planned in plan]
    for start in range(0, len(ids), KEPT_ROUNDS):
        chunk = ids[start : start + KEPT_ROUNDS]
        workspace.make(TABLES, chunk)
        for _ in chunk:
            on_round()
    return {table: joined(table, [workspace.lake.get(table, round_id) for round_id in ids]) for table in TABLES}


def _refuse_conflicts(imported: Imported) -> None:
    """A source that changed since it was stored is never overwritten, and never audited in its old version unseen."""
    if imported.conflicts:
        said = "; ".join(f"{excerpt(path)}: {message}" for path, message in imported.conflicts)
        raise UsageError(f"round {imported.round_id} is stored with other bytes: {said}; use another --store")


def _fingerprint(folder: Path) -> tuple[object, ...]:
    """Return what changes whenever a file of the folder does; decides whether to read again, never evidence."""
    stats = ((path, path.lstat()) for path in sorted(folder.rglob("*")))
    return tuple((path, s.st_mode, s.st_size, s.st_ino, s.st_mtime_ns, s.st_ctime_ns) for path, s in stats)
