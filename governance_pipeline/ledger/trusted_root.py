"""Which version of the trust root was used last, so that no older one is believed again.

What belongs here: recording versions and the fold over them. What does not: reading and verifying a root (trust).

A version is recorded with its signed bytes, and counts because the pinned key signed them: an event somebody wrote
around the front door, with a version nobody ever made, keeps no owner from revoking a key. Ledgers of before hold
versions without bytes; those count as long as no signed one is recorded, which the next change of the root does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.ledger.verification import Fault
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root_document import SeenRoot, load_root, root_sha256, signed_version

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.ledger.event import Event
    from governance_pipeline.ledger.ledger import Ledger
    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.root import TrustRoot

TRUST_ROOT: Final = "TRUST_ROOT"
"""Type of the event that records a version of the trust root."""


def seen_root(ledger: Ledger, pinned: str) -> SeenRoot | None:
    """Give the highest version that was recorded; None when none was.

    Args:
        ledger: where.
        pinned: fingerprint of the root key, from the reader's own configuration. A version it did not sign counts only
            where none is recorded that it did.
    """
    signed, unsigned = _recorded(ledger, pinned)
    return max((seen for _, seen in signed or unsigned), default=None)


def unusable_roots(ledger: Ledger, pinned: str | None = None) -> list[Fault]:
    """Name the events that should record a version of the trust root and do not.

    With the pinned key also those it did not sign although signed ones were recorded before.
    """
    found = [
        Fault(event.seq, "unusable", f"it does not hold what a {TRUST_ROOT} needs: version and sha256")
        for event in ledger.events(types={TRUST_ROOT})
        if not _is_one(event)
    ]
    if pinned is None:
        return found
    signed, unsigned = _recorded(ledger, pinned)
    first = min((seq for seq, _ in signed), default=None)
    message = "the pinned root key did not sign the version it names, so it counts for nothing"
    return sorted([*found, *(Fault(seq, "unusable", message) for seq, _ in unsigned if first and seq > first)])


def remember_root(
    ledger: Ledger, root: TrustRoot, *, actor: str, ts: datetime, data: bytes | None = None, pinned: str = ""
) -> None:
    """Record a version of the trust root; one that is recorded already is not recorded again.

    Args:
        ledger: where.
        root: the version.
        actor: who made it.
        ts: when.
        data: the bytes of its file, which prove it; None records it as ledgers of before did.
        pinned: fingerprint of the key that signed them.

    Raises:
        Refusal: ROOT_ROLLBACK when this version was recorded with other bytes.
        StorageError: the ledger cannot be written.
    """
    digest = root_sha256(root)
    body = {"version": root.version, "sha256": digest, "is_throwaway": root.is_throwaway}
    if data is not None:
        _remember_signed(ledger, body, data, actor, ts, pinned)
        return
    try:
        ledger.append(TRUST_ROOT, actor, body, ts=ts, unique=f"trust-root:{root.version}")
    except AlreadyRecorded as recorded:
        if recorded.event.body["sha256"] != digest:
            raise _other_bytes(root.version) from None


def trusted_root(config: GateConfig, ledger: Ledger, now: datetime, *, is_record_forged: bool = False) -> TrustRoot:
    """Read the trust root a configuration names, never a version below the highest recorded one.

    Args:
        config: names file and pinned key.
        ledger: the ledger it names.
        now: the time.
        is_record_forged: the owner says that versions recorded without signed bytes are forged; only signed ones count.

    Raises:
        UnreadableError: no such file.
        Refusal: as `trust.root_document.read_root`.
        StorageError: the ledger cannot be read.
    """
    pinned = config.root_fingerprint
    seen = seen_root(ledger, pinned)
    if is_record_forged and not _recorded(ledger, pinned)[0]:
        seen = None
    return load_root(config.root, pinned, now, seen=seen)


def _remember_signed(ledger: Ledger, body: dict[str, Any], data: bytes, actor: str, ts: datetime, pinned: str) -> None:
    signed, _ = _recorded(ledger, pinned)
    same = [seen for _, seen in signed if seen.version == body["version"]]
    if any(seen.sha256 != body["sha256"] for seen in same):
        raise _other_bytes(body["version"])
    if same:
        return
    content = {**body, "envelope": data.decode()}
    try:
        ledger.append(TRUST_ROOT, actor, content, ts=ts, unique=f"trust-root:{body['version']}:{body['sha256']}")
    except AlreadyRecorded:  # by an event that proves nothing: nobody takes the place of a signed version
        ledger.append(TRUST_ROOT, actor, content, ts=ts)


def _recorded(ledger: Ledger, pinned: str) -> tuple[list[tuple[int, SeenRoot]], list[tuple[int, SeenRoot]]]:
    """Give the recorded versions by the number of their event: those the pinned key signed, and the others."""
    signed, unsigned = list[tuple[int, SeenRoot]](), list[tuple[int, SeenRoot]]()
    for event in ledger.events(types={TRUST_ROOT}):
        if not _is_one(event):
            continue
        said, envelope = SeenRoot(event.body["version"], event.body["sha256"]), event.body.get("envelope")
        is_signed = type(envelope) is str and signed_version(envelope.encode(), pinned) == said
        (signed if is_signed else unsigned).append((event.seq, said))
    return signed, unsigned


def _other_bytes(version: int) -> Refusal:
    message = f"version {version} of the trust root was recorded with other bytes; restore those"
    return Refusal(ReasonCode.ROOT_ROLLBACK, message)


def _is_one(event: Event) -> bool:
    return type(event.body.get("version")) is int and type(event.body.get("sha256")) is str
