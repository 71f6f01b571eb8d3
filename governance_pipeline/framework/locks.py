"""Locks of a governed folder: one holder at a time, dead ones never in the way, live ones never broken.

What belongs here: taking, holding, releasing and looking. What does not: what proves a death (`lock_standing`), the
record of it (`takeovers`) and running a command under a lock (`locked_run`).

A process that holds a lock holds a kernel lock, which is gone when it is; the owner record beside it is for people and
for claims, locks in the name of a process that keeps nothing open, such as a shell. Every change of a record happens
under the kernel lock. Source: research/security.md b8, spec/framework.md §3.
"""

from __future__ import annotations

import getpass
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from governance_pipeline.framework import folder as places
from governance_pipeline.framework.json_file import file_text
from governance_pipeline.framework.lock_owner import Mode, Owner, owner_document
from governance_pipeline.framework.lock_standing import Judgement, Standing, names_in, place_in, standing_of
from governance_pipeline.framework.processes import Look, Process
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.takeovers import Takeover, record_takeover
from governance_pipeline.storage.atomic import AtomicWriter, sweep_temporaries
from governance_pipeline.storage.lock import descriptor_held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.lock_standing import LockPlace
    from governance_pipeline.ledger.ledger import Ledger

PATIENCE_S: Final = 0.25
"""How long a lock is tried for at least, in seconds: a look at it by somebody else takes it for a moment."""
HEARTBEAT: Final = timedelta(seconds=30)
"""How often a holder gives a sign of life: own choice, two writes a minute cost nothing and a person sees soon."""
SILENT_AFTER: Final = 4 * HEARTBEAT
"""After how long without a sign of life an owner that still runs is shown as silent; it is never broken for that."""

RECORDS: Final = "_records"
"""Guards the writing of owner records, so that whoever sweeps up after the dead never meets the file of a living."""

_POLL_S: Final = 0.05


class LockCode(StrEnum):
    """Why a lock is refused; the codes never change their meaning."""

    HELD = "LOCK_HELD"
    UNKNOWN = "LOCK_OWNER_UNKNOWN"
    NOT_YOURS = "LOCK_NOT_YOURS"


def utc_now() -> datetime:
    """Give the time of the clock of this machine, in UTC."""
    return datetime.now(UTC)


@dataclass
class HeldLock:
    """A lock that this process holds; `descriptor` keeps it in every process that inherits it.

    `dead` is the owner it was taken from, None when it was free.
    """

    place: LockPlace
    owner: Owner
    descriptor: int
    dead: Judgement | None
    _locks: Locks

    def beat(self) -> None:
        """Give a sign of life."""
        self.record(self.owner._replace(heartbeat=self._locks.clock()))

    def name_worker(self, process: Process, command: str) -> None:
        """Record another process as the one that works under this lock: a child that inherited the descriptor."""
        self.record(self.owner._replace(process=process, command=command))

    def record(self, owner: Owner) -> None:
        """Replace the owner record.

        Raises:
            StorageError: it could not be written.
        """
        self._locks.write(self.place, owner)
        self.owner = owner


class Locks:
    """The locks of one governed folder.

    Args:
        folder: the governed folder.
        ledger: where takeovers are recorded; None: in a file beside the locks.
        clock: gives the time.
        look: how processes are looked at.
    """

    def __init__(
        self,
        folder: GovernedFolder,
        *,
        ledger: Ledger | None = None,
        clock: Callable[[], datetime] = utc_now,
        look: Look | None = None,
    ) -> None:
        self.folder = folder.path(places.LOCKS)
        self.clock = clock
        self.look = look or Look()
        self._ledger = ledger
        self._writer = AtomicWriter(self.folder.parent)
        self._is_swept = False

    @contextmanager
    def held(
        self, name: str, command: str, *, purpose: str | None = None, wait_s: float = PATIENCE_S
    ) -> Iterator[HeldLock]:
        """Hold a lock while the block runs; it is free again when the block ends or this process does, however.

        Args:
            name: which lock.
            command: what runs under it, for people.
            purpose: what for, for people.
            wait_s: how long a live owner is waited for, in seconds.

        Raises:
            UsageError: no name of a lock.
            FrameworkRefused: a live owner holds it (LOCK_HELD), or one nobody can tell about (LOCK_OWNER_UNKNOWN).
            StorageError: the folder cannot keep locks, or nothing could be written.
        """
        place = self._place(name)
        with self._taken(place, wait_s) as (descriptor, judged):
            owner = self._owner(place, Mode.PROCESS, self.look.this(), command, purpose)
            self._enter(place, owner, judged)
            held = HeldLock(place, owner, descriptor, judged if _is_dead(judged) else None, self)
            try:
                yield held
            finally:
                place.record.unlink(missing_ok=True)

    def claim(
        self, name: str, pid: int, command: str, *, purpose: str | None = None, wait_s: float = PATIENCE_S
    ) -> Owner:
        """Take a lock in the name of a process, for as long as it lives or until it is released.

        Raises:
            As `held`.
        """
        place = self._place(name)
        with self._taken(place, wait_s) as (_, judged):
            owner = self._owner(place, Mode.CLAIM, self.look.process(pid), command, purpose)
            self._enter(place, owner, judged)
            return owner

    def release(self, name: str, pid: int) -> Judgement:
        """Give a claim back, or clear away what a dead owner left; a lock nobody holds is left as it is.

        Args:
            name: which lock.
            pid: whoever releases it; it, or a process it descends from, must be the owner.

        Returns:
            Where the lock stood before.

        Raises:
            FrameworkRefused: it is held by somebody else (LOCK_NOT_YOURS), or by the command that runs under it.
        """
        place = self._place(name)
        with descriptor_held(place.kernel, wait_s=PATIENCE_S) as descriptor:
            judged = standing_of(place, self.look, is_kernel_held=descriptor is None)
            if judged.standing is Standing.FREE:
                return judged
            owner = judged.owner
            if judged.standing is Standing.ORPHANED and owner is not None:
                record_takeover(Takeover(name, judged.reason, owner, None), self.folder, self._ledger, self.clock())
            elif judged.standing is Standing.UNKNOWN:
                raise FrameworkRefused(LockCode.UNKNOWN, _undecided(place, judged))
            elif descriptor is None or owner is None or owner.process not in self._line(pid):
                raise FrameworkRefused(
                    LockCode.NOT_YOURS, f"lock {name} is {_words(judged)}; only its owner gives it back"
                )
            place.record.unlink(missing_ok=True)
            return judged

    def standings(self) -> dict[str, Judgement]:
        """Judge every lock of the folder; name -> judgement, sorted."""
        return {name: self.standing(name) for name in names_in(self.folder)}

    def standing(self, name: str) -> Judgement:
        """Judge one lock; see `lock_standing.standing_of`."""
        return standing_of(place_in(self.folder, name), self.look)

    def write(self, place: LockPlace, owner: Owner) -> None:
        """Write an owner record; whoever calls holds the kernel lock."""
        with self._writer.locked(RECORDS):
            self._writer.write(place.record, file_text(owner_document(owner)))

    @contextmanager
    def _taken(self, place: LockPlace, wait_s: float) -> Iterator[tuple[int, Judgement]]:
        """Hold the kernel lock of a lock nobody alive holds; gives its descriptor and where it stood before."""
        deadline = time.monotonic() + max(wait_s, PATIENCE_S)
        while True:
            with descriptor_held(place.kernel, wait_s=max(deadline - time.monotonic(), 0)) as descriptor:
                judged = standing_of(place, self.look, is_kernel_held=descriptor is None)
                if descriptor is not None and judged.standing in (Standing.FREE, Standing.ORPHANED):
                    yield descriptor, judged
                    return
            if judged.standing is Standing.UNKNOWN:
                raise FrameworkRefused(LockCode.UNKNOWN, _undecided(place, judged))
            if time.monotonic() >= deadline:
                raise FrameworkRefused(
                    LockCode.HELD, f"lock {place.name} is {_words(judged)}; wait for it, or end it, then try again"
                )
            time.sleep(_POLL_S)

    def _enter(self, place: LockPlace, owner: Owner, judged: Judgement) -> None:
        if judged.owner is not None and _is_dead(judged):
            record_takeover(
                Takeover(place.name, judged.reason, judged.owner, owner), self.folder, self._ledger, self.clock()
            )
        self.write(place, owner)

    def _place(self, name: str) -> LockPlace:
        place = place_in(self.folder, name)
        if not self._is_swept:
            with self._writer.locked(RECORDS):
                sweep_temporaries(self.folder)
            self._is_swept = True
        return place

    def _owner(self, place: LockPlace, mode: Mode, process: Process, command: str, purpose: str | None) -> Owner:
        now = self.clock()
        inode = place.kernel.lstat().st_ino
        return Owner(place.name, mode, process, _user(), command, purpose, now, now, inode)

    def _line(self, pid: int) -> list[Process]:
        return [self.look.process(one) for one in self.look.ancestors(pid)]


def is_silent(owner: Owner, now: datetime) -> bool:
    """Tell whether a holder has given no sign of life for long; a claim gives none, so it is never silent."""
    return owner.mode is Mode.PROCESS and owner.heartbeat is not None and now - owner.heartbeat > SILENT_AFTER


def _is_dead(judged: Judgement) -> bool:
    return judged.standing is Standing.ORPHANED


def _words(judged: Judgement) -> str:
    owner = judged.owner
    if owner is None:
        return f"held ({judged.reason})"
    since = "" if owner.started is None else f" since {owner.started.isoformat(timespec='seconds')}"
    return (
        f"held by process {owner.process.pid} on {owner.process.machine.host or 'this machine'} ({owner.user}, "
        f"{owner.command!r}){since} ({judged.reason})"
    )


def _undecided(place: LockPlace, judged: Judgement) -> str:
    if judged.owner is None:
        return (
            f"{place.record} names no owner that can be read: {judged.detail}; look at it, and remove it if it is stale"
        )
    return (
        f"lock {place.name} is {_words(judged)}: whether that process lives cannot be told from here. See that it has "
        f"ended, then remove {place.record}"
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name
        return str(os.getuid())
