"""A public key is a point of large order in its one spelling; for any other, signatures can be written by anybody."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trust.keys import is_signed_by
from governance_pipeline.trust.points import is_sound_point

P = 2**255 - 19
ORDER_8 = ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
           "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")  # fmt: skip
"""The y of the points of order 8 (libsodium, `ge25519_has_small_order`)."""


def _bytes(number: int, sign: int = 0) -> bytes:
    return (number | sign << 255).to_bytes(32, "little")


SMALL = [
    *(_bytes(y, sign) for y in (0, 1, P - 1) for sign in (0, 1)),
    *(_bytes(int.from_bytes(bytes.fromhex(y), "little"), sign) for y in ORDER_8 for sign in (0, 1)),
    *(_bytes(y, sign) for y in (P, P + 1) for sign in (0, 1)),
]
"""All eight points whose order divides 8, and every other spelling of one in 32 bytes."""


@pytest.mark.parametrize("data", SMALL, ids=bytes.hex)
def test_no_point_of_small_order_is_sound_in_any_spelling(data):
    assert not is_sound_point(data)


def test_a_signature_nobody_made_verifies_for_a_point_of_small_order():
    identity = _bytes(1)
    assert is_signed_by(identity, b"I approve", identity + bytes(32))


@pytest.mark.parametrize("y", [2, 7, P + 2, P + 18, 2**255 - 1])
def test_what_is_no_point_or_another_spelling_of_one_is_not_sound(y):
    assert not is_sound_point(_bytes(y))


@pytest.mark.parametrize("data", [b"", bytes(31), bytes(33)])
def test_another_length_is_no_point(data):
    assert not is_sound_point(data)


@given(st.binary(min_size=1, max_size=20))
def test_every_key_that_was_made_as_one_is_sound(seed):
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed).digest())
    assert is_sound_point(private.public_key().public_bytes_raw())
