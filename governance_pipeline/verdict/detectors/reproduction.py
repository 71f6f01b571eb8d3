"""`bugfix-without-reproduction`: nobody saw the bug before it was fixed.

A bug fix is shown by one check that failed and then passed. The check is the command of a criterion or of an evidence
record; failing and passing are read from the records and from the logs, each in its own order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.verdict.command_runs import CommandRun, claimed_runs, logged_runs
from governance_pipeline.verdict.detector import Detector, Hit, contract_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from governance_pipeline.verdict.round_view import RoundView

BUGFIX: Final = "bugfix"


def _detect(view: RoundView) -> Iterator[Hit]:
    if (view.promised("task_kind") or "").strip().casefold() != BUGFIX:
        return
    commands = sorted({row["check_command"] for row in view.criteria if row["check_command"] is not None}
                      | {row["command"] for row in view.evidence if row["command"] is not None})  # fmt: skip
    runs = {command: (claimed_runs(view, command), logged_runs(view, command)) for command in commands}
    if any(_was_fixed(sequence) for both in runs.values() for sequence in both):
        return
    seen = [run for both in runs.values() for sequence in both for run in sequence]
    yield Hit(
        (),
        "the round fixes a bug, and no check was seen failing before and passing after",
        {
            "commands": len(commands),
            "failing_runs": sum(run.passed is False for run in seen),
            "passing_runs": sum(run.passed is True for run in seen),
        },
        contract_place(view),
    )


def _was_fixed(runs: Sequence[CommandRun]) -> bool:
    outcomes = [run.passed for run in runs]
    return False in outcomes and True in outcomes[outcomes.index(False) :]


_ROUND: Final = [{"task_kind": "bugfix"}]
_CRITERIA: Final = [{"criterion_id": "C1", "check_command": "pytest -q"}]
_PASSES: Final = {"step_index": 2, "line": 2, "state": "proven", "command": "pytest -q", "exit_code": 0}

DETECTOR: Final = Detector(
    code="bugfix-without-reproduction",
    rule="the task is a bug fix, and no check was seen failing before and passing after",
    reads=("core_criteria", "core_evidence", "core_steps"),
    detect=_detect,
    fires_on={"core_rounds": _ROUND, "core_criteria": _CRITERIA, "core_evidence": [_PASSES]},
    silent_on={
        "core_rounds": _ROUND,
        "core_criteria": _CRITERIA,
        "core_evidence": [{"state": "refuted", "command": "pytest -q", "exit_code": 1}, _PASSES],
    },
)
