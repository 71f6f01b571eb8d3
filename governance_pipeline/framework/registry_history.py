"""What the ledger says of the canonical registry of a governed folder: every change, folded into what it should hold.

What belongs here: types of events, their bodies, and the fold. What does not: whether a change was approved, which is
asked of the gate's events (`registry_rows`), and the file, which is the state (`registry`). Events name the folder by
its absolute path, so that several folders can share one ledger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.framework.registry import Asset, Superseded
from governance_pipeline.ledger.verification import Fault
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger


class RegistryEvent(StrEnum):
    """Types of events; names stay for ever, because events do."""

    ADDED = "REGISTRY_ADDED"
    SUPERSEDED = "REGISTRY_SUPERSEDED"
    VERIFIED = "REGISTRY_VERIFIED"
    MARKED = "REGISTRY_MARKED"


class Change(NamedTuple):
    """One recorded change of an asset's bytes: event number, asset, both digests, and the decision it rests on."""

    seq: int
    name: str
    from_sha256: str
    to_sha256: str
    decision_id: str
    subject_sha256: str


@dataclass
class RegistryHistory:
    """What the ledger says of one folder's registry, by name; `unusable` are events that do not hold what they need."""

    assets: dict[str, Asset] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    unusable: list[Fault] = field(default_factory=list)


def project_id(folder: GovernedFolder) -> str:
    """Name a governed folder in events and proposals: by its absolute path."""
    return str(folder.root.resolve())


def read_registry_history(ledger: Ledger, folder: GovernedFolder) -> RegistryHistory:
    """Fold the changes of the registry of a folder.

    Raises:
        StorageError: the ledger cannot be read.
    """
    history, project = RegistryHistory(), project_id(folder)
    for event in ledger.events(types=set(RegistryEvent)):
        if event.body.get("project") != project:
            continue
        try:
            _add(history, event)
        except (LookupError, TypeError, ValueError) as error:
            message = f"it does not hold what a {event.type} needs ({error!r})"
            history.unusable.append(Fault(event.seq, "unusable", message))
    return history


def _add(history: RegistryHistory, event: Event) -> None:
    kind, body, at = RegistryEvent(event.type), event.body, instant_text(event.ts)
    name = _text(body, "name")
    if kind is RegistryEvent.ADDED:
        if name in history.assets:
            raise ValueError("it was added before")
        history.assets[name] = Asset(name, _text(body, "canonical_path"), _text(body, "sha256"), at)
        return
    before = history.assets[name]
    if kind is RegistryEvent.SUPERSEDED:
        history.assets[name] = _superseded(before, body, at)
        names = ("from_sha256", "to_sha256", "decision_id", "subject_sha256")
        history.changes.append(Change(event.seq, name, *(_text(body, member) for member in names)))
    elif kind is RegistryEvent.VERIFIED:
        if _text(body, "sha256") != before.last_verified_hash:
            raise ValueError("a verification changes no digest")
        history.assets[name] = before._replace(last_verified_at=at)
    else:
        version = body.get("baseline_version")
        history.assets[name] = before._replace(
            status=_text(body, "status"), baseline_version=before.baseline_version if version is None else str(version)
        )


def _superseded(before: Asset, body: Any, at: str) -> Asset:
    kept = tuple(
        Superseded(_text(version, "path"), _text(version, "sha256"), at, _text(body, "reason"))
        for version in body["archived"]
    )
    versions = (*before.superseded_versions, *kept)
    return before._replace(
        last_verified_hash=_text(body, "to_sha256"), last_verified_at=at, superseded_versions=versions
    )


def _text(body: Any, name: str) -> str:
    value = body[name]
    if type(value) is not str:
        raise TypeError(f"{name} is no text")
    return value
