"""Which entries of the audit trail are verified, by whom: not what the entry says of itself.

What belongs here: recording a confirmation and judging each entry by what the ledger has. What does not: reading the
trail (`audit_trail`). An entry is verified when a validator or a person who did not do the work signed that they
derived its result again. Source: spec/framework.md §6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.framework.audit_trail import Entry, HashState, read_trail
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry_history import project_id
from governance_pipeline.ledger.event import AlreadyRecorded, NewEvent
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.trail_confirmation import Confirmed, sign_confirmation, stated_confirmation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.framework.audit_trail import Trail
    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.root import TrustRoot

EVENT: Final = "AUDIT_ENTRY_CONFIRMED"
"""Type of the event; the name stays for ever, because events do."""
HASH_RECOMPUTED: Final = "hash recomputed"
CONFIRMED_BEFORE: Final = "ENTRY_CONFIRMED_BEFORE"
NOT_REPRODUCED: Final = "ENTRY_NOT_REPRODUCED"


class CheckedEntry(NamedTuple):
    """An entry and the confirmation that counts; None: nobody but the entry itself says it is verified."""

    entry: Entry
    confirmed: Confirmed | None

    @property
    def is_claim_only(self) -> bool:
        """Whether it calls itself verified, and nobody confirmed it."""
        return self.entry.claims_verification and self.confirmed is None

    @property
    def is_problem(self) -> bool:
        """Whether it was not verified and its output is not what it says."""
        return self.confirmed is None and self.entry.state is HashState.MISMATCH


def check_trail(
    folder: GovernedFolder, ledger: Ledger, root: TrustRoot, now: datetime
) -> tuple[Trail, list[CheckedEntry]]:
    """Read the trail and judge every entry.

    Raises:
        FileRefused: the trail is no regular file.
        StorageError: the ledger cannot be read.
    """
    trail, events = read_trail(folder), _confirmations(folder, ledger)
    checked = [CheckedEntry(entry, _confirmed(entry, events, root, now)) for entry in trail.entries]
    return trail, checked


def confirm(
    folder: GovernedFolder, ledger: Ledger, root: TrustRoot, name: str, method: str, signer: Signer, now: datetime
) -> CheckedEntry:
    """Sign and record that the result of an entry was derived again.

    Args:
        folder: the governed folder.
        ledger: where it is recorded.
        root: who is who.
        name: digest of the entry, or the beginning of it.
        method: how (`trust.verdict.REDERIVATIONS`).
        signer: key of the validator or person.
        now: the time.

    Raises:
        UsageError: no such entry, or several.
        FrameworkRefused: the hash computed anew is not the one of the entry, or it was confirmed so before.
        Refusal: the signature would not count, or the signer did the work.
    """
    entry = _found(folder, name, method)
    agent = entry.members["agent_id"]
    envelope = sign_confirmation(entry.sha256, agent, method, signer, now)
    said = stated_confirmation(envelope, entry.sha256, agent, root, now, now)
    body = {
        "project": project_id(folder),
        "entry_sha256": entry.sha256,
        "method": method,
        "envelope": envelope.decode(),
    }
    unique = f"trail:{sha256_hex(project_id(folder).encode())}:{entry.sha256}:{said.people[0]}:{method}"
    try:
        ledger.append_all([NewEvent(EVENT, said.people[0], body, now, unique)])
    except AlreadyRecorded as recorded:
        raise FrameworkRefused(CONFIRMED_BEFORE, f"event {recorded.event.seq} says the same") from None
    return CheckedEntry(entry, said)


def _found(folder: GovernedFolder, name: str, method: str) -> Entry:
    """Find the entry that is to be confirmed."""
    found = [entry for entry in read_trail(folder).entries if entry.sha256.startswith(name)]
    if len(found) != 1:
        raise UsageError(
            f"{len(found)} entries begin with {excerpt(name, 80)!r}; `govern audit-trail verify` lists them"
        )
    entry = found[0]
    if method == HASH_RECOMPUTED and entry.state is not HashState.MATCH:
        message = (
            f"the output hash of line {entry.line} computed anew is {entry.computed or entry.reason}: {entry.state}"
        )
        raise FrameworkRefused(NOT_REPRODUCED, f"{message}; it is an incident, not a confirmation")
    return entry


def _confirmations(folder: GovernedFolder, ledger: Ledger) -> Mapping[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for event in ledger.events(types={EVENT}):
        if event.body.get("project") == project_id(folder):
            found.setdefault(str(event.body.get("entry_sha256")), []).append(event)
    return found


def _confirmed(entry: Entry, events: Mapping[str, list[Event]], root: TrustRoot, now: datetime) -> Confirmed | None:
    for event in events.get(entry.sha256, ()):
        envelope = str(event.body.get("envelope")).encode()
        try:
            return stated_confirmation(envelope, entry.sha256, entry.members["agent_id"], root, event.ts, now)
        except Refusal:
            continue
    return None
