"""The trust root as bytes: one canonical JSON document in a signed envelope.

What belongs here: writing, signing and reading a root, and everything a reader refuses. What does not: the rules of a
root (`root`). A root is believed because the fingerprint of its signing key is pinned in the reader's own
configuration, and because its version is not below one that was seen.
"""

from __future__ import annotations

import base64
import binascii
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jsonschema

from governance_pipeline.errors import GovernError, UsageError
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trust import dsse
from governance_pipeline.trust.instants import instant_of, instant_text
from governance_pipeline.trust.keys import PUBLIC_KEY_BYTES, fingerprint
from governance_pipeline.trust.owned_files import owned_bytes
from governance_pipeline.trust.passkeys import Passkey, base64url, base64url_bytes
from governance_pipeline.trust.principals import Key, Kind, Principal, Role, Validity
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root import Revocation, TrustRoot
from governance_pipeline.trust.signatures import Proof, proof_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.trust.keys import Signer

ROOT_PAYLOAD_TYPE: Final = "application/vnd.govern.trust-root+json"
ROOT_SCHEMA: Final = "govern/trust-root/v1"


class SeenRoot(NamedTuple):
    """The highest version of a root that was ever used, and the digest of its bytes."""

    version: int
    sha256: str


def root_document(root: TrustRoot) -> dict[str, Any]:
    """Give a root as `govern/trust-root/v1`."""
    return {
        "schema": ROOT_SCHEMA,
        "version": root.version,
        "expires": instant_text(root.expires),
        "is_throwaway": root.is_throwaway,
        "principals": [_principal_document(principal) for principal in root.principals],
        "thresholds": {str(role): number for role, number in root.thresholds.items()},
        "revocations": [
            {"key_fingerprint": r.key_fingerprint, "at": instant_text(r.at), "reason": r.reason}
            for r in root.revocations
        ],
    }


def root_bytes(root: TrustRoot) -> bytes:
    """Give the bytes that are signed: the canonical form of the document."""
    return canonical_json(root_document(root))


def root_sha256(root: TrustRoot) -> str:
    """Give the digest that names this version of a root."""
    return sha256_hex(root_bytes(root))


def sign_root(root: TrustRoot, signer: Signer) -> bytes:
    """Sign a root with the key of one of its root principals; the bytes of the file.

    Raises:
        UsageError: the key is none of theirs, or no reader would take these bytes: the root is too large, or one of its
            names or lists is.
    """
    owners = [p for p in root.principals if Role.ROOT in p.roles]
    if signer.public_key not in {key.public_key for principal in owners for key in principal.keys}:
        raise UsageError(f"key {fingerprint(signer.public_key)} belongs to no principal with the role root")
    data = dsse.sign(root_bytes(root), ROOT_PAYLOAD_TYPE, signer)
    if len(data) > dsse.ENVELOPE_BYTES:
        raise UsageError(f"the root has {len(data)} bytes, at most {dsse.ENVELOPE_BYTES} are read; remove principals")
    payload = root_bytes(root)
    try:
        _root_of(dsse.parse_members(payload, "the trust root"), payload)
    except Refusal as refusal:
        raise UsageError(f"no reader would take this trust root: {refusal}") from None
    return data


def read_root(data: bytes, pinned: str, now: datetime, *, seen: SeenRoot | None = None) -> TrustRoot:
    """Read and verify the bytes of a trust root.

    Args:
        data: the signed envelope.
        pinned: fingerprint of the root key, from the reader's own configuration.
        now: instant at which expiry is judged.
        seen: highest version seen before; None when none was.

    Raises:
        Refusal: TOO_LARGE, MALFORMED, WRONG_TYPE; UNTRUSTED_KEY when the pinned key is none of the root's own;
            BAD_SIGNATURE when it did not sign these bytes; REVOKED_KEY; EXPIRED; ROOT_ROLLBACK for an older version,
            or other bytes under a version that was seen.
    """
    envelope = dsse.parse_envelope(data)
    if envelope.payload_type != ROOT_PAYLOAD_TYPE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"this is no trust root ({ROOT_PAYLOAD_TYPE})")
    members = dsse.parse_members(envelope.payload, "the trust root")
    _check_signature(envelope, _pinned_key(members, pinned))
    root = _root_of(members, envelope.payload)
    _check_use(root, pinned, now)
    _check_version(root, envelope.payload_sha256, seen)
    return root


def load_root(path: Path, pinned: str, now: datetime, *, seen: SeenRoot | None = None) -> TrustRoot:
    """Read the file of a trust root.

    Raises:
        UsageError: no regular file, or others than its owner may write it or its folder.
        Refusal: as `read_root`.
    """
    return read_root(owned_bytes(path, "trust root", dsse.ENVELOPE_BYTES), pinned, now, seen=seen)


def signed_version(data: bytes, pinned: str) -> SeenRoot | None:
    """Name the version of a trust root in an envelope the pinned key signed; None for anything else.

    Whether it has expired, or a key was revoked since, is not asked: it was in force once.
    """
    try:
        envelope = dsse.parse_envelope(data)
        members = dsse.parse_members(envelope.payload, "the trust root")
        if envelope.payload_type != ROOT_PAYLOAD_TYPE:
            return None
        _check_signature(envelope, _pinned_key(members, pinned))
    except Refusal:
        return None
    version = members.get("version")
    return SeenRoot(version, envelope.payload_sha256) if type(version) is int else None


def _pinned_key(members: Mapping[str, Any], pinned: str) -> Key:
    """Find the key the reader trusts among those the document names; its bytes are proved by the fingerprint.

    That it is in an authenticator is said by the document itself: a false word there makes its signature unsound.
    """
    for principal in _dicts(members.get("principals")):
        for key in _dicts(principal.get("keys")):
            try:
                raw = base64.b64decode(str(key.get("public_key")), validate=True)
            except (binascii.Error, ValueError):
                continue
            if len(raw) == PUBLIC_KEY_BYTES and fingerprint(raw) == pinned:
                application = key.get("application")
                return Key(raw, application=application if type(application) is str else None)
    raise Refusal(ReasonCode.UNTRUSTED_KEY, f"the root key {pinned} that is pinned here is no key of this trust root")


def _check_signature(envelope: dsse.Envelope, key: Key) -> None:
    message = dsse.pae(envelope.payload_type, envelope.payload)
    proofs = {proof_of(key, message, signature.sig) for signature in envelope.signatures}
    if proofs <= {None, Proof.ABSENT} and Proof.ABSENT in proofs:
        what = "the authenticator signed the trust root without a touch of a verified person; sign it again"
        raise Refusal(ReasonCode.NO_USER_PRESENCE, what)
    if proofs <= {None}:
        raise Refusal(
            ReasonCode.BAD_SIGNATURE, "the pinned root key did not sign this trust root; restore the last one"
        )


def _root_of(members: dict[str, Any], payload: bytes) -> TrustRoot:
    error = jsonschema.exceptions.best_match(_validator().iter_errors(members))
    if error is not None:
        where = "/".join(str(part) for part in error.absolute_path)
        raise Refusal(ReasonCode.MALFORMED, f"the trust root at /{excerpt(where)}: {excerpt(error.message)}")
    try:
        root = TrustRoot(
            version=members["version"],
            expires=instant_of(members["expires"]),
            is_throwaway=members["is_throwaway"],
            principals=tuple(_principal(value) for value in members["principals"]),
            thresholds={Role(role): number for role, number in members["thresholds"].items()},
            revocations=tuple(
                Revocation(r["key_fingerprint"], instant_of(r["at"]), r["reason"]) for r in members["revocations"]
            ),
        )
        is_canonical = root_bytes(root) == payload
    except (GovernError, ValueError) as reason:
        raise Refusal(ReasonCode.MALFORMED, f"the trust root: {reason}") from None
    if not is_canonical:
        raise Refusal(ReasonCode.MALFORMED, "the trust root is not in canonical form; make it with `govern trust`")
    return root


def _check_use(root: TrustRoot, pinned: str, now: datetime) -> None:
    owner = next(p for p in root.principals if any(key.fingerprint == pinned for key in p.keys))
    if Role.ROOT not in owner.roles:
        raise Refusal(ReasonCode.UNTRUSTED_KEY, f"the pinned key belongs to {owner.id!r}, who has not the role root")
    if root.is_revoked(pinned, now):
        raise Refusal(ReasonCode.REVOKED_KEY, "the pinned root key is revoked; pin the new one")
    if now >= root.expires:
        message = f"the trust root expired at {instant_text(root.expires)}; its owner must sign a new version"
        raise Refusal(ReasonCode.EXPIRED, message)


def _check_version(root: TrustRoot, sha256: str, seen: SeenRoot | None) -> None:
    if seen is None or root.version > seen.version:
        return
    if root.version < seen.version:
        message = f"version {root.version} of the trust root, but version {seen.version} was used before; restore that"
        raise Refusal(ReasonCode.ROOT_ROLLBACK, message)
    if sha256 != seen.sha256:
        message = f"version {root.version} of the trust root has other bytes than the one used before; restore that"
        raise Refusal(ReasonCode.ROOT_ROLLBACK, message)


@cache
def _validator() -> jsonschema.Draft202012Validator:
    text = files("governance_pipeline.trust").joinpath("schemas/trust-root-v1.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def _principal_document(principal: Principal) -> dict[str, Any]:
    return {
        "id": principal.id,
        "kind": str(principal.kind),
        "controller": principal.controller,
        "roles": sorted(principal.roles),
        "keys": [{**_kind_members(key), **_validity_members(key.validity)} for key in principal.keys],
        "aliases": list(principal.aliases),
        **_validity_members(principal.validity),
    }


def _principal(value: Mapping[str, Any]) -> Principal:
    return Principal(
        id=value["id"],
        kind=Kind(value["kind"]),
        controller=value["controller"],
        roles=frozenset(Role(role) for role in value["roles"]),
        keys=tuple(
            Key(base64.b64decode(key["public_key"]), _validity(key), key.get("application"), _passkey(key))
            for key in value["keys"]
        ),
        aliases=tuple(value["aliases"]),
        validity=_validity(value),
    )


def _kind_members(key: Key) -> dict[str, str]:
    encoded = base64.b64encode(key.public_key).decode()
    if key.passkey is not None:
        credential_id, rp_id, origin = key.passkey
        bound = {"credential_id": base64url(credential_id), "rp_id": rp_id, "origin": origin}
        return {"type": "passkey", "public_key": encoded, **bound}
    if key.application is None:
        return {"type": "ed25519", "public_key": encoded}
    return {"type": "sk-ed25519", "public_key": encoded, "application": key.application}


def _passkey(value: Mapping[str, Any]) -> Passkey | None:
    if value["type"] != "passkey":
        return None
    return Passkey(base64url_bytes(value["credential_id"]), value["rp_id"], value["origin"])


def _validity(value: Mapping[str, Any]) -> Validity:
    start, end = value["not_before"], value["expires"]
    return Validity(start and instant_of(start), end and instant_of(end))


def _validity_members(validity: Validity) -> dict[str, str | None]:
    ends = {"not_before": validity.not_before, "expires": validity.expires}
    return {name: None if at is None else instant_text(at) for name, at in ends.items()}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
