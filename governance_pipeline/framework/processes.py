"""Which process it is, so that a number that was used again is not taken for the process that had it before.

What belongs here: the identity of a process and whether it still runs. What does not: locks. A process id alone names
nobody for long; with the boot of the machine and the start of the process, in clock ticks since that boot, it does.
The time of day is no part of it: it can be set back, and `psutil.create_time` moves with it (research/security.md b8).
"""

from __future__ import annotations

import os
import socket
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

PROC: Final = Path("/proc")
_BOOT_ID: Final = "sys/kernel/random/boot_id"
_STATE, _PARENT, _START_TICKS = 0, 1, 19
"""Places after the name of the command in `/proc/<pid>/stat` (proc_pid_stat(5): fields 3, 4 and 22)."""

_ENDED: Final = frozenset({"Z", "X"})
"""States of a process that runs no more and only waits to be asked for its exit code."""

_ANCESTORS: Final = 100
"""Parents that are followed at most; a longer chain is no chain."""


class Machine(NamedTuple):
    """Where a process id means something: this boot of the kernel, and this numbering of its processes.

    `boot_id` and `pid_namespace` are None where the system does not tell them; nothing is compared with them then.
    """

    host: str
    boot_id: str | None
    pid_namespace: int | None


class Process(NamedTuple):
    """One process; `start_ticks` is when it started, in clock ticks since the boot, None where it cannot be told."""

    pid: int
    start_ticks: int | None
    machine: Machine


class Life(StrEnum):
    """What is known of a recorded process; the values never change their meaning."""

    ALIVE = "process_alive"
    GONE = "process_gone"
    REUSED = "pid_reused"
    REBOOTED = "machine_restarted"
    ELSEWHERE = "other_machine"
    UNIDENTIFIED = "identity_not_recorded"


DEAD: Final = frozenset({Life.GONE, Life.REUSED, Life.REBOOTED})
"""What proves that the process has ended; anything else does not."""


class Look:
    """A way of looking at the processes of this machine; `proc` is where the system shows them."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc

    def machine(self) -> Machine:
        """Tell where this process runs."""
        boot_id = _text(self._proc / _BOOT_ID) if self._is_ours() else None
        return Machine(socket.gethostname(), (boot_id or "").strip() or None, self._namespace())

    def process(self, pid: int) -> Process:
        """Give the identity a process has now."""
        fields = self._fields(pid)
        return Process(pid, int(fields[_START_TICKS]) if fields else None, self.machine())

    def this(self) -> Process:
        """Give the identity of this process."""
        return self.process(os.getpid())

    def life_of(self, recorded: Process) -> Life:
        """Tell whether a recorded process still runs; what cannot be told is never called dead."""
        here, then = self.machine(), recorded.machine
        if then.boot_id is not None and then.boot_id != here.boot_id:
            return Life.REBOOTED if here.boot_id and then.host == here.host else Life.ELSEWHERE
        if then.boot_id is None:  # the record of another program: its host is all there is to go by
            return self._life_here(recorded) if then.host in (here.host, "") else Life.ELSEWHERE
        return self._life_here(recorded) if then.pid_namespace == here.pid_namespace else Life.ELSEWHERE

    def _life_here(self, recorded: Process) -> Life:
        """Tell whether a process of this very numbering still runs."""
        fields = self._fields(recorded.pid)
        if not _exists(recorded.pid) or (fields and fields[_STATE] in _ENDED):
            return Life.GONE
        if not fields or recorded.start_ticks is None or recorded.machine.boot_id is None:
            return Life.UNIDENTIFIED
        return Life.ALIVE if int(fields[_START_TICKS]) == recorded.start_ticks else Life.REUSED

    def ancestors(self, pid: int) -> list[int]:
        """Give a process and those that started it, nearest first, as far as the system shows them."""
        line = [pid]
        while len(line) < _ANCESTORS and (fields := self._fields(line[-1])):
            parent = int(fields[_PARENT])
            if parent in (0, *line):
                break
            line.append(parent)
        return line

    def _fields(self, pid: int) -> list[str]:
        """Give the fields after the command's name; empty where the system does not show the process."""
        text = _text(self._proc / str(pid) / "stat") if self._is_ours() else None
        # The name stands in brackets and may hold any character, brackets and spaces too.
        fields = (text or "").rpartition(")")[2].split()
        return fields if len(fields) > _START_TICKS else []

    def _is_ours(self) -> bool:
        """Tell whether `proc` numbers processes as this one does; one mounted from outside a container does not."""
        try:
            return (self._proc / "self").readlink() == Path(str(os.getpid()))
        except OSError:
            return False

    def _namespace(self) -> int | None:
        try:
            return (self._proc / "self" / "ns" / "pid").stat().st_ino if self._is_ours() else None
        except OSError:
            return None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return not pid.bit_length() > 31  # noqa: PLR2004 - no system numbers processes beyond 31 bits
    return True


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
