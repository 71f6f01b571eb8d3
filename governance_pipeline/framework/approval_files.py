"""Human decisions about a governed folder as files in it, and the members of its state that follow the inbox.

What belongs here: writing the signed envelopes the ledger holds to `03_state/checkpoints/`, comparing them with it, and
what waits for a person. What does not: whether a decision counts; the ledger decides, a file alone grants nothing and
is never read to open anything. Envelopes of re-baselines are written by `rebaseline.files`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.framework import folder as places
from governance_pipeline.framework.registry_history import project_id
from governance_pipeline.framework.state import StateKeeper, read_state
from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import ACTION_GATES
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.states import OPEN_TO_DECIDE, standing_of
from governance_pipeline.ledger.rebaselines import Step, every_progress, read_rebaselines
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.files import FileRefused, open_regular
from governance_pipeline.trust.dsse import ENVELOPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.state import State
    from governance_pipeline.gate.events import History, Requested
    from governance_pipeline.gate.passage import Verifier

FOLLOWER: Final = "service:governance-pipeline"
"""Who changes the state when it follows the inbox."""

_NAME: Final = re.compile(r"(?:APPROVED|REJECTED|REVOKED).*", re.ASCII | re.IGNORECASE | re.DOTALL)
"""Whatever a person would take for a decision by its name, and not only names this module gives."""
_READABLE: Final = 0o644


class ApprovalFile(NamedTuple):
    """One decision about the folder: its event, the name its file has, and its envelope as the ledger holds it."""

    seq: int
    name: str
    type: EventType
    request_id: str
    decision_id: str
    envelope: bytes


class ApprovalFault(NamedTuple):
    """A file of a decision that does not fit: code, name and words.

    Codes: not_in_ledger, differs_from_ledger, missing.
    """

    code: str
    name: str
    message: str


class Inbox(NamedTuple):
    """What the state must say: the request that waits longest, and the newest signed envelope; None: there is none."""

    pending_hitl_approval: str | None
    last_checkpoint: str | None


def approvals(folder: GovernedFolder, verifier: Verifier) -> list[ApprovalFile]:
    """Give the decisions the ledger holds about acts on this folder, oldest first; none is believed here.

    Raises:
        Refusal: LOG_INCONSISTENT, the ledger cannot be used.
        StorageError: the manifest of a request is not in the lake any more.
    """
    history = read_history(verifier.ledger)
    asked = {request.request_id for request in _requests(folder, verifier, history)}
    return [
        ApprovalFile(
            recorded.seq,
            f"{recorded.type}-{recorded.seq:06d}-{recorded.decision_id[:12]}.json",
            recorded.type,
            recorded.request_id,
            recorded.decision_id,
            recorded.envelope,
        )
        for recorded in history.decisions
        if recorded.request_id in asked
    ]


def keep_approvals(folder: GovernedFolder, verifier: Verifier) -> list[str]:
    """Write the envelopes that are not in the folder yet; a file that is there is evidence and stays as it is.

    Returns:
        The names that were written.

    Raises:
        As `approvals`; StorageError: a file could not be written.
    """
    place = folder.path(places.CHECKPOINTS)
    writer = AtomicWriter(place)
    made = [file for file in approvals(folder, verifier) if not (place / file.name).exists()]
    for file in made:
        writer.write(place / file.name, file.envelope, mode=_READABLE)
    return [file.name for file in made]


def approval_faults(folder: GovernedFolder, verifier: Verifier) -> list[ApprovalFault]:
    """Find decisions whose file is missing or differs, and files no ledger knows; sorted by name.

    Raises:
        As `approvals`.
    """
    place = folder.path(places.CHECKPOINTS)
    known = {file.name: file.envelope for file in approvals(folder, verifier)}
    there = {path.name for path in place.iterdir() if _NAME.fullmatch(path.name)} if place.is_dir() else set()
    found = [
        ApprovalFault(
            "not_in_ledger", name, "the ledger knows no such decision; it grants nothing. Find out who made it"
        )
        for name in there - known.keys()
    ]
    for name, envelope in known.items():
        if name not in there:
            said = "the ledger holds it, the folder does not; `govern state follow` writes it"
            found.append(ApprovalFault("missing", name, said))
        elif _bytes_of(folder, name) != envelope:
            found.append(
                ApprovalFault("differs_from_ledger", name, "its bytes are not those of the ledger, which count")
            )
    return sorted(found, key=lambda fault: fault.name)


def inbox_of(folder: GovernedFolder, verifier: Verifier, now: datetime) -> Inbox:
    """Give what the state of the folder must say of the inbox; raises as `approvals`."""
    history = read_history(verifier.ledger)
    waiting = [
        request
        for request in _requests(folder, verifier, history)
        if standing_of(request, verifier, history, now).state in OPEN_TO_DECIDE
    ]
    oldest = min(waiting, key=lambda request: request.seq, default=None)
    envelopes = [(file.seq, file.name) for file in approvals(folder, verifier)]
    newest = max([*envelopes, *_rebaselines(folder, verifier, now)], default=None)
    return Inbox(oldest and oldest.request_id, newest and newest[1])


def inbox_faults(folder: GovernedFolder, verifier: Verifier, now: datetime) -> list[str]:
    """Say in which members the state differs from the inbox; empty when it follows. Raises as `approvals`."""
    members, wanted = read_state(folder).members, inbox_of(folder, verifier, now)._asdict()
    return [
        f"{name} is {members[name]!r}, the inbox says {value!r}; `govern state follow` brings it in step"
        for name, value in wanted.items()
        if members[name] != value
    ]


def follow_inbox(folder: GovernedFolder, verifier: Verifier, keeper: StateKeeper, now: datetime) -> State:
    """Write missing envelopes, then bring the state in step with the inbox; raises as `keep_approvals` and `change`."""
    keep_approvals(folder, verifier)
    wanted = inbox_of(folder, verifier, now)._asdict()
    return keeper.change(wanted, by=FOLLOWER, reason="follows the inbox")


def _requests(folder: GovernedFolder, verifier: Verifier, history: History) -> Iterator[Requested]:
    """Give the requests for acts on this folder, by the manifest each is about."""
    project = project_id(folder)
    for request in history.requests:
        if request.gate in ACTION_GATES:
            action = kept_manifest(verifier.lake, request.subject_sha256).document["action"]
            if action.get("project") == project:
                yield request


def _rebaselines(folder: GovernedFolder, verifier: Verifier, now: datetime) -> Iterator[tuple[int, str]]:
    for progress in every_progress(read_rebaselines(verifier.ledger), verifier.root, now):
        if progress.declared.document.get("project") == project_id(folder):
            for step in (Step.DECLARE, Step.RESUME):
                if step in progress.taken:
                    yield progress.taken[step].seq, f"{progress.rebaseline_id}-{step}.json"


def _bytes_of(folder: GovernedFolder, name: str) -> bytes | None:
    try:
        with open_regular(folder.path(places.CHECKPOINTS) / name) as stream:
            return stream.read(ENVELOPE_BYTES + 1)
    except FileRefused:
        return None
