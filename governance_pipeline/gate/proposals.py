"""What a person is asked to allow where no round is concerned: one act, in full, as one document.

What belongs here: the proposal, its exact bytes, and keeping it in the lake. What does not: which acts there are and
what is true of the files they concern; whoever acts makes the proposal anew from the bytes at hand, and only the same
proposal is covered by what was signed (spec/framework.md §4 and §5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused, StorageError, UsageError
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.storage.versions import bytes_of
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.vocabulary import is_round_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from governance_pipeline.gate.gates import Gate
    from governance_pipeline.storage.lake import Lake

SCHEMA: Final = "govern/action-proposal/v1"
FOLDER: Final = "proposals"
"""Folder of the lake that keeps the proposal in hand of each gate and subject."""


@dataclass(frozen=True)
class Proposal:
    """One act that needs a signature.

    Attributes:
        gate: the gate of actions it has to pass.
        subject_id: what it is about; takes the place of the round id, and is as legal a name as one.
        producers: who wants to act, or has made what is to be put in force; none of them may approve.
        baseline_version: baseline of the project it is proposed under; None where there is no project.
        action: what exactly: texts, whole numbers, and lists of texts by name.
    """

    gate: str
    subject_id: str
    producers: tuple[str, ...]
    baseline_version: str | None
    action: Mapping[str, Any]

    @property
    def document(self) -> dict[str, Any]:
        """The document as it is kept."""
        return {
            "schema": SCHEMA,
            "gate": self.gate,
            "subject_id": self.subject_id,
            "producers": sorted(self.producers),
            "baseline_version": self.baseline_version,
            "action": dict(self.action),
        }

    @property
    def bytes(self) -> bytes:
        """The canonical bytes of the document."""
        return canonical_json(self.document)

    @property
    def sha256(self) -> str:
        """Digest of the canonical bytes."""
        return sha256_hex(self.bytes)


def keep_proposal(lake: Lake, proposal: Proposal) -> None:
    """Keep a proposal in the lake, in the place of an earlier one about the same thing.

    Raises:
        UsageError: it cannot be shown or signed as it is.
        StorageError: it could not be written.
    """
    fault = document_fault("action-proposal-v1", proposal.document)
    if fault is None and not is_round_id(proposal.subject_id):
        fault = f"{proposal.subject_id!r} is no legal name"
    if fault is not None:
        raise UsageError(f"this cannot be proposed: {fault}")
    with lake.writer.locked(FOLDER):
        lake.writer.write(_place(lake, proposal.gate, proposal.subject_id), proposal.bytes)


def kept_proposal(lake: Lake, gate: Gate, subject_id: str) -> Proposal:
    """Read the proposal in hand about a subject.

    Raises:
        StorageError: nothing is proposed, or what is there is no proposal about it.
    """
    if not is_round_id(subject_id):
        raise StorageError(f"{subject_id!r} is no legal name, so nothing was proposed about it")
    path = _place(lake, gate.name, subject_id)
    try:
        data = bytes_of(path)
        found = parse_json(data)
    except FileNotFoundError:
        raise StorageError(f"nothing is proposed at gate {gate.name} about {subject_id} ({path}); ask first") from None
    except RecordRefused as reason:
        raise StorageError(f"{path} is no proposal: {reason}; ask again") from None
    fault = document_fault("action-proposal-v1", found)
    if fault is not None or (found["gate"], found["subject_id"]) != (gate.name, subject_id):
        raise StorageError(f"{path} is no proposal about {subject_id}: {fault or 'it is about something else'}")
    proposal = Proposal(gate.name, subject_id, tuple(found["producers"]), found["baseline_version"], found["action"])
    if proposal.bytes != data:
        raise StorageError(f"{path} is not in its canonical form; ask again")
    return proposal


def _place(lake: Lake, gate: str, subject_id: str) -> Path:
    return lake.root / FOLDER / gate / f"{subject_id}.json"
