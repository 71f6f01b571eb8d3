"""A key is added under a name only when its owner has signed for that name, that key and that root."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from governance_pipeline.trust import dsse
from governance_pipeline.trust.keys import KeyFileSigner
from governance_pipeline.trust.possession import (
    POSSESSION_PAYLOAD_TYPE,
    check_possession,
    possession_statement,
    prove_possession,
)
from governance_pipeline.trust.principals import Key
from governance_pipeline.trust.reasons import ReasonCode, Refusal

ROOT = "0" * 64
BEN, EVE = (KeyFileSigner(Ed25519PrivateKey.from_private_bytes(bytes([n] * 32)), is_encrypted=False) for n in (1, 2))


def _code(data, name="ben", root=ROOT, key=BEN.public_key):
    with pytest.raises(Refusal) as refused:
        check_possession(data, name, root, [Key(key)])
    return refused.value.code


def test_the_owner_of_a_key_proves_it():
    check_possession(prove_possession("ben", ROOT, BEN), "ben", ROOT, [Key(BEN.public_key)])


def test_a_proof_is_of_one_name_one_root_and_one_key():
    proof = prove_possession("ben", ROOT, BEN)
    assert _code(proof, name="eve") is ReasonCode.WRONG_CHECKPOINT
    assert _code(proof, root="1" * 64) is ReasonCode.WRONG_CHECKPOINT
    assert _code(proof, key=EVE.public_key) is ReasonCode.WRONG_CHECKPOINT


def test_nobody_proves_the_key_of_another():
    payload = possession_statement("eve", ROOT, BEN.public_key)
    assert _code(dsse.sign(payload, POSSESSION_PAYLOAD_TYPE, EVE), name="eve") is ReasonCode.BAD_SIGNATURE


@pytest.mark.parametrize("data", [b"", b"{}", b"x" * 100_000])
def test_what_is_no_envelope_proves_nothing(data):
    assert _code(data) in (ReasonCode.MALFORMED, ReasonCode.TOO_LARGE)


def test_what_was_signed_for_another_use_proves_nothing():
    payload = possession_statement("ben", ROOT, BEN.public_key)
    assert _code(dsse.sign(payload, "application/vnd.in-toto+json", BEN)) is ReasonCode.WRONG_TYPE


def test_a_key_in_an_authenticator_is_not_proved_by_a_plain_signature():
    proof = prove_possession("ben", ROOT, BEN)
    with pytest.raises(Refusal) as refused:
        check_possession(proof, "ben", ROOT, [Key(BEN.public_key, application="ssh:")])
    assert refused.value.code is ReasonCode.BAD_SIGNATURE
