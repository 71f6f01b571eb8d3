"""What `govern trust` answers, as a JSON document (schema in `schemas/`).

What belongs here: a root and its configuration turned into plain values. What does not: printing.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.root_document import root_sha256

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.trust.config import GateConfig
    from governance_pipeline.trust.principals import Key, Principal, Validity
    from governance_pipeline.trust.root import TrustRoot


def trust_document(config: GateConfig, root: TrustRoot) -> dict[str, Any]:
    """Give `govern/trust-show/v1`: where the root is, its version, and everybody in it."""
    return {
        "schema": "govern/trust-show/v1",
        "config": str(config.source),
        "root": str(config.root),
        "root_fingerprint": config.root_fingerprint,
        "ledger": str(config.ledger),
        "version": root.version,
        "sha256": root_sha256(root),
        "expires": instant_text(root.expires),
        "is_throwaway": root.is_throwaway,
        "thresholds": {str(role): number for role, number in root.thresholds.items()},
        "principals": [_principal(principal, root) for principal in root.principals],
    }


def _principal(principal: Principal, root: TrustRoot) -> dict[str, Any]:
    return {
        "id": principal.id,
        "kind": str(principal.kind),
        "controller": principal.controller,
        "roles": sorted(principal.roles),
        "aliases": list(principal.aliases),
        **_ends(principal.validity),
        "keys": [_key(key, root) for key in principal.keys],
    }


def _key(key: Key, root: TrustRoot) -> dict[str, Any]:
    revoked = [r for r in root.revocations if r.key_fingerprint == key.fingerprint]
    return {
        "fingerprint": key.fingerprint,
        "public_key": base64.b64encode(key.public_key).decode(),
        "application": key.application,
        "passkey": None if key.passkey is None else {"rp_id": key.passkey.rp_id, "origin": key.passkey.origin},
        **_ends(key.validity),
        "revoked_at": instant_text(min(r.at for r in revoked)) if revoked else None,
    }


def _ends(validity: Validity) -> dict[str, str | None]:
    return {"not_before": _text(validity.not_before), "expires": _text(validity.expires)}


def _text(at: datetime | None) -> str | None:
    return None if at is None else instant_text(at)
