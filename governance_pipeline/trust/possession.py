"""Proof that somebody holds the private half of a key that is to be added to a trust root.

What belongs here: what is signed, and the check. What does not: adding the key (ledger.root_keeping). Without it
anybody could have the public key of another person listed under the own name, and what that person signs would count as
theirs. The proof is bound to the name and to the root: one made for another name or root shows nothing.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.trust import dsse
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.signatures import Proof, proof_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.trust.keys import Signer
    from governance_pipeline.trust.principals import Key

POSSESSION_PAYLOAD_TYPE: Final = "application/vnd.govern.key-possession+json"
POSSESSION_SCHEMA: Final = "govern/key-possession/v1"


def possession_statement(principal: str, root_fingerprint: str, public_key: bytes) -> bytes:
    """Give what the owner of a key signs: the challenge, which names principal, root and key."""
    return canonical_json(
        {
            "schema": POSSESSION_SCHEMA,
            "principal": principal,
            "root_fingerprint": root_fingerprint,
            "public_key": base64.b64encode(public_key).decode(),
        }
    )


def prove_possession(principal: str, root_fingerprint: str, signer: Signer) -> bytes:
    """Sign that challenge with the key itself; an envelope."""
    return dsse.sign(
        possession_statement(principal, root_fingerprint, signer.public_key), POSSESSION_PAYLOAD_TYPE, signer
    )


def check_possession(data: bytes, principal: str, root_fingerprint: str, keys: Sequence[Key]) -> None:
    """Hold a proof to the keys that are to be added under a name.

    Raises:
        Refusal: TOO_LARGE, MALFORMED, WRONG_TYPE; WRONG_CHECKPOINT when it is for another name, root or key;
            BAD_SIGNATURE when the key did not sign it; NO_USER_PRESENCE when an authenticator was not touched.
    """
    envelope = dsse.parse_envelope(data)
    if envelope.payload_type != POSSESSION_PAYLOAD_TYPE:
        raise Refusal(ReasonCode.WRONG_TYPE, f"this is no proof of a key ({POSSESSION_PAYLOAD_TYPE})")
    message = dsse.pae(envelope.payload_type, envelope.payload)
    for key in keys:
        if envelope.payload != possession_statement(principal, root_fingerprint, key.public_key):
            raise Refusal(
                ReasonCode.WRONG_CHECKPOINT,
                f"the proof is not for {principal!r}, this key and this trust root; have its owner run "
                f"`govern trust prove {principal} --root {root_fingerprint} --key FILE`",
            )
        proofs = {proof_of(key, message, signature.sig) for signature in envelope.signatures}
        if proofs <= {None}:
            raise Refusal(ReasonCode.BAD_SIGNATURE, f"key {key.fingerprint} did not sign the proof that it is held")
        if proofs <= {None, Proof.ABSENT}:
            raise Refusal(ReasonCode.NO_USER_PRESENCE, "the authenticator signed the proof without a verified person")
