"""Rows of table `audit_rebaseline`: what is due, and every re-baseline that was declared.

What belongs here: rows. What does not: finding them (`due`). Making the table notes the assumptions of a baseline at
first sight, so that nobody has to remember to do it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.contracts.frames import typed
from governance_pipeline.framework.rebaseline.assumptions import note
from governance_pipeline.framework.rebaseline.declaring import baseline_version
from governance_pipeline.framework.rebaseline.due import Trigger, due
from governance_pipeline.framework.rebaseline.files import is_of
from governance_pipeline.ledger.rebaselines import every_progress, read_rebaselines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from governance_pipeline.framework.rebaseline.due import Due
    from governance_pipeline.framework.rebaseline.protocol import Project
    from governance_pipeline.ledger.rebaselines import Progress

TABLE = "audit_rebaseline"
_ALWAYS_DUE = (Trigger.NOT_NOTED, Trigger.OLD_BASELINE)
"""Triggers that no declaration answers."""


def rows(project: Project, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Give the table; notes the assumptions of the baseline in force when nobody has.

    Args:
        project: where.
        tables: those of `assumptions.READS`, of every round there is.

    Raises:
        As `due.due`; StorageError: the ledger could not be written.
    """
    from governance_pipeline.contracts.audit_rebaseline import AuditRebaseline

    note(project.folder, project.ledger, baseline_version(project), tables, project.clock())
    return typed(AuditRebaseline, TABLE, list(rebaseline_rows(project, due(project, tables))))


def rebaseline_rows(project: Project, found: list[Due]) -> Iterator[dict[str, Any]]:
    """Give a row for each trigger, the first place of each, and one for each re-baseline of the folder."""
    history = read_rebaselines(project.ledger)
    known = [p for p in every_progress(history, project.root, project.clock()) if is_of(project.folder, p)]
    opened = next((p for p in known if p.resumed is None), None)
    version = baseline_version(project)
    for each in found:
        yield {
            **each._asdict(),
            "trigger": str(each.trigger),
            "state": "due" if opened is None or each.trigger in _ALWAYS_DUE else "declared",
            "next_step": None if opened is None else str(opened.missing[0]),
            "baseline_version": None if each.trigger is Trigger.NOT_NOTED else version,
            "rebaseline_id": None if opened is None else opened.rebaseline_id,
            "ledger_seq": None if opened is None else _last_seq(opened),
        }
    for progress in known:
        yield _declared_row(progress)


def _declared_row(progress: Progress) -> dict[str, Any]:
    ended = progress.resumed
    return {
        "trigger": "declaration",
        "subject": str(progress.declared.document["scope_change"]),
        "pointer": progress.rebaseline_id,
        "state": "open" if ended is None else "resumed",
        "next_step": str(progress.missing[0]) if progress.missing else None,
        "round_id": None,
        "baseline_version": None if ended is None else ended.baseline_version,
        "rebaseline_id": progress.rebaseline_id,
        "ledger_seq": _last_seq(progress),
    }


def _last_seq(progress: Progress) -> int:
    return max(taken.seq for taken in progress.taken.values())
