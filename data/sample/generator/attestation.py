"""Validator verdicts: SLSA verification summaries (in-toto Statement v1) in DSSE envelopes, and bare claims.

Every agent of the sample has a key; its secret is the digest of a published sentence, so a signature here says that
an envelope is whole, never that anybody may be trusted.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from generator.ed25519 import public_key, sign
from generator.native import CHANGES, EVIDENCE
from generator.text import json_text, sha256

if TYPE_CHECKING:
    from generator.model import Draft

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/verification_summary/v1"
POLICY_DIGEST = sha256("sample policy: a round passes when its required criteria were proven again by its validator")


def secret_of(agent_id: str) -> bytes:
    """Give the published secret of an agent of the sample."""
    return hashlib.sha256(f"governance-pipeline sample key of {agent_id}".encode()).digest()


def key_id(agent_id: str) -> str:
    """Give the id of an agent's key: the digest of its public key."""
    return sha256(public_key(secret_of(agent_id)))


def envelope(draft: Draft, files: dict[str, bytes], verifier: str, run_id: str, session_id: str) -> dict[str, Any]:
    """Sign the statement that `verifier` passed the round, having derived again what it names."""
    payload = json_text(_statement(draft, files, verifier, run_id, session_id)).encode()
    head = f"DSSEv1 {len(PAYLOAD_TYPE)} {PAYLOAD_TYPE} {len(payload)} "
    signature = sign(secret_of(verifier), head.encode() + payload)
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key_id(verifier), "sig": base64.b64encode(signature).decode()}],
    }


def bare_claim(draft: Draft, validator_id: str, run_id: str) -> dict[str, Any]:
    """Write the claim an agent makes without signing it."""
    return {
        "round_id": draft.round_id,
        "validator_id": validator_id,
        "run_id": run_id,
        "result": "PASSED",
        "verified_at": draft.clock.seconds(),
        "note": "all criteria were checked again and hold",
    }


def _statement(draft: Draft, files: dict[str, bytes], verifier: str, run_id: str, session_id: str) -> dict[str, Any]:
    names = [name for name in (CHANGES, EVIDENCE) if name in files]
    audited = {name: data for name, data in files.items() if name.startswith("logs/")}
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": sha256(files[name])}} for name in names],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "verifier": {"id": verifier},
            "timeVerified": draft.clock.seconds(),
            "resourceUri": f"round:{draft.round_id}",
            "policy": {"uri": "policy:sample-round/1", "digest": {"sha256": POLICY_DIGEST}},
            "inputAttestations": [
                {"uri": f"file:{name}", "digest": {"sha256": sha256(data)}} for name, data in sorted(audited.items())
            ],
            "verificationResult": "PASSED",
            "verifiedLevels": [],
            "validatorRun": {"run_id": run_id, "session_id": session_id},
            "rederived": [
                {"method": "count recomputed", "what": "entries of the audit log", "value": len(draft.audit)},
                {"method": "hash recomputed", "what": EVIDENCE, "value": sha256(files[EVIDENCE])},
            ],
        },
    }
