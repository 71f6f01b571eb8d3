"""Items that must have a row in the incident log, and the rows of table `audit_incidents`.

What belongs here: an item nobody verified that turned out wrong, and whether a row is about it. What does not: writing
the row; only a person knows cause and lesson. A row is about an item when its text or its reference names it.
Source: spec/framework.md §6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows, typed
from governance_pipeline.framework.folder import AUDIT_TRAIL
from governance_pipeline.framework.incidents import Standing, State, standings
from governance_pipeline.framework.trail_checks import check_trail
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.vocabulary import RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trust.root import TrustRoot

TABLE: Final = "audit_incidents"


class Duty(NamedTuple):
    """An item that became a problem: the name a row must carry, and what it is."""

    reference: str
    words: str


def about(reference: str) -> str:
    """Give how a row names what it is about: in brackets, at the end of its incident."""
    return f"[{reference}]"


def duties(folder: GovernedFolder, ledger: Ledger, root: TrustRoot, now: datetime, lake: Lake | None) -> list[Duty]:
    """List the items nobody verified whose output is not what it says: of the audit trail, and of stored rounds.

    Raises:
        FileRefused: the audit trail is no regular file.
        StorageError: lake or ledger cannot be read.
    """
    return [*_of_trail(folder, ledger, root, now), *(() if lake is None else _of_rounds(lake))]


def missing_rows(found: list[Duty], known: list[Standing]) -> list[Duty]:
    """Give the items that no recorded incident with a row in the log is about."""
    in_step = [s.incident for s in known if s.state is State.IN_STEP and s.incident is not None]
    named = {incident.reference for incident in in_step}
    texts = [incident.row.incident for incident in in_step]
    return [d for d in found if d.reference not in named and not any(about(d.reference) in text for text in texts)]


def incident_rows(known: list[Standing], missing: list[Duty]) -> Iterator[dict[str, Any]]:
    """Give the rows of `audit_incidents`."""
    for standing in known:
        incident, row = standing.incident, standing.incident.row if standing.incident else standing.logged
        assert row is not None  # one of the two is there
        yield {
            "item": f"line-{standing.line}" if incident is None else f"{incident.incident_id}@{incident.seq}",
            "state": str(standing.state),
            **row._asdict(),
            "reference": None if incident is None else incident.reference,
            "incident_id": None if incident is None else incident.incident_id,
            "ledger_seq": None if incident is None else incident.seq,
            "recorded_at": None if incident is None else incident.at,
            "recorded_by": None if incident is None else incident.actor,
            "line": standing.line,
        }
    for duty in missing:
        yield {
            "item": duty.reference,
            "state": str(State.MISSING_ROW),
            "incident": duty.words,
            "reference": duty.reference,
        }


def rows(folder: GovernedFolder, ledger: Ledger, root: TrustRoot, now: datetime, lake: Lake | None) -> pd.DataFrame:
    """Give table `audit_incidents`: every incident with its state, and every item that has no row.

    Raises:
        FaultyFileError: the incident log has no table, or a broken row.
        FileRefused: a file is missing or no regular one.
        StorageError: lake or ledger cannot be read.
    """
    from governance_pipeline.contracts.audit_incidents import AuditIncidents

    known = standings(folder, ledger)
    missing = missing_rows(duties(folder, ledger, root, now, lake), known)
    return typed(AuditIncidents, TABLE, list(incident_rows(known, missing)))


def _of_trail(folder: GovernedFolder, ledger: Ledger, root: TrustRoot, now: datetime) -> Iterator[Duty]:
    for checked in check_trail(folder, ledger, root, now)[1]:
        if checked.is_problem:
            entry = checked.entry
            agent, tool = excerpt(entry.members["agent_id"], 80), excerpt(entry.members["tool_called"], 80)
            said = f"{agent} called {tool}; the output hash of {AUDIT_TRAIL}:{entry.line} is not that of its output"
            yield Duty(f"trail:{entry.name}", said)


def _of_rounds(lake: Lake) -> Iterator[Duty]:
    for round_id in lake.rounds("audit_integrity"):
        wrong = {
            (row["run_id"], row["step_index"])
            for row in plain_rows(lake.get("audit_integrity", round_id))
            if row["status"] == RecordStatus.MISMATCH
        }
        if not wrong or not lake.has("core_steps", round_id):
            continue
        for row in plain_rows(lake.get("core_steps", round_id)):
            if (row["run_id"], row["step_index"]) in wrong and row["is_independently_verified"] is False:
                place = f"{round_id}/{row['run_id']}/{row['step_index']}"
                said = f"step {excerpt(place, 160)}: the declared output hash is not that of the output"
                yield Duty(f"step:{place}", said)
