"""A long process without supervision starts with lock, checkpoint and a measured limit, or not at all."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime

import pytest

from governance_pipeline.errors import FaultyFileError, StorageError, UsageError
from governance_pipeline.framework.checkpoints import BatchCheckpoints
from governance_pipeline.framework.locks import Locks
from governance_pipeline.framework.red_processes import (
    RedPlan,
    RedState,
    interruption_of,
    record_path,
    red_process,
    red_record,
)
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.timeouts import derive_timeout_from_percentiles
from governance_pipeline.trust.reasons import ReasonCode, Refusal

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MEASURED = derive_timeout_from_percentiles([float(n) for n in range(1, 201)])
PLAN = RedPlan("corpus", "run-1", "worker-1", "load.py", "a" * 64, MEASURED)


@pytest.fixture
def locks(folder):
    """Give the locks of a folder, at a time that stands still."""
    return Locks(folder, clock=lambda: NOON)


def _state(folder):
    return red_record(folder, "corpus")[0]["state"]


def _run(folder, locks, plan=PLAN, **more):
    with red_process(folder, plan, locks, **more) as running:
        running.unit_done("a.csv")


def _nothing_started(folder):
    return not record_path(folder, "corpus").exists() and BatchCheckpoints(folder).read("corpus") is None


def test_lock_checkpoint_and_limit_are_there_before_anything_starts(folder, locks):
    with red_process(folder, PLAN, locks) as running:
        assert str(locks.standing("corpus").standing) == "live"
        assert BatchCheckpoints(folder).read("corpus").units_done == 0
        record, _ = red_record(folder, "corpus")
        assert record["state"] == RedState.RUNNING
        assert record["timeout"] == {
            "n": 200, "threshold_s": "396.0", "percentile": "99.0", "percentile_s": "198.0", "safety_multiplier": "2.0",
        }  # fmt: skip
        running.unit_done("a.csv", {"rows": 3})
    assert _state(folder) == RedState.FINISHED
    done = BatchCheckpoints(folder).read("corpus")
    assert (done.is_finished, done.last_unit, done.data) == (True, "a.csv", {"rows": 3})
    assert str(locks.standing("corpus").standing) == "free"
    _run(folder, locks, PLAN._replace(run_id="run-2"))


def test_without_a_measured_limit_nothing_starts(folder, locks):
    with pytest.raises(FrameworkRefused, match="NO_SAMPLE"):
        _run(folder, locks, PLAN._replace(timeout=derive_timeout_from_percentiles(3600)))
    assert _nothing_started(folder)


def test_while_the_lock_is_held_nothing_starts(folder, locks):
    locks.claim("corpus", os.getpid(), "other")
    with pytest.raises(FrameworkRefused, match="LOCK_HELD"):
        _run(folder, locks)
    assert _nothing_started(folder)


@pytest.mark.parametrize("plan", [PLAN._replace(agent=""), PLAN._replace(run_id=" "), PLAN._replace(process="../x")])
def test_without_name_run_and_agent_nothing_starts(folder, locks, plan):
    with pytest.raises(UsageError):
        _run(folder, locks, plan)
    assert _nothing_started(folder)


def test_while_everything_critical_is_frozen_nothing_starts(folder, locks):
    def frozen():
        raise Refusal(ReasonCode.FROZEN, "a re-baseline is going on")

    with pytest.raises(Refusal, match="FROZEN"):
        _run(folder, locks, may_start=frozen)
    assert _nothing_started(folder)
    assert str(locks.standing("corpus").standing) == "free"


def test_a_checkpoint_that_cannot_be_written_starts_nothing(folder, locks, monkeypatch):
    def full(*_):
        raise StorageError("no space")

    monkeypatch.setattr(BatchCheckpoints, "begin", full)
    with pytest.raises(StorageError, match="no space"):
        _run(folder, locks)
    assert red_record(folder, "corpus") is None


def test_after_a_kill_a_relaunch_needs_an_approval_bound_to_what_happened(folder, locks):
    child = os.fork()
    if child == 0:
        with red_process(folder, PLAN, Locks(folder)) as running:
            running.unit_done("a.csv")
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert _state(folder) == RedState.RUNNING
    again = PLAN._replace(run_id="run-2")
    with pytest.raises(FrameworkRefused, match=r"RELAUNCH_NEEDS_APPROVAL: red process corpus \(run run-1\) was killed"):
        _run(folder, locks, again)
    assert _state(folder) == RedState.RUNNING, "a refused relaunch hides nothing"

    asked = []
    with red_process(folder, again, locks, may_relaunch=asked.append) as running:
        assert (running.progress.units_done, running.progress.last_unit) == (1, "a.csv")
    (interruption,) = asked
    assert (interruption.run_id, interruption.state) == ("run-1", RedState.RUNNING)
    assert len(interruption.record_sha256) == 64
    assert _state(folder) == RedState.FINISHED
    assert interruption_of(folder, "corpus") is None


def test_removing_the_record_of_a_killed_process_wipes_out_nothing(folder, locks):
    with pytest.raises(ZeroDivisionError), red_process(folder, PLAN, locks):
        1 / 0  # noqa: B018 - the crash
    record_path(folder, "corpus").unlink()
    with pytest.raises(FrameworkRefused, match=r"RELAUNCH_NEEDS_APPROVAL: .*its record is not there"):
        _run(folder, locks)


def test_a_crash_is_recorded_and_is_an_interruption_too(folder, locks):
    with pytest.raises(ZeroDivisionError), red_process(folder, PLAN, locks):
        1 / 0  # noqa: B018 - the crash
    record, sha256 = red_record(folder, "corpus")
    assert (record["state"], "ZeroDivisionError" in record["reason"]) == (RedState.FAILED, True)
    assert interruption_of(folder, "corpus").record_sha256 == sha256
    with pytest.raises(FrameworkRefused, match=r"was ended by ZeroDivisionError"):
        _run(folder, locks)


def test_an_approval_for_one_interruption_is_none_for_the_next(folder, locks):
    approved = set()

    def look(interruption):
        if interruption.record_sha256 not in approved:
            raise Refusal(ReasonCode.MISSING, "nobody approved this one")

    for run in ("run-1", "run-2"):
        with pytest.raises(ZeroDivisionError), red_process(folder, PLAN._replace(run_id=run), locks, may_relaunch=look):
            1 / 0  # noqa: B018 - the crash
        with pytest.raises(Refusal, match="MISSING"):
            _run(folder, locks, may_relaunch=look)
        approved.add(interruption_of(folder, "corpus").record_sha256)


def test_a_planned_stop_goes_on_later_without_an_approval(folder, locks):
    with red_process(folder, PLAN, locks) as running:
        running.unit_done("a.csv")
        with pytest.raises(UsageError, match="reason"):
            running.stop(" ")
        running.stop("the night is over")
    assert _state(folder) == RedState.STOPPED
    with red_process(folder, PLAN._replace(run_id="run-2"), locks) as running:
        assert running.progress.last_unit == "a.csv"


def test_a_record_that_was_tampered_with_starts_nothing(folder, locks):
    _run(folder, locks)
    path = record_path(folder, "corpus")
    path.write_text(path.read_text().replace('"finished"', '"fine"'))
    with pytest.raises(FaultyFileError, match="state"):
        _run(folder, locks)
