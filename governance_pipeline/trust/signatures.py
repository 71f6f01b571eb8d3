"""One signature held to one key of the trust root, whichever way it was made, and what it shows of the person.

What belongs here: raw Ed25519 and OpenSSH signatures and assertions of passkeys behind one question. What does not:
whose key it is and what a policy asks for. Only what the signature itself shows counts; what its maker says about it
does not.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from governance_pipeline.trust.keys import SIGNATURE_BYTES, is_signed_by
from governance_pipeline.trust.passkeys import asserted_by, is_assertion, parse_assertion
from governance_pipeline.trust.sshsig import ARMOR_BYTES, is_armored, made_by, parse_sshsig

if TYPE_CHECKING:
    from governance_pipeline.trust.passkeys import Passkey
    from governance_pipeline.trust.principals import Key


class Proof(StrEnum):
    """What a sound signature shows of how it was made.

    RAW: the key was at hand. OPENSSH: it was at hand of OpenSSH, in a file or an agent, nobody can tell which. PRESENT:
    an authenticator was touched and knew who touched it. ABSENT: an authenticator signed without one of the two.
    """

    RAW = "raw"
    OPENSSH = "openssh"
    PRESENT = "present"
    ABSENT = "absent"


def is_possible(signature: bytes) -> bool:
    """Tell whether bytes can be a signature at all: 64 raw bytes, what OpenSSH writes, or a passkey's assertion."""
    is_raw = len(signature) == SIGNATURE_BYTES
    return is_raw or is_assertion(signature) or (is_armored(signature) and len(signature) <= ARMOR_BYTES)


def proof_of(key: Key, message: bytes, signature: bytes) -> Proof | None:
    """Tell what a signature over a message shows, if this key made it; None if not. Never raises.

    An authenticator's key counts only through OpenSSH's form for it, and a passkey through an assertion, so that flags
    cannot be left away.
    """
    if key.passkey is not None:
        return _asserted(key.public_key, key.passkey, message, signature)
    if len(signature) == SIGNATURE_BYTES:
        is_raw = key.application is None and is_signed_by(key.public_key, message, signature)
        return Proof.RAW if is_raw else None
    read = parse_sshsig(signature)
    if read is None or not made_by(read, message, key.public_key, key.application):
        return None
    if key.application is None:
        return Proof.OPENSSH
    return Proof.PRESENT if read.is_present else Proof.ABSENT


def _asserted(public_key: bytes, passkey: Passkey, message: bytes, signature: bytes) -> Proof | None:
    assertion = parse_assertion(signature)
    if assertion is None or not asserted_by(assertion, message, public_key, passkey):
        return None
    return Proof.PRESENT if assertion.is_present else Proof.ABSENT
