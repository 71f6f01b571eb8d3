"""The lake: every table of every round as one Parquet file, named by the digest of its bytes.

`<root>/<table>/round=<id>/<digest>.parquet`, for tables over all rounds `<root>/<table>/all/<digest>.parquet`, and
beside them the pointer `current`, which names the digest in force and is replaced in one step. A reader therefore
sees the old table or the new one, whole; a file once written is never changed.

What belongs here: putting and getting whole tables. What does not: SQL over them (`warehouse`).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.contracts.breach import contract_breach
from governance_pipeline.contracts.registry import (
    REGISTRY,
    breaches,
    breaches_of_parquet,
    is_by_round,
    validate,
)
from governance_pipeline.errors import StorageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage import parquet
from governance_pipeline.storage.atomic import TEMPORARY_PREFIX, AtomicWriter, sweep_temporaries
from governance_pipeline.storage.round_rows import refuse_strangers
from governance_pipeline.storage.versions import Versions, bytes_of
from governance_pipeline.storage.written_rows import write_rows
from governance_pipeline.strict.files import digest_file
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from governance_pipeline.storage.making import Making

ROUND_PREFIX: Final = "round="
WHOLE: Final = "all"
COMPACTED: Final = "compacted"
CLAIMS: Final = "rounds"
SECONDS_OF_A_DAY: Final = 86_400


class Stored(NamedTuple):
    """What the lake holds: digest of the Parquet bytes (lower-case hex), number of rows, path of the file."""

    digest: str
    rows: int
    path: Path


class Lake:
    """All tables below one root folder, on a local POSIX file system; nothing is made before the first `put`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.writer = AtomicWriter(root)
        self._claimed: set[str] = set()

    def put(
        self,
        table: str,
        round_id: str | None,
        frame: pd.DataFrame,
        metadata: Mapping[str, str] | None = None,
        *,
        is_validated: bool = False,
        making: Making | None = None,
    ) -> Stored:
        """Store the frame of a table, for one round or (None) for a table over all rounds.

        With `is_validated` the caller has already validated a frame this one is a part of: a pass per chunk of rounds
        instead of one per round. `making` says what made it, and is asked before other bytes made otherwise go.

        The same frame and metadata again change nothing on disk; a stored file that was damaged is replaced.

        Raises:
            ContractBreach: the frame breaks its contract; nothing is written.
            StorageError: round id and table do not fit, rows belong to another round, or writing failed.
        """
        versions = self.versions(table, round_id)
        if not is_validated:
            validate(table, frame, large_rows=SETTINGS.large_table_rows)
        refuse_strangers(table, round_id, frame)
        data = parquet.to_bytes(table, frame, metadata or {})
        digest = hashlib.sha256(data).hexdigest()
        if versions.is_due(table, digest, making):
            if round_id is not None:
                self._claim(round_id)
            with self.writer.locked(table):
                versions.put(data, digest, self.writer, making and making.made_by)
        return Stored(digest, len(frame), versions.path(digest))

    def put_batches(
        self, table: str, round_id: str | None, batches: Iterable[pa.RecordBatch], metadata: Mapping[str, str],
        making: Making | None = None,
    ) -> Stored:  # fmt: skip
        """Store a table given as Arrow batches of its contract: for tables too large to be a frame.

        The file and its digest are those `put` makes of the same rows. Rows are judged as they pass by (`BatchRules`);
        where that proves nothing, the file is judged where it lies before it is put in force. Memory holds two row
        groups, and what the check for repeated keys needs.

        Raises:
            ContractBreach: the rows break the contract; the version in force stays.
            StorageError: as `put`.
        """
        versions = self.versions(table, round_id)
        if round_id is not None:
            self._claim(round_id)
        with self.writer.folder(versions.folder), self.writer.locked(table):
            sweep_temporaries(versions.folder)
            made = versions.folder / f"{TEMPORARY_PREFIX}large"
            try:
                with made.open("xb") as stream:
                    written = write_rows(table, round_id, batches, metadata, stream)
                if not written.are_kept and len(found := breaches_of_parquet(table, made)):
                    raise contract_breach(table, found)
                digest = written.digest or digest_file(made).sha256
                versions.is_due(table, digest, making)  # asks before what is there is replaced
                if not versions.holds(digest):
                    self.writer.take(made, versions.path(digest))
                versions.point(digest, self.writer, making and making.made_by)
            except OSError as error:
                raise StorageError(f"{versions.folder} could not be written: {error.strerror}; free space") from error
            finally:
                made.unlink(missing_ok=True)
        return Stored(digest, written.rows, versions.path(digest))

    def get(self, table: str, round_id: str | None) -> pd.DataFrame:
        """Read a table back, with the contract's dtypes; its bytes are hashed again.

        Raises:
            StorageError: it was never stored, or its bytes are not those whose digest is in force.
        """
        path, data = self._read(table, round_id)
        return parquet.from_bytes(table, data, path)

    def metadata(self, table: str, round_id: str | None) -> dict[str, str]:
        """Give the metadata a table was stored with; raises as `get`."""
        path, data = self._read(table, round_id)
        found = parquet.metadata_of(parquet.arrow_of(table, data, path).schema.metadata)
        return {key: value for key, value in found.items() if not key.startswith(parquet.OWN_PREFIX)}

    def has(self, table: str, round_id: str | None) -> bool:
        """Tell whether a table is stored."""
        return self.digest(table, round_id) is not None

    def digest(self, table: str, round_id: str | None) -> str | None:
        """Give the digest in force, None when the table is not stored; the bytes are not read."""
        return self.versions(table, round_id).digest()

    def path(self, table: str, round_id: str | None) -> Path:
        """Give the path of the file in force.

        Raises:
            StorageError: the table is not stored.
        """
        versions = self.versions(table, round_id)
        digest = versions.digest()
        if digest is None:
            raise _absent(table, round_id, versions.folder)
        return versions.path(digest)

    def rounds(self, table: str) -> list[str]:
        """Give the ids of the rounds a table is stored for, sorted; none for a table over all rounds."""
        return [round_id for round_id in self.digests(table) if round_id is not None]

    def digests(self, table: str) -> dict[str | None, str]:
        """Give the digest in force of every round a table is stored for, sorted by round (None: over all rounds)."""
        ids: list[str | None] = [None]
        if is_by_round(table):
            names = [folder.name.removeprefix(ROUND_PREFIX) for folder in self._folders(table, ROUND_PREFIX)]
            ids = [name for name in sorted(names) if is_round_id(name)]
        found = {round_id: self.digest(table, round_id) for round_id in ids}
        return {round_id: digest for round_id, digest in found.items() if digest is not None}

    def breaches(self, table: str, round_id: str | None) -> pd.DataFrame:
        """List the failures of a stored table against its contract, as `registry.breaches`; raises as `get`.

        A table above `SETTINGS.large_table_rows` is scanned by one SQL pass, not loaded as a frame.
        """
        path = self.path(table, round_id)
        if parquet.rows_of(path, table) <= SETTINGS.large_table_rows:
            return breaches(table, self.get(table, round_id))
        self._read(table, round_id)
        return breaches_of_parquet(table, path)

    def sweep(
        self, now: datetime, *, keep_days: float = SETTINGS.unreferenced_keep_days, pinned: Collection[str] = ()
    ) -> list[Path]:
        """Remove files that no pointer names any more, and what dead writers left behind.

        A replaced file is kept for `keep_days` after it was written, because a reader, an open request or a person
        may still hold its digest; for ever when its digest is in `pinned` (those that signed decisions name). Nothing
        calls this by itself; rebuild the warehouse afterwards, whose views may still open a removed file.

        Args:
            now: the time, with its zone.
            keep_days: days a file is kept after it was written.
            pinned: digests to keep whatever their age.

        Returns:
            The Parquet files removed.
        """
        removed: list[Path] = []
        before = now.timestamp() - keep_days * SECONDS_OF_A_DAY
        for table in REGISTRY:
            with self.writer.locked(table):
                for folder in self._folders(table, ROUND_PREFIX, WHOLE, COMPACTED):
                    removed += Versions(folder).remove_older(before, pinned)
        return removed

    def versions(self, table: str, round_id: str | None) -> Versions:
        """Give the folder of a table and round.

        Raises:
            UsageError: there is no such table.
            StorageError: the round id is illegal, or missing, or given for a table over all rounds.
        """
        if is_by_round(table) != (round_id is not None):
            kept = "round by round, so name one" if is_by_round(table) else "over all rounds, so name none"
            raise StorageError(f"table {table} is kept {kept}; got round {round_id!r}")
        if round_id is None:
            return Versions(self.root / table / WHOLE)
        if not is_round_id(round_id):
            raise StorageError(
                f"{round_id!r} is no round id: up to 80 letters, digits, dots, dashes and underscores, starting with a "
                "letter or digit, without '..' and without a final dot"
            )
        return Versions(self.root / table / f"{ROUND_PREFIX}{round_id}")

    def _folders(self, table: str, *prefixes: str) -> list[Path]:
        folder = self.root / table
        entries = sorted(folder.iterdir()) if folder.is_dir() else []
        return [e for e in entries if e.name.startswith(prefixes) and e.is_dir() and not e.is_symlink()]

    def _read(self, table: str, round_id: str | None) -> tuple[Path, bytes]:
        versions = self.versions(table, round_id)
        found = versions.read_in_force()
        if found is None:
            raise _absent(table, round_id, versions.folder)
        return found

    def _claim(self, round_id: str) -> None:
        """Refuse a round id that differs from an earlier one in case only: some file systems take them for one."""
        if round_id in self._claimed:
            return
        claim = self.root / CLAIMS / round_id.lower()
        with self.writer.locked(CLAIMS):
            try:
                holder = bytes_of(claim).decode("ascii", "replace")
            except FileNotFoundError:
                holder = round_id
                self.writer.write(claim, round_id.encode())
        if holder != round_id:
            raise StorageError(
                f"round {round_id!r} differs from round {holder!r} in upper and lower case only; rename one of them"
            )
        self._claimed.add(round_id)


def _absent(table: str, round_id: str | None, folder: Path) -> StorageError:
    of = "" if round_id is None else f" of round {round_id}"
    return StorageError(f"table {table}{of} is not in the lake ({folder}); make it first")
