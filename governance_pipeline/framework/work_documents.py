"""JSON documents about the work in a governed folder: its state, its history, marks of stages, limits, red processes.

What belongs here: their members. What does not: making what they tell, and printing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.framework.checkpoints import Progress
    from governance_pipeline.framework.gate_markers import MarkerCheck
    from governance_pipeline.framework.red_processes import Interruption
    from governance_pipeline.framework.state import Earlier, HistoryFault, State
    from governance_pipeline.framework.timeouts import DerivedTimeout


def state_document(state: State, inbox_faults: Sequence[str] | None = None) -> dict[str, Any]:
    """Give the document (govern/project-state/v1) of the state in force; None: nobody compared it with the inbox."""
    return {
        "schema": "govern/project-state/v1",
        "sha256": state.sha256,
        "state": dict(state.members),
        "inbox_faults": None if inbox_faults is None else list(inbox_faults),
    }


def history_document(entries: Sequence[Earlier], faults: Sequence[HistoryFault]) -> dict[str, Any]:
    """Give the document (govern/project-state-history/v1) of earlier states, oldest first, and what does not fit."""
    names = ("seq", "state_sha256", "next_sha256", "replaced_at", "replaced_by", "reason", "state_text")
    return {
        "schema": "govern/project-state-history/v1",
        "entries": [{name: getattr(entry, name) for name in names} for entry in entries],
        "faults": [fault._asdict() for fault in faults],
    }


def stage_document(check: MarkerCheck) -> dict[str, Any]:
    """Give the document (govern/stage-inspection/v1) of an inspected mark."""
    return {
        "schema": "govern/stage-inspection/v1",
        "stage": check.stage,
        "ok": check.ok,
        "reason_code": check.reason_code and str(check.reason_code),
        "message": check.message,
        "differences": [{**d._asdict(), "code": str(d.code)} for d in check.differences],
        "marker": None if check.document is None else dict(check.document),
    }


def timeout_document(derived: DerivedTimeout) -> dict[str, Any]:
    """Give the document (govern/derived-timeout/v1) of a time limit; seconds."""
    interval, evidence = derived.interval_s, derived.evidence_s or {}
    return {
        "schema": "govern/derived-timeout/v1",
        "ok": derived.ok,
        "reason_code": derived.reason_code and str(derived.reason_code),
        "message": derived.message,
        "threshold_s": derived.threshold_s,
        "n": derived.n,
        "least_n": derived.least_n,
        "percentile": derived.percentile,
        "percentile_s": derived.percentile_s,
        "interval_s": None if interval is None else list(interval),
        "confidence": derived.confidence,
        "safety_multiplier": derived.safety_multiplier,
        "evidence_s": {f"{share:g}": value for share, value in evidence.items()},
    }


def red_document(
    process: str, record: dict[str, Any] | None, progress: Progress | None, interruption: Interruption | None
) -> dict[str, Any]:
    """Give the document (govern/red-status/v1) of a red process: its record, how far it came, what interrupted it."""
    return {
        "schema": "govern/red-status/v1",
        "process": process,
        "record": record,
        "progress": progress and _progress(progress),
        "interruption": interruption and {**interruption._asdict(), "state": str(interruption.state)},
    }


def _progress(progress: Progress) -> dict[str, Any]:
    times = {name: instant_text(getattr(progress, name)) for name in ("started_at", "updated_at")}
    return {**progress._asdict(), **times, "data": dict(progress.data)}
