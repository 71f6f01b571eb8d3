"""The `govern/audit/v1` document: what an audit saw and found, as plain JSON values.

Shape: `{schema, files: [...], rounds: [verdict document], cross_checks: [record], explanations: [...], meanings: {...},
hashes: [...], not_checkable: [...], quarantine_reasons: {...}, counts: {...}}` (spec/ingest.md §1,
`schemas/audit-v1.json`). Numbers declared and computed are exact lexemes. What looks like a credential in a text of a
log, a name of a subject or field too, is masked; the stored copy keeps it.

What belongs here: tables -> document. What does not: how it looks (terminal, html) and how it is written (json_text).
"""

from __future__ import annotations

import json
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.strict.excerpt import mask_secrets
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.vocabulary import ContractState, Disposition, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

SCHEMA: Final = "govern/audit/v1"
FILE_FIELDS: Final = (
    "round_id", "path", "format", "file_sha256", "bytes", "record_unit",
    "lines_in", "accepted", "quarantined", "blank", "duplicates", "reason_code",
)  # fmt: skip
LOG_TEXTS: Final = ("subject_id", "field", "run_id", "declared_raw", "declared_hash", "declared_pointer", "pointer")
"""Columns that hold what a log wrote, names as well as values: a credential in them is masked."""
NUMBERS: Final = ("declared", "computed", "delta", "epsilon")
"""Members of a record that are numbers: exact lexemes, never binary floats."""


def audit_document(
    tables: Mapping[str, pd.DataFrame],
    not_checkable: pd.DataFrame,
    meanings: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    proof: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Build the document of one audit.

    Args:
        tables: table -> frame over all rounds, as the pipeline makes them.
        not_checkable: declared values their format offers no parts for (crosscheck.builtin.not_checkable).
        meanings: check id -> evidence and semantics of what the declared number means (crosscheck.catalogue).
        proof: what the mutation proof of the checks that ran gave (auditing.stated_proof); None: not proved here.
    """
    checks = tables["audit_cross_checks"]
    hashes = tables["audit_integrity"]
    return {
        "schema": SCHEMA,
        "files": [_file(row) for row in records(tables["raw_log_files"])],
        "rounds": [json.loads(text) for text in tables["verdict_rounds"]["document"]],
        "cross_checks": [as_record(row) for row in records(checks)],
        "explanations": [as_explanation(row) for row in records(tables["audit_explanations"])],
        "meanings": {check: dict(meanings[check]) for check in sorted(set(checks["check_id"])) if check in meanings},
        "proof": None if proof is None else dict(proof),
        "hashes": [_masked(row) for row in records(hashes[hashes["status"] != RecordStatus.MATCH])],
        "not_checkable": [_masked(row) for row in records(not_checkable)],
        "quarantine_reasons": _quarantine_reasons(tables["raw_quarantine"]),
        "counts": _counts(tables),
    }


def _counts(tables: Mapping[str, pd.DataFrame]) -> dict[str, int]:
    checks, hashes = tables["audit_cross_checks"]["status"], tables["audit_integrity"]["status"]
    rounds = tables["core_rounds"]
    return {
        **{str(status): int((checks == status).sum()) for status in RecordStatus},
        **{f"hash_{status}": int((hashes == status).sum()) for status in RecordStatus},
        "declared": len(tables["core_declared"]),
        "rounds": len(rounds),
        "rounds_without_contract": int((rounds["contract_state"] == ContractState.ABSENT).sum()),
    }


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one dict per row with None for every null and ISO 8601 text for every time."""
    return [{key: _plain(value) for key, value in row.items()} for row in plain_rows(frame)]


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _masked(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: mask_secrets(value) if key in LOG_TEXTS and value is not None else value for key, value in row.items()}


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


def as_explanation(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of `audit_explanations`, null as None, as an item of `explanations`."""
    numbers = {name: None if row[name] is None else Lexeme(row[name]) for name in ("value", "delta")}
    return {**{name: value for name, value in row.items() if name != "check_id"}, **numbers}


def as_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of `audit_cross_checks`, null as None, as an item of `cross_checks`."""
    return _record(_masked(row))


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    pointer = {"file": row["declared_file_sha256"], "line": row["declared_line"], "pointer": row["declared_pointer"]}
    members = {key: value for key, value in row.items() if not key.startswith("declared_")}
    return {
        **members,
        **{name: None if row[name] is None else Lexeme(row[name]) for name in NUMBERS},
        "declared_raw": row["declared_raw"],
        "declared_path": row["declared_path"],
        "declared_pointer": pointer,
    }
