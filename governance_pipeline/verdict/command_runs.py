"""Runs of a check's command that the logs of a round show.

What belongs here: which steps and evidence records are a run of one command, their order and outcome. What does not:
running anything: a command found in a contract or a log is never executed. Source: spec/verdict.md §3,
spec/ingest.md §2 ("a step running exactly this command is evidence").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.rounds.evidence import EvidenceState
from governance_pipeline.verdict.detector import Place, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.verdict.round_view import RoundView

    Row = Mapping[str, Any]

_REJECTED, _ERROR = "rejected", "error"


class CommandRun(NamedTuple):
    """One run: whether it passed (None: nobody can tell), its exit code as recorded, and where it stands."""

    passed: bool | None
    exit_code: int | None
    place: Place


def logged_runs(view: RoundView, command: str) -> list[CommandRun]:
    """Give the steps that ran exactly `command`, in order; blanks around it are no part of a command.

    In order of time where every such step has one, else by file and step. A step a person rejected did not run.
    """
    steps = [row for row in view.steps_by_command.get(command.strip(), ()) if row["status"] != _REJECTED]
    has_times = all(row["at"] is not None for row in steps)
    steps.sort(key=lambda row: (row["at"] if has_times else 0, row["path"], row["run_id"], row["step_index"]))
    return [CommandRun(_step_passed(row), row["exit_code"], place_of(row)) for row in steps]


def claimed_runs(view: RoundView, command: str) -> list[CommandRun]:
    """Give the evidence records that name exactly `command`, by step and line."""
    rows = [row for row in view.evidence if (row["command"] or "").strip() == command.strip()]
    return [CommandRun(record_passed(row), row["exit_code"], place_of(row)) for row in rows]


def seen_run(view: RoundView, command: str) -> Place | None:
    """Where the logs show that a command ran; None when they do not.

    A step that ran it, or an evidence record that names it and whose output digest is that of an output in the logs:
    not every format records commands. A record alone is a claim.
    """
    logged = logged_runs(view, command)
    if logged:
        return logged[-1].place
    for row in view.evidence:
        is_same = (row["command"] or "").strip() == command.strip()
        if is_same and _hex(row["output_sha256"]) in view.output_digests:
            return place_of(row)
    return None


def record_passed(row: Row) -> bool | None:
    """Outcome an evidence record claims: the worse of its state and its exit code; None when it says neither."""
    if row["state"] == EvidenceState.REFUTED or row["exit_code"] not in (None, 0):
        return False
    return True if row["state"] == EvidenceState.PROVEN or row["exit_code"] == 0 else None


def _step_passed(row: Row) -> bool | None:
    if row["exit_code"] is not None:
        return bool(row["exit_code"] == 0)
    return None if row["status"] is None else row["status"] != _ERROR


def _hex(digest: str | None) -> str | None:
    return None if digest is None else digest.lower().removeprefix("sha256:")
