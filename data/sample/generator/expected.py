"""The expected answers: one entry per fault and table, rounds without a fault, and the tally of cross-checks."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from generator.validation import key_ids

if TYPE_CHECKING:
    from generator.model import Draft

SCHEMA = "govern/sample-expected/v1"
TABLES_TODAY = (
    "raw_log_files",
    "raw_quarantine",
    "core_attestations",
    "core_changes",
    "core_criteria",
    "core_evidence",
    "core_file_changes",
    "core_rounds",
    "core_runs",
    "core_usage",
    "audit_cross_checks",
    "audit_integrity",
    "audit_independence",
    "features_step_surface",
    "features_round",
    "verdict_findings",
)
CODES_LATER: tuple[str, ...] = ()
HOW_TO_READ = (
    "Each fault: table holds exactly count rows of round_id whose columns equal where (null = null; a number of a"
    " lexeme column is its text). Findings whose code is in codes_later have no detector yet. cross_checks:"
    " records of declared aggregates by status (checks of change events are not among them), null = not promised."
)


def document(drafts: list[Draft], checks: list[dict[str, Any]]) -> dict[str, Any]:
    """Build `expected.json`."""
    return {
        "schema": SCHEMA,
        "how_to_read": HOW_TO_READ,
        "tables_today": list(TABLES_TODAY),
        "codes_later": list(CODES_LATER),
        "rounds": len(drafts),
        "clean_rounds": [draft.round_id for draft in drafts if not draft.faults],
        "faults": _faults(drafts),
        "cross_checks": {draft.round_id: vars(draft.tally) for draft in drafts},
        "attesting_keys": key_ids(drafts),
        "checks": checks,
    }


def as_bytes(value: dict[str, Any]) -> bytes:
    """Write the document for people to read: one fault, round or check a line."""
    lines = []
    for key, member in value.items():
        if isinstance(member, list) and member and isinstance(member[0], dict):
            items = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in member)
            lines.append(f"  {json.dumps(key)}: [\n{items}\n  ]")
        elif isinstance(member, dict):
            items = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in member.items())
            lines.append(f"  {json.dumps(key)}: {{\n{items}\n  }}")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(member, ensure_ascii=False)}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _faults(drafts: list[Draft]) -> list[dict[str, Any]]:
    used: Counter[str] = Counter()
    entries = []
    for draft in drafts:
        for fault in draft.faults:
            stem = f"{fault.round_id}.{fault.fault}"
            used[stem] += 1
            entries.append({"id": f"{stem}.{used[stem]}", **vars(fault)})
    return entries
