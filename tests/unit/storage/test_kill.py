"""SIGKILL in the middle of a put, and writers in several processes: the table is an old or a new one, whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

if TYPE_CHECKING:
    from governance_pipeline.storage.lake import Lake

KILLS, KILLS_LONG = 15, 400
GIVE_UP_S = 300
LONGEST_LIFE_S = 0.12
"""Upper end of the random time a writer lives, in seconds: several puts of 10 to 50 ms each."""


@pytest.fixture
def writers():
    """Start the program that forks writers; gives a function from a line to what it prints."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("writer_process.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def say(*words: object) -> None:
        process.stdin.write("\t".join(map(str, words)) + "\n")
        process.stdin.flush()

    watchdog = threading.Timer(
        GIVE_UP_S, process.kill
    )  # a reader of a dead program fails, of a stuck one it would hang
    watchdog.start()
    yield say, process.stdout.readline
    watchdog.cancel()
    process.kill()
    process.communicate()


def _kill_at_random_points(lake: Lake, usage, writers, kills: int) -> set[str]:
    say, answer = writers
    lake.put("core_usage", "r1", usage(run_id="run-0"))
    chance, seen = random.Random(2026), set()
    for kill in range(kills * 10):
        if kill >= kills and len(seen) > 1:  # on a busy machine the first writers may die before they write
            break
        say(lake.root, kill * 1000, 0, 0)
        pid = int(answer())
        time.sleep(chance.random() * LONGEST_LIFE_S)
        os.kill(pid, signal.SIGKILL)
        assert int(answer()) == signal.SIGKILL
        frame = lake.get("core_usage", "r1")  # raises unless the pointer names a whole file with its digest
        (name,) = set(frame["run_id"])
        pd.testing.assert_frame_equal(frame, usage(run_id=name))
        seen.add(name)
    return seen


def test_a_writer_killed_at_any_moment_leaves_the_old_or_the_new_table_whole(lake, usage, writers):
    assert len(_kill_at_random_points(lake, usage, writers, KILLS)) > 1
    lake.put("core_usage", "r1", usage(run_id="last"))  # the lock is free and what was left behind is swept
    assert list(lake.path("core_usage", "r1").parent.glob(".tmp*")) == []


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_a_writer_killed_before_a_system_call_leaves_the_old_or_the_new_table_whole(lake, usage, writers, step):
    say, answer = writers
    lake.put("core_usage", "r1", usage(run_id="run-0"))
    outcomes = []
    for nth in range(1, 150, step):
        say(lake.root, nth, 1, nth)
        answer()
        status = int(answer())
        frame = lake.get("core_usage", "r1")
        outcomes.append(frame["run_id"].iloc[0])
        pd.testing.assert_frame_equal(frame, usage(run_id=outcomes[-1]))
        if status == 0:
            break
    assert outcomes[-1] == f"run-{nth}", "the writer that was not killed has stored its table"
    assert len(outcomes) > 20 / step
    assert step > 1 or set(outcomes) > {"run-0", outcomes[-1]}, "some are killed after the new table is in force"


@pytest.mark.long
def test_hundreds_of_killed_writers_never_leave_half_a_table(lake, usage, writers):
    assert len(_kill_at_random_points(lake, usage, writers, KILLS_LONG)) > 1


def test_writers_in_several_processes_never_mix_and_a_reader_always_sees_one_of_their_tables(lake, usage, writers):
    say, answer = writers
    lake.put("core_usage", "r1", usage(run_id="run-0"))
    pids = []
    for first in (1000, 2000, 3000):
        say(lake.root, first, 5, 0)
        pids.append(int(answer()))
    last = {f"run-{first + 4}" for first in (1000, 2000, 3000)}
    names = {"run-0"}
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and len(list(lake.path("core_usage", "r1").parent.glob("*.parquet"))) < 16:
        frame = lake.get("core_usage", "r1")
        assert len(set(frame["run_id"])) == 1
        names.add(frame["run_id"].iloc[0])
    time.sleep(0.1)
    assert lake.get("core_usage", "r1")["run_id"].iloc[0] in last | names
    assert len(list(lake.path("core_usage", "r1").parent.glob("*.parquet"))) == 16
