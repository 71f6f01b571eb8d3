"""Older rounds of one table in one file, for views over thousands of rounds.

What belongs here: which files a view opens for which rounds. What does not: anything correctness depends on. Only
views read a compacted file; `Lake.get` never does, and a round that was replaced since is taken from its own file, so
deleting every `compacted` folder changes nothing but time. Measured: opening 10,000 files takes 1 to 1.6 s
(research/dagster_spike.md Q1).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from governance_pipeline.contracts.frames import arrow_schema
from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.errors import StorageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage import parquet
from governance_pipeline.storage.lake import COMPACTED, Lake
from governance_pipeline.storage.versions import Versions
from governance_pipeline.strict.files import digest_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MANIFEST_KEY: Final = "govern.compacted"


class Sources(NamedTuple):
    """What a view of one table opens: files of single rounds, and a compacted file less the rounds `replaced`."""

    files: tuple[Path, ...]
    compacted: Path | None = None
    replaced: tuple[str, ...] = ()


def sources_of(lake: Lake, table: str) -> Sources:
    """Tell which files hold a table now; each is checked for the version of its contract.

    Raises:
        StorageError: a file is unreadable or keeps another version of the contract.
    """
    digests = lake.digests(table)
    compacted, manifest = _compacted(lake, table)
    held = {round_id for round_id, digest in digests.items() if round_id and manifest.get(round_id) == digest}
    files = tuple(
        lake.versions(table, round_id).path(digest) for round_id, digest in digests.items() if round_id not in held
    )
    for path in files:
        parquet.rows_of(path, table)
    if not held:
        return Sources(files)
    return Sources(files, compacted, tuple(sorted(set(manifest) - held)))


def compact(lake: Lake, table: str, building: Path, *, above: int = SETTINGS.compaction_files) -> bool:
    """Write all rounds of a table into one file when a view would otherwise open more than `above` files.

    Args:
        lake: where the table is.
        table: its name.
        building: folder below the root, for the unfinished file; the caller is its only writer.
        above: number of files.

    Returns:
        Whether a file was written.

    Raises:
        StorageError: as `Lake.get`; each round is hashed again before it is copied.
    """
    if len(sources_of(lake, table).files) <= above:
        return False
    digests = {round_id: digest for round_id, digest in lake.digests(table).items() if round_id is not None}
    metadata = {**parquet.own_metadata(table), MANIFEST_KEY: json.dumps(digests)}
    schema = arrow_schema(contract_of(table)).with_metadata(metadata)
    made = building / f"{table}.parquet"
    with pq.ParquetWriter(made, schema, **parquet.WRITER) as writer:
        for rows in _row_groups(lake, table, digests):
            writer.write_table(rows.replace_schema_metadata(metadata))
    versions = Versions(lake.root / table / COMPACTED)
    digest = digest_file(made).sha256
    with lake.writer.locked(table):
        lake.writer.take(made, versions.path(digest))
        versions.point(digest, lake.writer)
    return True


def compaction_fault(lake: Lake, table: str) -> str | None:
    """Say what is wrong with the compacted file of a table; None when it shows what the single files hold.

    Rounds that were replaced since are left out, as views leave them out. The single files are the truth; whoever
    trusts them asks this before trusting a view.
    """
    folder = lake.root / table / COMPACTED
    path, manifest = _compacted(lake, table)
    if path is None:
        return None
    try:
        data = Versions(folder).read(path.stem)
        rows = parquet.arrow_of(table, data, path).replace_schema_metadata(None)
        for round_id, digest in manifest.items():
            if lake.digest(table, round_id) != digest:
                continue
            versions = lake.versions(table, round_id)
            single = parquet.arrow_of(table, versions.read(digest), versions.path(digest)).replace_schema_metadata(None)
            shown = rows.filter(pc.equal(rows["round_id"], round_id))
            if not shown.equals(single):
                return f"{path} shows other rows of round {round_id} than its own file; remove the folder, it is a copy"
    except (StorageError, FileNotFoundError, pa.ArrowException) as error:
        return f"{path} cannot be compared with the files it was made from ({error}); remove the folder, it is a copy"
    strangers = set(pc.unique(rows["round_id"]).to_pylist()) - manifest.keys()
    return f"{path} holds rows of rounds nobody compacted; remove the folder, it is a copy" if strangers else None


def _row_groups(lake: Lake, table: str, digests: Mapping[str, str]) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    count = 0
    for round_id, digest in digests.items():
        versions = lake.versions(table, round_id)
        part = parquet.arrow_of(table, versions.read(digest), versions.path(digest))
        waiting.append(part.replace_schema_metadata(None))
        count += part.num_rows
        if count >= SETTINGS.row_group_rows:
            yield pa.concat_tables(waiting).combine_chunks()
            waiting, count = [], 0
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def _compacted(lake: Lake, table: str) -> tuple[Path | None, dict[str, str]]:
    """Give the compacted file and the digest of each round in it; none when it cannot serve."""
    versions = Versions(lake.root / table / COMPACTED)
    try:
        digest = versions.digest()
        if digest is None:
            return None, {}
        metadata = parquet.metadata_at(versions.path(digest), table)
        return versions.path(digest), json.loads(metadata[MANIFEST_KEY])
    except (StorageError, KeyError, ValueError):  # views only: what cannot serve is written anew
        return None, {}
