"""A process is known by boot, start and number together; what cannot be told is never called dead."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.framework.processes import Life, Look, Machine, Process

if TYPE_CHECKING:
    from pathlib import Path

LOOK = Look()


def _proc(tmp_path: Path, *, start_ticks: int, state: str = "S", boot: str = "b-1", name: str = "sh") -> Look:
    """Give a look at a made-up /proc in which this process has the number it has."""
    folder = tmp_path / "proc"
    own = folder / str(os.getpid())
    (own / "ns").mkdir(parents=True)
    (own / "ns" / "pid").touch()
    fields = [state, "1", *("0" * 17), str(start_ticks), "0"]
    (own / "stat").write_text(f"{os.getpid()} ({name}) {' '.join(fields)}\n")
    (folder / "self").symlink_to(str(os.getpid()))
    (folder / "sys/kernel/random").mkdir(parents=True)
    (folder / "sys/kernel/random/boot_id").write_text(f"{boot}\n")
    return Look(folder)


def test_this_process_lives():
    this = LOOK.this()
    assert this.pid == os.getpid()
    assert this.start_ticks > 0
    assert LOOK.life_of(this) is Life.ALIVE


def test_a_process_that_has_ended_is_gone():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    recorded = LOOK.process(child.pid)
    assert LOOK.life_of(recorded) is Life.ALIVE
    child.communicate()
    assert LOOK.life_of(recorded) is Life.GONE


def test_a_process_that_only_waits_to_be_asked_for_its_exit_code_is_gone():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    recorded = LOOK.process(child.pid)
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert LOOK.life_of(recorded) is Life.GONE
    child.wait()


def test_a_number_that_was_used_again_is_not_the_process_that_had_it(tmp_path):
    recorded = _proc(tmp_path, start_ticks=100).this()
    shutil.rmtree(tmp_path / "proc")
    later = _proc(tmp_path, start_ticks=200)
    assert later.life_of(recorded._replace(machine=later.machine())) is Life.REUSED


def test_the_same_number_and_start_after_a_restart_of_the_machine_are_another_process(tmp_path):
    recorded = _proc(tmp_path, start_ticks=100).this()
    shutil.rmtree(tmp_path / "proc")
    assert _proc(tmp_path, start_ticks=100, boot="b-2").life_of(recorded) is Life.REBOOTED


@pytest.mark.parametrize(
    ("machine", "life"),
    [
        (lambda m: m._replace(boot_id="other", host="elsewhere"), Life.ELSEWHERE),
        (lambda m: m._replace(pid_namespace=-1), Life.ELSEWHERE),
        (lambda m: m._replace(host="renamed"), Life.ALIVE),
        (lambda m: Machine("elsewhere", None, None), Life.ELSEWHERE),
        (lambda m: Machine(m.host, None, None), Life.UNIDENTIFIED),
        (lambda m: Machine("", None, None), Life.UNIDENTIFIED),
    ],
)
def test_a_number_of_another_machine_or_container_says_nothing_here(machine, life):
    this = LOOK.this()
    assert LOOK.life_of(this._replace(machine=machine(this.machine))) is life


def test_a_process_recorded_without_its_start_is_not_called_alive_or_dead():
    assert LOOK.life_of(LOOK.this()._replace(start_ticks=None)) is Life.UNIDENTIFIED


@pytest.mark.parametrize("pid", [2**31 - 1, 2**40, 2**70])
def test_a_number_no_process_can_have_is_gone(pid):
    assert LOOK.life_of(LOOK.this()._replace(pid=pid)) is Life.GONE


def test_a_name_with_brackets_and_blanks_does_not_move_the_fields(tmp_path):
    look = _proc(tmp_path, start_ticks=100, name="a) S 1 (b")
    assert look.this().start_ticks == 100


def test_a_proc_that_numbers_other_processes_is_not_believed(tmp_path):
    look = _proc(tmp_path, start_ticks=100)
    (tmp_path / "proc" / "self").unlink()
    (tmp_path / "proc" / "self").symlink_to("1")
    assert look.this() == Process(os.getpid(), None, Machine(look.machine().host, None, None))


def test_without_a_proc_a_living_number_is_not_called_dead(tmp_path):
    look = Look(tmp_path / "none")
    assert look.life_of(look.this()) is Life.UNIDENTIFIED
    assert look.ancestors(os.getpid()) == [os.getpid()]


def test_the_ancestors_of_a_process_end_with_the_first_of_the_system():
    line = LOOK.ancestors(os.getpid())
    assert line[:2] == [os.getpid(), os.getppid()]
    assert len(set(line)) == len(line)
