"""Table `audit_escalations`: each mismatch and each unverifiable record goes to a person.

The case id follows from the record id, so the same input opens the same case. When a case was opened, and what a
person decided, are ledger events; before they exist opened_at and age_days are null and the state is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.vocabulary import Action, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import pandas as pd


def escalations(audit_cross_checks: pd.DataFrame) -> pd.DataFrame:
    """Return one row per record that was not accepted; columns as contract `audit_escalations`."""
    return frame_of("audit_escalations", _rows(audit_cross_checks))


def _rows(checks: pd.DataFrame) -> Iterator[dict[str, Any]]:
    asked = checks[checks["action"] != Action.ACCEPT]
    for row in plain_rows(asked):
        yield {
            "round_id": row["round_id"],
            "case_id": f"case-{row['record_id']}",
            "record_id": row["record_id"],
            "assignee": row["escalate_to"],
            "reason": "mismatch" if row["status"] == RecordStatus.MISMATCH else row["reason_code"],
            "declared": row["declared"],
            "computed": row["computed"],
            "state": "open",
        }
