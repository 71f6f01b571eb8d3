"""kill -9 before every system call of a write: state, checkpoint and mark are the old or the new one, whole."""

from __future__ import annotations

import pytest

from governance_pipeline.framework.checkpoints import BatchCheckpoints
from governance_pipeline.framework.folder import CHECKPOINTS, STATE
from governance_pipeline.framework.gate_markers import inspect_stage, marker_path
from governance_pipeline.framework.state import StateKeeper, read_state

STEPS = [7, pytest.param(1, marks=pytest.mark.long)]


def _killed(processes, folder, what, step, look):
    """Let one writer after the other die one system call later, until one does not; gives what was seen after each."""
    tell, hear = processes
    seen = []
    for nth in range(1, 400, step):
        tell((what, folder.root, nth))
        answer = hear()
        assert answer in ("killed", "done")
        seen.append(look())
        if answer == "done":
            return nth, seen
    pytest.fail("no writer came to its end")


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_change_of_the_state_leaves_the_old_or_the_new_one_and_a_sound_history(folder, processes, step):
    keeper = StateKeeper(folder)

    def look():
        assert keeper.faults() == []
        return read_state(folder).members["current_phase"]

    nth, seen = _killed(processes, folder, "state", step, look)
    assert seen[-1] == f"phase-{nth}"
    assert step > 1 or len(set(seen)) > 2, "some are killed after the new state is in force"
    keeper.change({"current_phase": "after"}, by="ana", reason="still works")
    assert keeper.faults() == []
    assert [entry.seq for entry in keeper.history()] == list(range(1, len(keeper.history()) + 1))


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_unit_is_recorded_whole_or_not_at_all(folder, processes, step):
    batches = BatchCheckpoints(folder)
    batches.begin("load", "run", "a" * 64)

    def look():
        progress = batches.read("load")
        assert progress.last_unit == (f"unit-{progress.units_done}" if progress.units_done else None)
        return progress.units_done

    _, seen = _killed(processes, folder, "checkpoint", step, look)
    assert seen == sorted(seen), "no unit that was recorded is lost"
    assert seen[-1] >= 1
    batches.finish(batches.begin("load", "run-2", "a" * 64))


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_mark_is_the_old_or_the_new_one_and_never_half(folder, processes, step):
    def look():
        if not marker_path(folder, "A").exists():
            return None
        found = inspect_stage(folder, "A", needs=[STATE])
        assert found.ok
        return found.document["run_id"]

    nth, seen = _killed(processes, folder, "stage", step, look)
    assert seen[0] is None
    assert seen[-1] == f"run-{nth}"
    assert all(path.name.startswith((".tmp-", "STAGE_A_")) for path in folder.path(CHECKPOINTS).iterdir())
