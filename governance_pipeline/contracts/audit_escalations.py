"""Contract of `audit_escalations`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    TableModel,
    Text,
    Utc,
    count,
    lexeme,
    round_id,
    sha256,
    text,
    utc,
)


class AuditEscalations(TableModel):
    """One row per open question: each mismatch, and each unverifiable record.

    opened_at and age_days come from the ledger event and are null before it exists.
    """

    round_id: Text = round_id()
    case_id: Text = text("case-<record_id>.", pattern=r"^case-[0-9a-f]{64}$")
    record_id: Text = sha256("Record of audit_cross_checks.")
    assignee: Text = text("Who decides.")
    reason: Text = text("mismatch, or the reason code.")
    declared: Text = lexeme("What the source claims.")
    computed: Text = lexeme("What the parts give.")
    opened_at: Utc = utc("When.")
    age_days: Count = count("Whole days open.", null=True)
    state: Text = text("open, acknowledged or resolved.", pattern=r"^(open|acknowledged|resolved)$")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "case_id"]
        metadata = {"version": 1}
