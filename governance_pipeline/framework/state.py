"""The state of a governed project: one file, changed in one step, with every earlier state kept beside it.

What belongs here: reading `current_state.json`, changing it, and its history. What does not: what its members follow
(`approval_files`, `rebaseline`). The earlier state is kept before the new one is put in force, so a process killed in
between leaves a change that never happened; after a failed fsync a keeper writes nothing more (`storage.atomic`).
"""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError, StorageError, UsageError
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.documents import CURRENT_STATE, document_fault
from governance_pipeline.framework.json_file import file_text, read_json_file
from governance_pipeline.framework.locks import Locks, utc_now
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.storage.atomic import AtomicWriter, sweep_temporaries
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import is_said
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.ledger import Ledger

LOCK: Final = "current-state"
"""Lock under which every writer of the state works."""
WAIT_S: Final = 30.0
"""How long another writer is waited for, in seconds; each writes for milliseconds."""
STATE_MOVED: Final = "STATE_MOVED"
"""Code of the refusal of a change that was decided on a state that is not in force any more."""

FOLLOWED: Final = {
    "pending_hitl_approval": "govern state follow",
    "last_checkpoint": "govern state follow",
    "baseline_version": "govern rebaseline",
    "last_re_baseline_at": "govern rebaseline",
}
"""Members nobody sets by hand -> the command that brings each in step with the ledger."""

_ENTRY: Final = re.compile(r"([0-9]{6,12})-[0-9a-f]{16}\.json", re.ASCII)
_READABLE: Final = 0o644


class State(NamedTuple):
    """A state: its members, and the digest of the bytes of its file."""

    members: Mapping[str, Any]
    sha256: str


class Earlier(NamedTuple):
    """One entry of the history: its file, the earlier state, and when, by whom and why it was replaced by which."""

    path: Path
    sha256: str
    seq: int
    state_sha256: str
    state_text: str
    next_sha256: str
    replaced_at: str
    replaced_by: str
    reason: str
    previous_entry_sha256: str | None


class HistoryFault(NamedTuple):
    """Something that does not fit: code, file or entry, and words.

    Codes: entry_unreadable, entry_changed, entry_missing, changed_outside.
    """

    code: str
    where: str
    message: str


def read_state(folder: GovernedFolder) -> State:
    """Read the state in force.

    Raises:
        FileRefused: it is no regular file.
        FaultyFileError: it is no strict JSON or breaks its schema; names the place.
    """
    members, data = read_json_file(folder.path(places.STATE), CURRENT_STATE)
    return State(members, sha256_hex(data))


def values_of(changes: Iterable[str], members: Mapping[str, Any]) -> dict[str, Any]:
    """Read changes written as `member=value`: a number where the member is one, `null` for nothing, else text.

    Raises:
        UsageError: no such form, no such member, no number, or a member that follows the ledger.
    """
    wanted: dict[str, Any] = {}
    for change in changes:
        name, sign, value = change.partition("=")
        if not sign or name not in members or name in wanted:
            raise UsageError(f"{change!r} is no change; write MEMBER=VALUE once for each of {', '.join(members)}")
        if name in FOLLOWED:
            raise UsageError(f"{name} follows the ledger and is not set by hand; `{FOLLOWED[name]}` brings it in step")
        is_number = isinstance(members[name], int)
        if is_number and not re.fullmatch("[0-9]{1,15}", value, re.ASCII):
            raise UsageError(f"{name} is a whole number, and {value!r} is none")
        wanted[name] = int(value) if is_number else None if value == "null" else value
    return wanted


class StateKeeper:
    """Changes the state of one folder; `clock` gives the time of a change, `ledger` takes what its lock has to tell."""

    def __init__(
        self, folder: GovernedFolder, *, clock: Callable[[], datetime] = utc_now, ledger: Ledger | None = None
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._locks = Locks(folder, ledger=ledger, clock=clock)
        self._writer = AtomicWriter(folder.path(places.STATE).parent)
        self._history = folder.path(places.HISTORY)

    def change(self, changes: Mapping[str, Any], *, by: str, reason: str, based_on: str | None = None) -> State:
        """Change members of the state, in one step; the state before is kept. What changes nothing writes nothing.

        Args:
            changes: members and their new values.
            by: who changes it.
            reason: why; it stands in the history.
            based_on: digest of the state the change was decided on; None: whichever is in force.

        Returns:
            The state in force now.

        Raises:
            UsageError: nobody or no reason is named.
            FaultyFileError: the state, as it is or as it would become, breaks its schema; nothing was changed.
            FrameworkRefused: STATE_MOVED, another state is in force than `based_on`; or the lock is held.
            StorageError: it could not be written; the state in force is the old one or the new one, whole.
        """
        if not is_said(by) or not is_said(reason):
            raise UsageError("a change of the state needs who and why; name both")
        with self._locks.held(LOCK, f"change {places.STATE}", purpose=reason, wait_s=WAIT_S):
            path = self._folder.path(places.STATE)
            members, before = read_json_file(path, CURRENT_STATE)
            old = State(members, sha256_hex(before))
            if based_on not in (None, old.sha256):
                said = f"the state in force is {old.sha256}, not {based_on}: read it again and decide again"
                raise FrameworkRefused(STATE_MOVED, said)
            wanted = {**members, **changes}
            if wanted == members:
                return old
            after = _checked(wanted)
            self._keep(before, after, by, reason)
            self._writer.write(path, after, mode=stat.S_IMODE(path.stat().st_mode))
            return State(wanted, sha256_hex(after))

    def history(self) -> list[Earlier]:
        """Give the earlier states, oldest first.

        Raises:
            FaultyFileError: an entry breaks its schema; names the file and place.
        """
        return [_entry(path) for path in self._paths()]

    def faults(self) -> list[HistoryFault]:
        """Find what does not fit in the history and the state in force; empty when both are as they were written."""
        found, entries = [], []
        try:
            paths = self._paths()
        except StorageError as error:
            return [HistoryFault("entry_unreadable", places.HISTORY, str(error))]
        for path in paths:
            try:
                entries.append(_entry(path))
            except (FaultyFileError, FileRefused) as error:
                found.append(HistoryFault("entry_unreadable", path.name, str(error)))
        return [*found, *_chain_faults(entries), *_outside_faults(entries, read_state(self._folder).sha256)]

    def _paths(self) -> list[Path]:
        if not self._is_history_there():
            return []
        paths = [path for path in self._history.iterdir() if _ENTRY.fullmatch(path.name)]
        return sorted(paths, key=lambda path: (int(path.name.partition("-")[0]), path.name))

    def _is_history_there(self) -> bool:
        """Tell whether there is a history; a state that was never changed has none.

        Raises:
            StorageError: something else lies in its place, so nobody can tell what came before.
        """
        try:
            mode = self._history.lstat().st_mode
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(mode):
            said = "is no folder but a link or a file; move it elsewhere and put the folder back from a copy"
            raise StorageError(f"{self._history} {said}")
        return True

    def _keep(self, before: bytes, after: bytes, by: str, reason: str) -> None:
        """Keep the state that will be replaced; what a killed change left behind of the same state is written anew."""
        if self._is_history_there():
            sweep_temporaries(self._history)
        sha256 = sha256_hex(before)
        entries = [_entry(path) for path in self._paths()[-2:]]  # the history may be long; its end is all that matters
        if entries and entries[-1].state_sha256 == sha256:
            entries.pop()  # the same number and state, so the same file
        seq = entries[-1].seq + 1 if entries else 1
        document = {
            "schema": "govern/state-history/v1",
            "seq": seq,
            "state_text": before.decode(),
            "state_sha256": sha256,
            "next_sha256": sha256_hex(after),
            "replaced_at": instant_text(self._clock()),
            "replaced_by": by,
            "reason": reason,
            "previous_entry_sha256": entries[-1].sha256 if entries else None,
        }
        self._writer.write(self._history / f"{seq:06d}-{sha256[:16]}.json", file_text(document), mode=_READABLE)


def _checked(wanted: Mapping[str, Any]) -> bytes:
    fault = document_fault(CURRENT_STATE, dict(wanted))
    if fault is not None:
        raise FaultyFileError(places.STATE, [Fault("schema", None, fault)])
    return file_text(wanted)


def _entry(path: Path) -> Earlier:
    document, data = read_json_file(path, "state-history-v1")
    members = {name: document[name] for name in Earlier._fields if name in document}
    return Earlier(path=path, sha256=sha256_hex(data), **members)


def _chain_faults(entries: list[Earlier]) -> list[HistoryFault]:
    """Hold each entry to its own digest, its name, and the entry before."""
    found, before = [], None
    for at, entry in enumerate(entries, 1):
        name = entry.path.name
        is_own = sha256_hex(entry.state_text.encode()) == entry.state_sha256
        if not is_own or not name.startswith(f"{entry.seq:06d}-{entry.state_sha256[:16]}"):
            found.append(
                HistoryFault("entry_changed", name, "the state it holds is not the one of its digest and name")
            )
        elif entry.seq != at:
            found.append(HistoryFault("entry_missing", name, f"entry {at} is not there; restore it from a copy"))
            return found
        elif entry.previous_entry_sha256 != (before and before.sha256):
            said = "the entry before is not the one it was written after; one of the two was changed"
            found.append(HistoryFault("entry_changed", name, said))
        before = entry
    return found


def _outside_faults(entries: list[Earlier], in_force: str) -> list[HistoryFault]:
    """Find states that came into force by another way; a killed change leaves an entry of the one that is in force."""
    later = [*(entry.state_sha256 for entry in entries[1:]), in_force]
    return [
        HistoryFault("changed_outside", entry.path.name, f"it was replaced by {entry.next_sha256}, then came {state}")
        for entry, state in zip(entries, later, strict=False)
        if entry.next_sha256 != state and not (entry is entries[-1] and entry.state_sha256 == in_force)
    ]
