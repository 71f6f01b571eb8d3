"""Rows of table `audit_incidents`: every incident as ledger and log have it.

What belongs here: rows. What does not: comparing the two (`incidents`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.framework.incidents import standings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.incidents import Standing
    from governance_pipeline.ledger.ledger import Ledger

TABLE = "audit_incidents"


def rows(folder: GovernedFolder, ledger: Ledger) -> pd.DataFrame:
    """Make `audit_incidents` of a folder; columns as contract `audit_incidents`.

    Raises:
        FaultyFileError: the log has no table, or a broken row.
        StorageError: the ledger cannot be read.
    """
    from governance_pipeline.contracts.audit_incidents import AuditIncidents  # brings pandas along
    from governance_pipeline.contracts.frames import typed

    return typed(AuditIncidents, TABLE, list(incident_rows(standings(folder, ledger))))


def incident_rows(found: list[Standing]) -> Iterator[dict[str, Any]]:
    """Give a row for each incident; what both have is shown as the log has it, for an edited one that is the edit."""
    for one in found:
        incident, logged = one.incident, one.logged
        row = logged if logged is not None else incident.row if incident is not None else None
        if row is None:
            continue
        yield {
            **row._asdict(),
            "item": f"line {one.line}" if incident is None else incident.incident_id,
            "state": str(one.state),
            "line": one.line,
            "reference": incident and incident.reference,
            "incident_id": incident and incident.incident_id,
            "ledger_seq": incident and incident.seq,
            "recorded_at": incident and incident.at,
            "recorded_by": incident and incident.actor,
        }
