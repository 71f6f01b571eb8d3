"""Contract of `audit_incidents`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    TableModel,
    Text,
    Utc,
    count,
    text,
    utc,
)


class AuditIncidents(TableModel):
    """One row per incident of ledger or incident log, and per unverified item that became a problem and has no row.

    Null: incident_id and recorded_at where the ledger has none, line where the log has none, root_cause and resolution
    where nobody wrote a row, reference where it is about nothing else.
    """

    item: Text = text("Id of the incident; of a row only the log has its line; of a missing row what it must be about.")
    state: Text = text(
        "in_step, not_in_log, not_in_ledger, edited (the log says something else), or missing_row.",
        pattern=r"^(in_step|not_in_log|not_in_ledger|edited|missing_row)$",
    )
    date: Text = text("Day, as it is written.", null=True)
    incident: Text = text("What happened.")
    root_cause: Text = text("Why.", null=True)
    resolution: Text = text("What was done, or learned.", null=True)
    reference: Text = text("Re-baseline or item it is about.", null=True)
    incident_id: Text = text("Id in the ledger.", null=True)
    ledger_seq: Count = count("Event it was recorded with.", null=True, at_least=1)
    recorded_at: Utc = utc("When it was recorded.")
    recorded_by: Text = text("Who recorded it.", null=True)
    line: Count = count("Line of the incident log, from 1.", null=True, at_least=1)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["item"]
        metadata = {"version": 1, "by_round": False}
