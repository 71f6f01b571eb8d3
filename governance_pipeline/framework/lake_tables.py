"""The tables of the governed folder in a lake: made of the folder and the ledger, each time as a whole.

What belongs here: which tables there are and what each is made from. What does not: the rows. They are no steps of the
pipeline: an audit needs no governed folder, and none of their rows belongs to a round. Source: spec/framework.md §8.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import empty_frame, validate
from governance_pipeline.errors import GovernError
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.folder import REGISTRY as REGISTRY_FILE
from governance_pipeline.framework.rebaseline.assumptions import READS
from governance_pipeline.framework.registry import load_registry
from governance_pipeline.strict.canonical import canonical_json, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    import pandas as pd

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.storage.lake import Lake, Stored

REGISTRY, LOCKS, COVERAGE = "audit_registry", "audit_locks", "audit_coverage"
INCIDENTS, REBASELINE = "audit_incidents", "audit_rebaseline"

FOLDER_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    REGISTRY: (),
    LOCKS: (),
    COVERAGE: (),
    INCIDENTS: (),
    REBASELINE: READS,
}
"""Table of the governed folder -> the tables of the lake it is made from, in the order they are made."""


_WATCHED: Final = (
    places.POLICIES,
    places.SAFETY_CHECKS,
    places.REQUIREMENTS,
    places.INCIDENT_LOG,
    places.AUDIT_TRAIL,
    places.STATE,
    places.REGISTRY,
)
_TIMES: Final = frozenset({"checked_at", "last_verified_at"})


def refresh_folder(
    lake: Lake, folder: GovernedFolder | None, verifier: Verifier | None, now: datetime
) -> dict[str, Stored]:
    """Bring the state of a governed folder in step with the inbox, then make its tables and store them.

    Args:
        lake: where they are kept.
        folder: the folder; None where there is none: the tables are empty then.
        verifier: what is trusted, with the ledger; None where no gate is configured. Without one nothing of the
            registry is verified, and incidents and re-baselines, which are events of the ledger, are not listed.
        now: the time.

    Returns:
        Table -> what was stored, in the order of `FOLDER_TABLES`.

    Raises:
        GovernError: a file of the folder or the ledger cannot be used; nothing of that table is stored.
        ContractBreach: a table breaks its contract.
    """
    with lake.writer.locked("folder"):
        if folder is not None and verifier is not None:
            _follow(folder, verifier, now)
        made = {}
        for table in FOLDER_TABLES:
            frame = empty_frame(table) if folder is None else _rows(table, lake, folder, verifier, now)
            made[table] = lake.put(table, None, validate(table, frame), {})
        return made


def _follow(folder: GovernedFolder, verifier: Verifier, now: datetime) -> None:
    from governance_pipeline.framework.approval_files import follow_inbox
    from governance_pipeline.framework.state import StateKeeper

    follow_inbox(folder, verifier, StateKeeper(folder, ledger=verifier.ledger), now)


def _rows(table: str, lake: Lake, folder: GovernedFolder, verifier: Verifier | None, now: datetime) -> pd.DataFrame:
    from governance_pipeline.framework import coverage, incident_duties, lock_rows, registry_rows
    from governance_pipeline.framework.rebaseline import assumptions
    from governance_pipeline.framework.rebaseline import table as rebaseline
    from governance_pipeline.framework.rebaseline.protocol import Project

    if table == REGISTRY:
        return registry_rows.rows(folder, verifier, now)
    if table == LOCKS:
        return lock_rows.rows(folder, now, ledger=None if verifier is None else verifier.ledger)
    if table == COVERAGE:
        return coverage.rows(folder)
    if verifier is None:
        return empty_frame(table)
    project = Project(folder, verifier.ledger, verifier.root, lambda: now)
    if table == INCIDENTS:
        return incident_duties.rows(folder, verifier.ledger, verifier.root, now, lake)
    return rebaseline.rows(project, assumptions.tables_of(lake))


def state_of_folder(lake: Lake) -> str | None:
    """Give a digest of what registry and re-baselines say, times of looking left out; None when there is no row."""
    frames = [lake.get(table, None) for table in (REGISTRY, REBASELINE) if lake.has(table, None)]
    rows = [
        [str(row.get(name)) for name in sorted(row.keys() - _TIMES)] for frame in frames for row in plain_rows(frame)
    ]
    return sha256_hex(canonical_json(rows)) if rows else None


def seen_of_folder(folder: GovernedFolder, ledger: Ledger | None) -> str:
    """Give a digest that differs once a file `refresh_folder` reads, a registered file or the ledger changed.

    Files are looked at by size and time, so that asking costs next to nothing; whoever verifies hashes them.
    """
    root = folder.root
    registered: list[str] = []
    with suppress(GovernError):  # a registry nobody can read is looked at as one file; verifying it says what is wrong
        registered = [asset.canonical_path for asset in load_registry(folder.path(REGISTRY_FILE)).assets]
    own = [path for name in _WATCHED for path in _files_below(folder.path(name))]
    seen = sorted(_seen(path) for path in {*own, *(root / name for name in registered)})
    return sha256_hex(canonical_json([seen, None if ledger is None else str(ledger.size())]))


def _files_below(path: Path) -> list[Path]:
    return sorted(entry for entry in path.iterdir() if entry.is_file()) if path.is_dir() else [path]


def _seen(path: Path) -> list[str]:
    try:
        status = os.lstat(path)
    except OSError:
        return [str(path), "", ""]
    return [str(path), str(status.st_size), str(status.st_mtime_ns)]
