"""A command under a lock ends as if it ran alone; the lock ends with it and never before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from governance_pipeline.framework.lock_standing import Reason, Standing
from governance_pipeline.framework.locks import Locks

RUN = """
import signal, sys
signal.pthread_sigmask(signal.SIG_SETMASK, [])  # whatever else ran in the process of the tests before
signal.signal(signal.SIGTERM, signal.SIG_DFL)
from pathlib import Path
from governance_pipeline.framework.folder import GovernedFolder
from governance_pipeline.framework.locked_run import run_locked
from governance_pipeline.framework.locks import Locks
ended = run_locked(Locks(GovernedFolder(Path(sys.argv[1]))), "db", sys.argv[2:])
print(ended, flush=True)
sys.exit(ended.code)
"""
WAITS = "echo started; read line; exit 5"
GIVE_UP_S = 20


@pytest.fixture
def start(folder):
    """Start a wrapper around a shell command; gives it once the command runs."""
    started = []

    def begin(script, *, wait=True):
        wrapper = subprocess.Popen(
            [sys.executable, "-c", RUN, str(folder.root), "sh", "-c", script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        started.append(wrapper)
        if wait:
            assert wrapper.stdout.readline() == "started\n"
        return wrapper

    yield begin
    for wrapper in started:
        with suppress(ProcessLookupError):  # the command too: it would hold the pipe open
            os.killpg(wrapper.pid, signal.SIGKILL)
        wrapper.communicate(timeout=GIVE_UP_S)


def _worker(locks, wrapper):
    """Give the number of the command that is recorded as the owner."""
    deadline = time.monotonic() + GIVE_UP_S
    while time.monotonic() < deadline:
        owner = locks.standing("db").owner
        if owner is not None and owner.process.pid != wrapper.pid:
            return owner.process.pid
        time.sleep(0.02)
    pytest.fail("nobody is recorded")


def _standing_after(locks, standing):
    deadline = time.monotonic() + GIVE_UP_S
    while (judged := locks.standing("db")).standing is not standing and time.monotonic() < deadline:
        time.sleep(0.05)
    return judged


def test_signals_reach_the_command_and_its_exit_code_comes_back(start, folder):
    script = "trap 'exit 9' TERM; echo started; while :; do sleep 0.05; done"
    wrapper = start(script)
    wrapper.send_signal(signal.SIGTERM)
    assert wrapper.wait(GIVE_UP_S) == 9
    assert Locks(folder).standing("db").standing is Standing.FREE


def test_a_command_ended_by_a_signal_gives_128_and_its_number_and_frees_the_lock(start, folder):
    wrapper = start(WAITS)
    locks = Locks(folder)
    assert locks.standing("db").reason is Reason.KERNEL_LOCK_HELD
    os.kill(_worker(locks, wrapper), signal.SIGKILL)
    assert wrapper.wait(GIVE_UP_S) == 128 + signal.SIGKILL
    assert locks.standing("db").standing is Standing.FREE


def test_when_the_wrapper_is_killed_the_command_keeps_the_lock_until_it_ends_too(start, folder):
    wrapper = start("echo started; exec sleep 60")
    locks = Locks(folder)
    worker = _worker(locks, wrapper)
    wrapper.kill()
    wrapper.wait()
    assert locks.standing("db").reason is Reason.KERNEL_LOCK_HELD
    os.kill(worker, signal.SIGKILL)
    judged = _standing_after(locks, Standing.ORPHANED)
    assert (judged.standing, judged.owner.process.pid) == (Standing.ORPHANED, worker)
    with locks.held("db", "restart") as held:
        assert held.dead.owner.process.pid == worker


def test_a_child_the_command_leaves_behind_does_not_keep_the_lock(start, folder):
    wrapper = start("sleep 5 >/dev/null 2>&1 & echo started; exit 3")
    assert wrapper.wait(GIVE_UP_S) == 3
    assert Locks(folder).standing("db").standing is Standing.FREE


def test_a_program_that_is_not_there_runs_nothing_and_frees_the_lock(folder):
    answer = subprocess.run(
        [sys.executable, "-c", RUN, str(folder.root), "no-such-program"], capture_output=True, text=True, check=False
    )
    assert "UsageError: no-such-program cannot be run" in answer.stderr
    assert Locks(folder).standing("db").standing is Standing.FREE


OVERDUE = """
import sys
from pathlib import Path
from governance_pipeline.framework import locked_run
from governance_pipeline.framework.folder import GovernedFolder
from governance_pipeline.framework.locks import Locks
locked_run.GRACE_S = 0.1
command = ["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"]
ended = locked_run.run_locked(Locks(GovernedFolder(Path(sys.argv[1]))), "db", command, is_overdue=lambda: True)
print(ended.code, ended.is_overdue)
"""

FULL_DISK = """
import sys
from pathlib import Path
from governance_pipeline.errors import StorageError
from governance_pipeline.framework.folder import GovernedFolder
from governance_pipeline.framework.locked_run import run_locked
from governance_pipeline.framework.locks import HeldLock, Locks
def fail(self, owner):
    raise StorageError("no space")
HeldLock.record = fail
print(run_locked(Locks(GovernedFolder(Path(sys.argv[1]))), "db", ["sh", "-c", "exit 6"]))
"""


def _answer(program, folder):
    return subprocess.run(
        [sys.executable, "-c", program, str(folder.root)], capture_output=True, text=True, check=True, timeout=GIVE_UP_S
    ).stdout


def test_a_command_that_is_overdue_is_ended_even_when_it_does_not_listen(folder):
    assert _answer(OVERDUE, folder) == "124 True\n"


def test_a_sign_of_life_that_cannot_be_written_does_not_let_go_of_a_running_command(folder):
    assert _answer(FULL_DISK, folder) == "Ended(code=6, is_overdue=False, faults=('no space',))\n"
