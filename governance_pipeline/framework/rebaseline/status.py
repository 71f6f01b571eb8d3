"""How far a re-baseline is, as one document (`govern/rebaseline-status/v1`): what every command of the group answers.

What belongs here: the document. What does not: taking steps, and printing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.framework.rebaseline.declaring import baseline_version
from governance_pipeline.framework.rebaseline.files import edited_checkpoints, is_of
from governance_pipeline.framework.rebaseline.frozen import freeze_in_force
from governance_pipeline.framework.rebaseline.rederiving import numbers_of
from governance_pipeline.framework.rebaseline.table import rebaseline_rows
from governance_pipeline.ledger.rebaselines import every_progress, read_rebaselines
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from governance_pipeline.framework.rebaseline.due import Due
    from governance_pipeline.framework.rebaseline.protocol import Project
    from governance_pipeline.ledger.rebaselines import Progress

SCHEMA: Final = "govern/rebaseline-status/v1"


def status_document(project: Project, found: list[Due] | None) -> dict[str, Any]:
    """Give the state of a project: baseline, freeze, what is due, the re-baseline that is open, and those before.

    Args:
        project: where.
        found: what `due.due` gives; None where nobody looked.
    """
    now, history = project.clock(), read_rebaselines(project.ledger)
    known = [p for p in every_progress(history, project.root, now) if is_of(project.folder, p)]
    opened = next((p for p in known if p.resumed is None), None)
    rows = [] if found is None else list(rebaseline_rows(project, found))
    return {
        "schema": SCHEMA,
        "baseline_version": baseline_version(project),
        "is_frozen": freeze_in_force(project.ledger, project.root, now) is not None,
        "open": None if opened is None else _progress(opened),
        "ended": [_progress(progress) for progress in known if progress.resumed is not None],
        "due": None if found is None else [_due(row) for row in rows if row["trigger"] != "declaration"],
        "edited_checkpoints": edited_checkpoints(project.folder, history, project.root, now),
    }


def _progress(progress: Progress) -> dict[str, Any]:
    document = progress.declared.document
    return {
        "rebaseline_id": progress.rebaseline_id,
        "declared_on": str(document["declared_on"]),
        "scope_change": str(document["scope_change"]),
        "authorized_by": list(progress.declared.people),
        "from_baseline": str(document["from_baseline"]),
        "to_baseline": None if progress.resumed is None else progress.resumed.baseline_version,
        "steps": [
            {"step": str(step), "ledger_seq": taken.seq, "at": instant_text(taken.ts), "by": taken.actor}
            for step, taken in progress.taken.items()
        ],
        "missing": [str(step) for step in progress.missing],
        "chain_sha256": progress.chain_sha256,
        "numbers": dict(numbers_of(progress)),
    }


def _due(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("trigger", "subject", "pointer", "round_id", "state")}
