"""Which version of the trust root was used last, so that no older one is believed again.

What belongs here: recording versions and the fold over them. What does not: reading and verifying a root (trust).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.ledger.verification import Fault
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root_document import SeenRoot, load_root, root_sha256

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.root import TrustRoot

TRUST_ROOT: Final = "TRUST_ROOT"
"""Type of the event that records a version of the trust root."""


def seen_root(ledger: Ledger) -> SeenRoot | None:
    """Give the highest version that was recorded; None when none was.

    An event that names no version is passed over: it makes no older root believed. `unusable_roots` names it.
    """
    recorded = (SeenRoot(e.body["version"], e.body["sha256"]) for e in ledger.events(types={TRUST_ROOT}) if _is_one(e))
    return max(recorded, default=None)


def unusable_roots(ledger: Ledger) -> list[Fault]:
    """Name the events that should record a version of the trust root and do not."""
    return [
        Fault(event.seq, "unusable", f"it does not hold what a {TRUST_ROOT} needs: version and sha256")
        for event in ledger.events(types={TRUST_ROOT})
        if not _is_one(event)
    ]


def _is_one(event: Event) -> bool:
    return type(event.body.get("version")) is int and type(event.body.get("sha256")) is str


def remember_root(ledger: Ledger, root: TrustRoot, *, actor: str, ts: datetime) -> None:
    """Record a version of the trust root; one that is recorded already is not recorded again.

    Raises:
        Refusal: ROOT_ROLLBACK when this version was recorded with other bytes.
        StorageError: the ledger cannot be written.
    """
    digest = root_sha256(root)
    body = {"version": root.version, "sha256": digest, "is_throwaway": root.is_throwaway}
    try:
        ledger.append(TRUST_ROOT, actor, body, ts=ts, unique=f"trust-root:{root.version}")
    except AlreadyRecorded as recorded:
        if recorded.event.body["sha256"] != digest:
            message = f"version {root.version} of the trust root was recorded with other bytes; restore those"
            raise Refusal(ReasonCode.ROOT_ROLLBACK, message) from None


def trusted_root(config: GateConfig, ledger: Ledger, now: datetime) -> TrustRoot:
    """Read the trust root a configuration names, never a version below the highest recorded one.

    Raises:
        UnreadableError: no such file.
        Refusal: as `trust.root_document.read_root`.
        StorageError: the ledger cannot be read.
    """
    return load_root(config.root, config.root_fingerprint, now, seen=seen_root(ledger))
