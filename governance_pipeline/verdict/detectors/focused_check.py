"""`focused-check-failed`: the command that was to prove a criterion failed when it was last run.

A failure on the way is how tests are written first, so only the last run counts: the record that decides the criterion,
and the last step in the logs that ran its command. Either failing fires; a later claim cannot take back what a log
shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.verdict.command_runs import CommandRun, logged_runs, record_passed
from governance_pipeline.verdict.detector import Detector, Hit, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView


class _Failure(NamedTuple):
    """A failed last run and the command that was run."""

    command: str
    run: CommandRun


def _detect(view: RoundView) -> Iterator[Hit]:
    for criterion in view.criteria:
        record = view.last_evidence.get(criterion["criterion_id"])
        claimed = None if record is None or record["command"] is None else record
        command: str | None = criterion["check_command"] or (claimed or {}).get("command")
        if command is None:
            continue
        logged = logged_runs(view, command)[-1:]
        failures = [_Failure(command, run) for run in logged if run.passed is False]
        if claimed is not None and record_passed(claimed) is False:
            failures.insert(0, _Failure(claimed["command"], CommandRun(False, claimed["exit_code"], place_of(claimed))))
        if failures:
            yield _hit(criterion, failures[0], claimed, logged)


def _hit(
    criterion: Mapping[str, Any], failure: _Failure, claimed: Mapping[str, Any] | None, logged: list[CommandRun]
) -> Hit:
    exit_code = "" if failure.run.exit_code is None else f" with exit code {failure.run.exit_code}"
    name = excerpt(criterion["criterion_id"], 80)
    return Hit(
        (criterion["criterion_id"],),
        f"the last run of the check of criterion {name} failed{exit_code}: {excerpt(failure.command, 120)}",
        {
            "criterion_id": name,
            "required": criterion["is_required"],
            "command": excerpt(failure.command),
            "evidence_state": None if claimed is None else claimed["state"],
            "evidence_exit_code": None if claimed is None else claimed["exit_code"],
            "logged_passed": logged[0].passed if logged else None,
            "logged_exit_code": logged[0].exit_code if logged else None,
        },
        failure.run.place,
    )


_CRITERION: Final = {"criterion_id": "C1", "check_command": "pytest -q"}

DETECTOR: Final = Detector(
    code="focused-check-failed",
    rule="the last run of the command of a criterion failed",
    reads=("core_criteria", "core_evidence", "core_steps"),
    detect=_detect,
    fires_on={
        "core_criteria": [_CRITERION],
        "core_evidence": [{"state": "refuted", "command": "pytest -q", "exit_code": 1}],
    },
    silent_on={
        "core_criteria": [_CRITERION],
        "core_evidence": [
            {"state": "refuted", "command": "pytest -q", "exit_code": 1},
            {"step_index": 2, "line": 2, "state": "proven", "command": "pytest -q", "exit_code": 0},
        ],
        "core_steps": [
            {"command": "pytest -q", "exit_code": 1},
            {"step_index": 2, "line": 2, "command": "pytest -q", "exit_code": 0},
        ],
    },
)
