"""Which cases the tables of rounds make: each mismatch one, the unverifiables of one round, check and reason one.

What belongs here: putting records together. What does not: when a case was opened and what people said; that is in the
ledger. The result is a pure function of the tables. Source: spec/crosscheck.md §5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.ledger.cases import Case
from governance_pipeline.trust.case_statement import MISMATCH, CaseRecord, case_sha256

if TYPE_CHECKING:
    from typing import Any

    import pandas as pd


def cases_of(audit_escalations: pd.DataFrame, audit_cross_checks: pd.DataFrame) -> list[Case]:
    """Return the cases of rounds, mismatches first, each kind in the order of the table.

    Args:
        audit_escalations: records that were not accepted.
        audit_cross_checks: names the check and field of each.
    """
    if audit_escalations.empty:
        return []
    named = {(row["round_id"], row["record_id"]): row for row in plain_rows(audit_cross_checks)}
    mismatches: list[Case] = []
    groups: dict[tuple[str, str | None, str], list[dict[str, Any]]] = {}
    for row in plain_rows(audit_escalations):
        check = named.get((row["round_id"], row["record_id"]), {})
        whole = {**row, "check_id": check.get("check_id"), "field": check.get("field")}
        if row["reason"] == MISMATCH:
            mismatches.append(_case(row["case_id"], [whole]))
        else:
            groups.setdefault((row["round_id"], whole["check_id"], row["reason"]), []).append(whole)
    return [*mismatches, *(_group(rows) for rows in groups.values())]


def _group(rows: list[dict[str, Any]]) -> Case:
    first = rows[0]
    return _case(f"case-{case_sha256(first['round_id'], first['reason'], map(_record, rows))}", rows)


def _case(case_id: str, rows: list[dict[str, Any]]) -> Case:
    first = rows[0]
    return Case(
        first["round_id"],
        case_id,
        first["check_id"],
        first["field"],
        first["reason"],
        first["assignee"],
        tuple(sorted(map(_record, rows))),
    )


def _record(row: dict[str, Any]) -> CaseRecord:
    return CaseRecord(row["record_id"], row["declared"], row["computed"])
