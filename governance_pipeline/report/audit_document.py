"""The `govern/audit/v1` document: what an audit saw and found, as plain JSON values.

Shape: `{schema, files: [...], rounds: [...], cross_checks: [...], hashes: [...], counts: {...}}`
(spec/ingest.md §1). Numbers declared and computed are exact lexemes as text.

What belongs here: tables -> document. What does not: how it looks.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.vocabulary import ContractState, Disposition, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

SCHEMA = "govern/audit/v1"
FILE_FIELDS = (
    "round_id", "path", "format", "file_sha256", "bytes", "record_unit",
    "lines_in", "accepted", "quarantined", "blank", "duplicates", "reason_code",
)  # fmt: skip


def audit_document(tables: Mapping[str, pd.DataFrame], not_checkable: pd.DataFrame) -> dict[str, Any]:
    """Build the document of one audit.

    Args:
        tables: table -> frame over all rounds, as the pipeline makes them.
        not_checkable: declared values their format offers no parts for (crosscheck.builtin.not_checkable).
    """
    checks = tables["audit_cross_checks"]
    return {
        "schema": SCHEMA,
        "files": [_file(row) for row in records(tables["raw_log_files"])],
        "rounds": _rounds(tables),
        "cross_checks": [_record(row) for row in records(checks)],
        "hashes": [row for row in records(tables["audit_integrity"]) if row["status"] != RecordStatus.MATCH],
        "not_checkable": records(not_checkable),
        "quarantine_reasons": _quarantine_reasons(tables["raw_quarantine"]),
        "counts": {
            **{str(status): int((checks["status"] == status).sum()) for status in RecordStatus},
            "declared": len(tables["core_declared"]),
            "hash_mismatch": int((tables["audit_integrity"]["status"] == RecordStatus.MISMATCH).sum()),
            "rounds": len(tables["core_rounds"]),
            "rounds_without_contract": int((tables["core_rounds"]["contract_state"] == ContractState.ABSENT).sum()),
        },
    }


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one dict per row with None for every null and ISO text for every time."""
    return [{key: _plain(value) for key, value in row.items()} for row in plain_rows(frame)]


def _plain(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    return value


def _quarantine_reasons(quarantine: pd.DataFrame) -> dict[str, str]:
    broken = quarantine[quarantine["disposition"] == Disposition.QUARANTINED]
    reasons: dict[str, set[str]] = defaultdict(set)
    for row in plain_rows(broken):
        reasons[f"{row['round_id']}/{row['path']}"].add(row["reason_code"])
    return {where: ", ".join(sorted(codes)) for where, codes in reasons.items()}


def _file(row: Mapping[str, Any]) -> dict[str, Any]:
    file = {name: row[name] for name in FILE_FIELDS}
    file["sha256"] = file.pop("file_sha256")
    file["reason"] = file.pop("reason_code")
    return file


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    pointer = {"file": row["declared_file_sha256"], "line": row["declared_line"], "pointer": row["declared_pointer"]}
    members = {key: value for key, value in row.items() if not key.startswith("declared_")}
    return {**members, "declared_raw": row["declared_raw"], "declared_path": row["declared_path"],
            "declared_pointer": pointer}  # fmt: skip


def _rounds(tables: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    checks, hashes, quarantine = tables["audit_cross_checks"], tables["audit_integrity"], tables["raw_quarantine"]
    counted = checks.groupby(["round_id", "status"]).size()
    bad_hashes = hashes[hashes["status"] == RecordStatus.MISMATCH].groupby("round_id").size()
    broken = quarantine[quarantine["disposition"] == Disposition.QUARANTINED].groupby("round_id").size()
    return [
        {
            "round_id": row["round_id"],
            "contract": row["contract_state"],
            "contract_fault": row["contract_fault"],
            "runs": row["runs_count"],
            **{str(status): int(counted.get((row["round_id"], str(status)), 0)) for status in RecordStatus},
            "hash_mismatch": int(bad_hashes.get(row["round_id"], 0)),
            "quarantined": int(broken.get(row["round_id"], 0)),
        }
        for row in records(tables["core_rounds"])
    ]
