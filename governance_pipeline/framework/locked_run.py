"""A command that runs under a lock: it ends as if it ran alone, and the lock ends with it.

What belongs here: starting one child, passing signals on, signs of life, and what it ended with. What does not: taking
the lock (`locks`) and what a long unattended process needs before it starts (`red_processes`).

The child inherits the descriptor of the kernel lock: when this process is killed, the lock stays with the child, and is
free when both are gone. For one thread of a process that starts no other children meanwhile.
"""

from __future__ import annotations

import os
import shlex
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import GovernError, UsageError
from governance_pipeline.framework.locks import HEARTBEAT
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from governance_pipeline.framework.locks import HeldLock, Locks

FORWARDED: Final = frozenset(
    {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
)
"""Signals the command gets when this process does."""
SIGNAL_EXIT: Final = 128
"""Added to the number of the signal that ended a command, as shells do."""
TIMED_OUT: Final = 124
"""Exit code after a unit of work took too long, as of timeout(1)."""
GRACE_S: Final = 10.0
"""How long a command that took too long is given to end by itself, in seconds; own choice, that of most supervisors."""
COMMAND_CHARACTERS: Final = 400

_RESTORED: Final = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them; the command expects them as they are


class Ended(NamedTuple):
    """How a command ended: its exit code, whether it was stopped because a unit of work took too long, and what failed.

    `faults` are signs of life that could not be written, in words: the command went on all the same.
    """

    code: int
    is_overdue: bool
    faults: tuple[str, ...] = ()


def command_text(command: Sequence[str]) -> str:
    """Give a command as a shell would take it, masked and cut for a record people read."""
    return excerpt(shlex.join(command), COMMAND_CHARACTERS)


def run_locked(
    locks: Locks,
    name: str,
    command: Sequence[str],
    *,
    purpose: str | None = None,
    wait_s: float = 0.0,
    is_overdue: Callable[[], bool] | None = None,
) -> Ended:
    """Run a command while a lock is held, and wait for its end.

    Args:
        locks: the locks of the folder.
        name: which lock.
        command: program and arguments; the program is looked for as a shell does.
        purpose: what for, for people.
        wait_s: how long a live owner of the lock is waited for, in seconds.
        is_overdue: asked every second; once it says so the command is ended, first kindly.

    Returns:
        Its exit code; 128 and the number of the signal for one that was ended by a signal, 124 when it was overdue.

    Raises:
        FrameworkRefused, StorageError: as `Locks.held`; nothing has run.
        UsageError: there is no such program; nothing has run.
    """
    with locks.held(name, command_text(command), purpose=purpose, wait_s=wait_s) as held:
        return run_under(held, locks, command, is_overdue=is_overdue)


def run_under(
    held: HeldLock, locks: Locks, command: Sequence[str], *, is_overdue: Callable[[], bool] | None = None
) -> Ended:
    """Run a command under a lock this process holds already; see `run_locked`.

    Raises:
        UsageError: there is no such program; nothing has run.
    """
    with _signals_waiting() as before:
        pid = _started(command, held, before)
        watch = _Watch(pid, held, is_overdue)
        watch.noting(lambda: held.name_worker(locks.look.process(pid), command_text(command)))
        return watch.ended()


@contextmanager
def _signals_waiting() -> Iterator[set[signal.Signals]]:
    """Keep signals waiting, to be asked for one by one, until the block ends; gives the mask before."""
    waiting = FORWARDED | {signal.SIGCHLD}
    before = {signal.Signals(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, waiting)}
    try:
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _started(command: Sequence[str], held: HeldLock, mask: set[signal.Signals]) -> int:
    os.set_inheritable(held.descriptor, True)
    try:
        return os.posix_spawnp(command[0], list(command), os.environ, setsigmask=mask, setsigdef=_RESTORED)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{excerpt(command[0], 80)} cannot be run: {error}; check the program and its rights"
        ) from None
    finally:
        os.set_inheritable(held.descriptor, False)


class _Watch:
    """One running child: passes signals on, gives signs of life, ends it when it is overdue."""

    def __init__(self, pid: int, held: HeldLock, is_overdue: Callable[[], bool] | None) -> None:
        self._pid = pid
        self._held = held
        self._is_overdue = is_overdue
        self._next_beat = time.monotonic() + HEARTBEAT.total_seconds()
        self._kill_at: float | None = None
        self._faults: list[str] = []

    def noting(self, act: Callable[[], object]) -> object:
        """Do what must not stop the watch over a running child; what fails is noted once and told at the end."""
        try:
            return act()
        except GovernError as error:
            if str(error) not in self._faults:
                self._faults.append(str(error))
            return None

    def ended(self) -> Ended:
        """Wait for the end of the child."""
        while (status := self._status()) is None:
            self._pass_on(1.0)
            self._look()
        if self._kill_at is not None:
            return Ended(TIMED_OUT, is_overdue=True, faults=tuple(self._faults))
        code = os.waitstatus_to_exitcode(status)
        return Ended(code if code >= 0 else SIGNAL_EXIT - code, is_overdue=False, faults=tuple(self._faults))

    def _status(self) -> int | None:
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        return status if pid else None

    def _pass_on(self, wait_s: float) -> None:
        """Wait for a signal; what a terminal sends goes to the child anyway, what a process sends is passed on."""
        info = signal.sigtimedwait(FORWARDED | {signal.SIGCHLD}, wait_s)
        if info is not None and info.si_signo != signal.SIGCHLD and info.si_code <= 0:
            os.kill(self._pid, info.si_signo)

    def _look(self) -> None:
        now = time.monotonic()
        if now >= self._next_beat:
            self.noting(self._held.beat)
            self._next_beat = now + HEARTBEAT.total_seconds()
        if self._kill_at is None and self._is_overdue is not None and self.noting(self._is_overdue):
            self._kill_at = now + GRACE_S
            os.kill(self._pid, signal.SIGTERM)
        elif self._kill_at is not None and now >= self._kill_at:
            os.kill(self._pid, signal.SIGKILL)
