"""A landing area and a lake: makes the tables of rounds in pipeline order and keeps them.

What belongs here: reading inputs, refusing stale ones, storing results. What does not: what a table is made from
(pipeline) and who asks (cli, assets_defs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from governance_pipeline.contracts.registry import contract_of, validate
from governance_pipeline.errors import StorageError
from governance_pipeline.framework.reprocessing import Keeper, Reprocessing
from governance_pipeline.ingest.round import RAW_TABLES, RoundTables, read_round, table_of
from governance_pipeline.pipeline import MEASURED_TABLES, PIPELINE, TABLES, Step, Trust, joined, split
from governance_pipeline.rounds.landing import fingerprint
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.storage.kept_frames import KeptFrames
from governance_pipeline.storage.lake import Lake, Stored
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.cohort_tables import CONFORMAL_TABLE
from governance_pipeline.trajectory.graph_cache import GraphCache
from governance_pipeline.trajectory.repositories import Repositories
from governance_pipeline.trajectory.stored import read_features, write_formulas
from governance_pipeline.trajectory.stored_cohorts import cohort_digests, read_cohort_tables, store_cohorts
from governance_pipeline.trust.stored_envelopes import envelopes_in
from governance_pipeline.verdict.baseline import ancestors
from governance_pipeline.verdict.round_view import FOLDER_INPUTS
from governance_pipeline.vocabulary import Layer, is_round_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.storage.making import Making

KEPT_ROUNDS: Final = 64
"""Rounds whose parsed files are kept in memory at once, and made together."""


class RoundReader:
    """Reads round folders; the last chunk is kept, so that raw and core tables of one run share one parse.

    A folder is read again as soon as its fingerprint differs: a file rewritten with the same size and time is seen.

    Args:
        landing: folder with one folder per round.
        store: where copies of the files are kept.
        kept_rounds: rounds kept at least; a larger chunk is kept whole, or its first rounds would be read per table.
    """

    def __init__(self, landing: Path, store: ContentStore, *, kept_rounds: int = KEPT_ROUNDS) -> None:
        self._landing = landing
        self._store = store
        self._kept_rounds = kept_rounds
        self._kept: dict[str, tuple[object, RoundTables]] = {}

    def read(self, round_ids: Sequence[str]) -> list[RoundTables]:
        """Return the raw and core rows of rounds, in their order.

        Raises:
            StorageError: a round has no folder in the landing area.
        """
        read = [self._read(round_id) for round_id in round_ids]
        while len(self._kept) > max(self._kept_rounds, len(read)):
            self._kept.pop(next(iter(self._kept)))
        return read

    def _read(self, round_id: str) -> RoundTables:
        folder = self.folder(round_id)
        seen = _state(folder)
        kept = self._kept.pop(round_id, None)
        if kept is None or kept[0] != seen:
            kept = (seen, read_round(folder, round_id, self._store))
        self._kept[round_id] = kept  # last used, last to go
        return kept[1]

    def folder(self, round_id: str) -> Path:
        """Return the landing folder of a round.

        Raises:
            StorageError: not a legal id, or no such folder.
        """
        folder = self._landing / round_id
        if not is_round_id(round_id) or not folder.is_dir() or folder.is_symlink():
            raise StorageError(
                f"round {excerpt(round_id)!r} has no folder in {self._landing}; import it with `govern rounds import`"
            )
        return folder


class Workspace:
    """A landing area and a lake: makes tables of rounds and keeps them.

    Args:
        landing: folder with one folder per round.
        root: root of the lake.
        trust: whom the tables may believe; without it no signature is decided.
        keeper: whom to ask before every round is made otherwise than it is; without one nobody can approve that.
    """

    def __init__(self, landing: Path, root: Path, trust: Trust | None = None, keeper: Keeper | None = None) -> None:
        self.landing = landing
        self.lake = Lake(root)
        self.reprocessing = Reprocessing(self.lake, keeper)
        self.frames = KeptFrames(self.lake)
        self.store = ContentStore(root)
        self.trust = (trust or Trust())._replace(
            envelope_of=envelopes_in(self.store),
            landing=landing,
            repositories=Repositories(landing, GraphCache(root, self.lake.writer)),
            folder=self._folder_tables,
        )
        self.reader = RoundReader(landing, self.store)

    def make(
        self, tables: Sequence[str], round_ids: Sequence[str], planned: Collection[str] = ()
    ) -> dict[str, dict[str, Stored]]:
        """Make `tables` (in pipeline order) of `round_ids` from what is stored, and store them.

        Tables made over all rounds are made of all of them. `planned` are further rounds of the same backfill.

        Returns:
            table -> round id -> what was stored; no entry for the table that is kept over all rounds.

        Raises:
            UsageError: there is no such table.
            StorageError: an input is missing, older than the round folder, or was replaced meanwhile.
            ContractBreach: a table breaks its contract; nothing of that table is stored.
            Refusal: every ingested round would be made otherwise, and nobody has approved it.
        """
        for table in tables:
            contract_of(table)
        making = self.reprocessing.making({*round_ids, *planned})
        ids = list(dict.fromkeys(round_ids))
        made: dict[str, dict[str, Stored]] = {}
        fresh: dict[str, pd.DataFrame] = {}  # made in this call: not read back for the steps after it
        for step in PIPELINE:
            if step.table in tables:
                if step.reads_all_rounds or step.reads_parents:
                    self._measure_parents(ids, is_refreshed_after=step.reads_all_rounds)
                if step.reads_all_rounds:
                    if step.table not in made:
                        made |= self.refresh_cohorts()
                    continue
                inputs = self._inputs(step, ids, made)
                if self._is_large(step, ids):
                    made[step.table] = self._store_large(step, ids, inputs, making)
                    continue
                fresh[step.table] = self._frame(step, ids, fresh)
                if self._inputs(step, ids, made) != inputs:
                    raise StorageError(f"another process replaced an input of {step.table} meanwhile; make it again")
                made[step.table] = self._store(step, fresh[step.table], inputs, making)
        return made

    def refresh_cohorts(self) -> dict[str, dict[str, Stored]]:
        """Make the cohort tables of all measured rounds of the lake; only what differs is written.

        One process at a time, of the versions in force when its turn came, so the last one has seen every round.

        Returns:
            Table kept by round -> round -> what was stored; for the table kept over all rounds no entry.

        Raises:
            StorageError: a table of a round is damaged, or was made with other formulas.
            ContractBreach: a table breaks its contract; nothing of it is stored.
        """
        with self.lake.writer.locked("cohorts"):
            digests = cohort_digests(self.lake)
            tables = read_cohort_tables(self.lake, digests)
            made: dict[str, dict[str, Stored]] = {}
            for step in PIPELINE:
                if step.reads_all_rounds and step.make is not None:
                    frame = validate(step.table, step.make(tables, self.trust), large_rows=SETTINGS.large_table_rows)
                    made[step.table] = store_cohorts(self.lake, step.table, frame, digests, step.metadata())
            write_formulas(self.lake)
        return made

    def _folder_tables(self) -> dict[str, pd.DataFrame]:
        """Give the tables of the governed folder that a verdict reads; those never made are left out."""
        return {table: self.lake.get(table, None) for table in FOLDER_INPUTS if self.lake.has(table, None)}

    def _measure_parents(self, round_ids: Sequence[str], *, is_refreshed_after: bool) -> None:
        """Make what is missing of the rounds these continue, so that the cohorts have them before anything is judged.

        Args:
            round_ids: the rounds to be judged.
            is_refreshed_after: the caller makes the cohort tables next.
        """
        parents = ancestors(round_ids, self._parent_of)
        for parent in parents:
            if not all(self.lake.has(table, parent) for table in MEASURED_TABLES):
                self.make(MEASURED_TABLES, [parent])
        if not is_refreshed_after and not all(self.lake.has(CONFORMAL_TABLE, parent) for parent in parents):
            self.refresh_cohorts()

    def _frame(self, step: Step, round_ids: Sequence[str], fresh: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        if step.make is None:
            read = self.reader.read(round_ids)
            if step.table not in RAW_TABLES:
                self._refuse_stale(read)
            return table_of(step.table, read)
        parents = self._parents(step, round_ids) if step.reads_parents else []
        inputs = {
            name: joined(name, [fresh[name] if name in fresh else self._stored(name, round_ids),
                                self._stored(name, parents)])
            for name in step.inputs
        }  # fmt: skip
        frame = step.make(inputs, self.trust)
        return frame[frame["round_id"].isin(round_ids)].reset_index(drop=True) if parents else frame

    def _is_large(self, step: Step, round_ids: Sequence[str]) -> bool:
        return step.make is None and any(read.is_spooled(step.table) for read in self.reader.read(round_ids))

    def _store_large(
        self, step: Step, round_ids: Sequence[str], inputs: Mapping[str, Mapping[str, str]], making: Making
    ) -> dict[str, Stored]:
        """Store a table of which some round has more rows than a frame should hold, round by round."""
        read = self.reader.read(round_ids)
        if step.table not in RAW_TABLES:
            self._refuse_stale(read)
        return {
            (of := tables.round_id): self.lake.put_batches(
                step.table, of, tables.batches(step.table), {**step.metadata(), **inputs[of]}, making
            )
            for tables in read
        }

    def _parents(self, step: Step, round_ids: Sequence[str]) -> list[str]:
        """Return the rounds these continue; findings of one that are not made yet are made first.

        So a verdict is the same whether its parent was audited before it or after. A parent that is not in the
        landing area is not at hand.
        """
        found = ancestors(round_ids, self._parent_of)
        for round_id in found:
            if not all(self.lake.has(table, round_id) for table in step.inputs):
                self.make(["verdict_findings"], [round_id])
        return found

    def _parent_of(self, round_id: str) -> str | None:
        if not self.lake.has("core_rounds", round_id):
            self.make([table for table in TABLES if table.startswith(("raw_", "core_"))], [round_id])
        parent = self.frames.get("core_rounds", round_id)["parent_round_id"].iloc[0]
        is_at_hand = pd.notna(parent) and is_round_id(parent) and (self.landing / parent).is_dir()
        return str(parent) if is_at_hand else None

    def _stored(self, table: str, round_ids: Sequence[str]) -> pd.DataFrame:
        if table.startswith(f"{Layer.FEATURES}_"):
            return read_features(self.lake, table, round_ids)
        return joined(table, [self.frames.get(table, round_id) for round_id in round_ids])

    def _store(
        self, step: Step, frame: pd.DataFrame, inputs: Mapping[str, Mapping[str, str]], making: Making
    ) -> dict[str, Stored]:
        validate(step.table, frame, large_rows=SETTINGS.large_table_rows)
        if step.table.startswith(f"{Layer.FEATURES}_"):
            write_formulas(self.lake)
        return {
            round_id: self.lake.put(
                step.table, round_id, part, {**step.metadata(), **inputs[round_id]}, is_validated=True, making=making
            )
            for round_id, part in split(frame, list(inputs)).items()
        }

    def _inputs(
        self, step: Step, round_ids: Iterable[str], made: Mapping[str, Mapping[str, Stored]]
    ) -> dict[str, dict[str, str]]:
        """Return round id -> what its table will say it was made from; asked before the inputs are read, and after."""

        def digest(name: str, round_id: str) -> str:
            stored = made.get(name, {}).get(round_id)
            return stored.digest if stored is not None else self.lake.digest(name, round_id) or ""

        return {round_id: {f"input.{name}": digest(name, round_id) for name in step.inputs} for round_id in round_ids}

    def _refuse_stale(self, read: Iterable[RoundTables]) -> None:
        for tables in read:
            if not tables.frame("raw_log_files").equals(self.frames.get("raw_log_files", tables.round_id)):
                raise StorageError(
                    f"round {tables.round_id} has changed since raw_log_files was made; make the raw tables again first"
                )


def _state(folder: Path) -> object:
    """Return what changes whenever a file of the folder does; equal to nothing while files come and go."""
    try:
        return fingerprint(folder)
    except OSError:
        return object()
