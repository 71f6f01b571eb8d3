"""What the `govern rounds` commands answer, as JSON documents (schemas in `schemas/`).

What belongs here: results turned into plain JSON values, each document with its schema name. What does not: printing.
Texts are as the logs have them, with credentials masked; whoever shows them escapes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.importing import verify_round
from governance_pipeline.ingest.layout import CONTRACT_FILE, scan
from governance_pipeline.rounds.landing import landing_rounds
from governance_pipeline.rounds.load import read_contract
from governance_pipeline.strict.excerpt import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from governance_pipeline.ingest.importing import Imported
    from governance_pipeline.ingest.round import RoundTables
    from governance_pipeline.storage.lake import Lake

RAW_FILES = "raw_log_files"
NOT_READ_YET = "not_read_yet"


def import_document(results: Sequence[Imported], dry_run: bool = False) -> dict[str, Any]:
    """Give `govern/rounds-import/v1`: what became of every file, by round."""
    return {
        "schema": "govern/rounds-import/v1",
        "dry_run": dry_run,
        "rounds": [
            {
                "round_id": result.round_id,
                "copied": list(result.copied),
                "unchanged": list(result.unchanged),
                "left_out": [{"path": path, "reason": reason} for path, reason in result.left_out],
                "conflicts": [{"path": conflict.path, "message": conflict.message} for conflict in result.conflicts],
            }
            for result in results
        ],
    }


def export_document(name: str, commits: int, size: int, sha256: str) -> dict[str, Any]:
    """Give `govern/git-export/v1`: the file a history was written to, its commits, bytes and digest."""
    return {"schema": "govern/git-export/v1", "file": name, "commits": commits, "bytes": size, "sha256": sha256}


def list_document(landing: Path, lake: Lake) -> dict[str, Any]:
    """Give `govern/rounds-list/v1`: every round of the landing area, and the folders that are none.

    Raises:
        UnreadableError: the landing area or a round folder cannot be listed.
    """
    found = landing_rounds(landing)
    return {
        "schema": "govern/rounds-list/v1",
        "rounds": [_listed(landing / round_id, lake) for round_id in found.rounds],
        "refused": [{"name": folder.name, "reason": folder.reason} for folder in found.refused],
    }


def show_document(tables: RoundTables) -> dict[str, Any]:
    """Give `govern/rounds-show/v1`: one round as its folder is now, each file with its account."""
    (row,) = tables.rows("core_rounds")
    objective = row["objective"]
    return {
        "schema": "govern/rounds-show/v1",
        "round_id": tables.round_id,
        "contract": {
            "state": row["contract_state"],
            "fault": row["contract_fault"],
            "objective": None if objective is None else mask_secrets(objective),
        },
        "started_at": _time(row["started_at"]),
        "ended_at": _time(row["ended_at"]),
        "files": [_without_round(row) for row in tables.rows(RAW_FILES)],
        "quarantine": [_without_round(row) for row in tables.rows("raw_quarantine")],
        "tables": {name: len(frame) for name, frame in tables.frames.items()},
    }


def verify_document(landing: Path, lake: Lake, round_ids: Iterable[str]) -> dict[str, Any]:
    """Give `govern/rounds-verify/v1`: every file hashed again and compared with what was read.

    `state` of a round is same, changed, or not_read_yet when there is nothing to compare with.

    Raises:
        UnreadableError: a round folder is gone or cannot be listed.
        StorageError: a stored table is damaged.
    """
    return {"schema": "govern/rounds-verify/v1", "rounds": [_verified(landing, lake, name) for name in round_ids]}


def formats_document() -> dict[str, Any]:
    """Give `govern/formats/v1`: every supported format, in the order they are asked."""
    return {
        "schema": "govern/formats/v1",
        "formats": [
            {
                "name": known.NAME,
                "declares": list(known.DECLARES),
                "recomputable": list(known.RECOMPUTABLE),
                "versions": known.VERSIONS,
            }
            for known in FORMATS
        ],
    }


def _listed(folder: Path, lake: Lake) -> dict[str, Any]:
    files = scan(folder)
    state, _, faults = read_contract(folder / CONTRACT_FILE, single_link=True)
    return {
        "round_id": folder.name,
        "files": len(files),
        "bytes": sum(file.size for file in files),
        "contract": state.value,
        "contract_faults": len(faults),
        "is_read": lake.has(RAW_FILES, folder.name),
    }


def _verified(landing: Path, lake: Lake, round_id: str) -> dict[str, Any]:
    if not lake.has(RAW_FILES, round_id):
        return {"round_id": round_id, "state": NOT_READ_YET, "files": []}
    compared = verify_round(landing / round_id, lake.get(RAW_FILES, round_id))
    is_same = bool((compared["state"] == "same").all())
    rows = compared.astype(object).where(compared.notna(), other=None).to_dict("records")  # type: ignore[call-overload]  # stubs lack None
    return {"round_id": round_id, "state": "same" if is_same else "changed", "files": rows}


def _without_round(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "round_id"}


def _time(value: pd.Timestamp | None) -> str | None:
    return None if value is None else value.isoformat().replace("+00:00", "Z")
