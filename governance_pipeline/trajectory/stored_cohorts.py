"""Cohort tables in the lake: what they are made from, and whether they still are what they would be made now.

What belongs here: reading the rounds cohorts are made of, all of one moment, and storing what was made of them. What
does not: making it (`cohort_tables`), and when (workspace).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from governance_pipeline.contracts.frames import from_arrow
from governance_pipeline.contracts.registry import contract_of, empty_frame, is_by_round
from governance_pipeline.errors import StorageError
from governance_pipeline.storage import parquet
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.trajectory.abandoned_chains import links
from governance_pipeline.trajectory.cohort_tables import BASELINE_TABLE, COHORT_TABLES, CONFORMAL_TABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from governance_pipeline.storage.lake import Lake, Stored
    from governance_pipeline.trajectory.abandoned_chains import Link

    Digests = Mapping[str, Mapping[str, str]]
    """Table -> round -> digest in force."""

INPUT: Final = "input."
VERDICT_TABLE: Final = "verdict_findings"
"""The table that reads `features_conformal`, among others."""


def cohort_digests(lake: Lake) -> dict[str, dict[str, str]]:
    """Give the digests in force of every round that has all `COHORT_TABLES`, sorted by round."""
    found = {table: {str(of): digest for of, digest in lake.digests(table).items()} for table in COHORT_TABLES}
    whole = set.intersection(*(set(digests) for digests in found.values()))
    return {table: {of: digest for of, digest in found[table].items() if of in whole} for table in COHORT_TABLES}


def read_cohort_tables(lake: Lake, digests: Digests) -> dict[str, pd.DataFrame]:
    """Read exactly the versions of `digests`, so that another process that replaces one meanwhile changes nothing.

    Raises:
        StorageError: a version is damaged or gone, or keeps another version of its contract.
    """
    return {table: _frame(lake, table, of_rounds) for table, of_rounds in digests.items()}


def store_cohorts(
    lake: Lake, table: str, frame: pd.DataFrame, digests: Digests, metadata: Mapping[str, str]
) -> dict[str, Stored]:
    """Store a validated cohort table with what it was made from; a round whose rows did not change is not written.

    Returns:
        Round -> what was stored; empty for the table that is kept over all rounds.

    Raises:
        StorageError: it cannot be written.
    """
    if not is_by_round(table):
        lake.put(table, None, frame, {**metadata, **_all_inputs(digests)}, is_validated=True)
        return {}
    parts = {str(of): part.reset_index(drop=True) for of, part in frame.groupby("round_id", sort=True)}
    return {
        of: lake.put(table, of, part, {**metadata, **_own_inputs(digests, of)}, is_validated=True)
        for of, part in parts.items()
    }


def _all_inputs(digests: Digests) -> dict[str, str]:
    """Give the metadata that names all of `digests`: one digest for each table."""
    return {
        f"{INPUT}{table}": sha256_hex(canonical_json(sorted(map(list, of_rounds.items()))))
        for table, of_rounds in digests.items()
    }


def _own_inputs(digests: Digests, round_id: str) -> dict[str, str]:
    """Give the metadata that names what is a round's own among the inputs; the rest is named by its `baseline_id`."""
    return {f"{INPUT}{table}": of_rounds[round_id] for table, of_rounds in digests.items()}


def cohort_state(lake: Lake) -> str:
    """Give a digest that changes whenever the rounds do that cohorts are made of."""
    return sha256_hex(canonical_json(_all_inputs(cohort_digests(lake))))


def stale_reason(lake: Lake) -> str | None:
    """Say why the cohort tables must be made again; None when they are what they would be made now.

    Raises:
        StorageError: a pointer of the lake is damaged.
    """
    digests = cohort_digests(lake)
    rounds = digests[COHORT_TABLES[0]]
    if not rounds:
        return None
    if not lake.has(BASELINE_TABLE, None):
        return f"{BASELINE_TABLE} has not been made"
    wanted = _all_inputs(digests)
    try:
        made_from = lake.metadata(BASELINE_TABLE, None)
    except StorageError:
        return f"{BASELINE_TABLE} cannot be read"
    if any(made_from.get(key) != digest for key, digest in wanted.items()):
        return "rounds came or changed since the cohort tables were made"
    missing = [round_id for round_id in rounds if not lake.has(CONFORMAL_TABLE, round_id)]
    return f"{CONFORMAL_TABLE} of round {missing[0]} has not been made" if missing else None


def earlier_baselines(lake: Lake) -> tuple[dict[str, Link], int]:
    """Give the baselines of the versions of `features_cohort_baseline` that are not in force, as long as they are kept.

    Returns:
        Their links by id, and how many versions cannot be read: damaged, removed meanwhile, or of another contract.

    Raises:
        StorageError: the pointer of the table is damaged.
    """
    found: dict[str, Link] = {}
    unreadable = 0
    versions = lake.versions(BASELINE_TABLE, None)
    for digest in versions.replaced():
        path = versions.path(digest)
        try:
            frame = parquet.from_bytes(BASELINE_TABLE, versions.read(digest), path)
        except (StorageError, FileNotFoundError):
            unreadable += 1
            continue
        found |= links(frame)
    return found, unreadable


def stale_verdicts(lake: Lake) -> list[str]:
    """List the rounds without a verdict that was made from the rows of `features_conformal` in force, sorted.

    A round that ends earlier and comes later changes the reference of every later round of its cohort.

    Raises:
        StorageError: a pointer of the lake is damaged.
    """
    judged = lake.digests(VERDICT_TABLE)
    in_force = lake.digests(CONFORMAL_TABLE)
    return [str(of) for of, digest in in_force.items() if of not in judged or _made_from(lake, str(of)) != digest]


def _made_from(lake: Lake, round_id: str) -> str | None:
    """Give the digest of the conformal rows a verdict names; None when it cannot be read and must be made again."""
    try:
        metadata = parquet.metadata_at(lake.path(VERDICT_TABLE, round_id), VERDICT_TABLE)
    except StorageError:
        return None
    return metadata.get(f"{INPUT}{CONFORMAL_TABLE}")


def _frame(lake: Lake, table: str, of_rounds: Mapping[str, str]) -> pd.DataFrame:
    parts = []
    for round_id, digest in of_rounds.items():
        versions = lake.versions(table, round_id)
        try:
            data = versions.read(digest)
        except FileNotFoundError:
            raise StorageError(f"{versions.path(digest)} was removed meanwhile; make the cohort tables again") from None
        parts.append(parquet.arrow_of(table, data, versions.path(digest)).replace_schema_metadata(None))
    return from_arrow(contract_of(table), pa.concat_tables(parts)) if parts else empty_frame(table)
