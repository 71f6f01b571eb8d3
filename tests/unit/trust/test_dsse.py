"""Envelopes are read strictly, sign type and payload, and count keys by their bytes."""

from __future__ import annotations

import base64
import contextlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trust import dsse
from governance_pipeline.trust.keys import KeyFileSigner, fingerprint
from governance_pipeline.trust.principals import Key, Kind, Role, Validity
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root import Revocation

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TYPE = "application/vnd.in-toto+json"
PAYLOAD = b'{"a": 1}'


def _code(action) -> ReasonCode:
    with pytest.raises(Refusal) as refused:
        action()
    assert refused.value.exit_code == 4
    assert str(refused.value).startswith(f"{refused.value.code}: ")
    return refused.value.code


def _wire(**changed) -> bytes:
    members = {"payloadType": TYPE, "payload": "e30=", "signatures": [{"keyid": "", "sig": "A" * 86 + "=="}], **changed}
    return json.dumps({k: v for k, v in members.items() if v is not ...}).encode()


def test_the_signed_bytes_are_those_of_the_specification():
    assert dsse.pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert dsse.pae("", b"") == b"DSSEv1 0  0 "
    assert dsse.pae("é", b"\0") == b"DSSEv1 2 \xc3\xa9 1 \0"  # lengths are of bytes


@given(st.tuples(st.text(), st.binary()), st.tuples(st.text(), st.binary()))
def test_no_two_pairs_of_type_and_payload_sign_the_same_bytes(one, other):
    one, other = ((kind.encode("utf-8", "ignore").decode(), payload) for kind, payload in (one, other))
    assert (dsse.pae(*one) == dsse.pae(*other)) == (one == other)


def test_a_known_key_makes_the_known_signature():
    # RFC 8032 §7.1, TEST 2: the secret, public key and signature of the one byte 0x72.
    secret = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    signer = KeyFileSigner(Ed25519PrivateKey.from_private_bytes(secret), is_encrypted=False)
    assert signer.public_key.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert signer.sign(b"\x72").hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


def test_what_was_signed_is_read_back(signer):
    envelope = dsse.parse_envelope(dsse.sign(PAYLOAD, TYPE, signer("ana")))
    assert (envelope.payload_type, envelope.payload) == (TYPE, PAYLOAD)
    assert envelope.signatures[0].keyid == fingerprint(signer("ana").public_key)


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b"\xef\xbb\xbf" + _wire(),
        _wire() + b"{}",
        _wire()[:-1] + b', "payload": "e30="}',
        _wire(payload=...),
        _wire(payload=None),
        _wire(payload=1),
        _wire(payload="e30"),
        _wire(payload="e31="),  # the spare bits are not zero
        _wire(payload="e3 0="),
        _wire(payload="e30=\n"),
        _wire(payload="+_8="),  # two alphabets in one text
        _wire(payload="ë30="),
        _wire(payloadType=...),
        _wire(payloadType=1),
        _wire(payloadType=1.5),
        _wire(signatures=...),
        _wire(signatures={}),
        _wire(signatures=["x"]),
        _wire(signatures=[{}]),
        _wire(signatures=[{"sig": "AAAA"}]),
        _wire(signatures=[{"keyid": 7, "sig": "A" * 86 + "=="}]),
        _wire(signatures=[{"sig": "A" * 86 + "=="}] * (dsse.MOST_SIGNATURES + 1)),
        b'{"payloadType":"t","payload":"","signatures":[NaN]}',
        b'{"payloadType":"\\ud800","payload":"","signatures":[]}',
        b'{"a":' * 70 + b"1" + b"}" * 70,
    ],
)
def test_a_malformed_envelope_is_refused(wire):
    assert _code(lambda: dsse.parse_envelope(wire)) is ReasonCode.MALFORMED


def test_an_envelope_beyond_the_cap_is_refused_unread():
    assert _code(lambda: dsse.parse_envelope(b"x" * (dsse.ENVELOPE_BYTES + 1))) is ReasonCode.TOO_LARGE
    assert dsse.parse_envelope(_wire().ljust(dsse.ENVELOPE_BYTES)).payload == b"{}"


def test_unknown_members_are_ignored_and_an_unset_keyid_is_an_empty_one():
    wire = _wire(more=1, signatures=[{"sig": "A" * 86 + "==", "cert": "x"}, {"keyid": None, "sig": "A" * 86 + "=="}])
    assert [s.keyid for s in dsse.parse_envelope(wire).signatures] == ["", ""]


@given(st.binary(max_size=80))
def test_both_alphabets_mean_the_same_bytes(payload):
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert dsse.parse_envelope(_wire(payload=encode(payload).decode())).payload == payload


@given(st.binary(max_size=300))
def test_no_bytes_get_past_the_reader_with_another_error(data):
    with contextlib.suppress(Refusal):
        dsse.parse_envelope(data)


# ------------------------------------------------------------------------------------------------ who signed


def _envelope(signer, *names: str) -> dsse.Envelope:
    envelope = dsse.parse_envelope(dsse.sign(PAYLOAD, TYPE, signer(names[0])))
    for name in names[1:]:
        envelope = dsse.add_signature(envelope, signer(name))
    return envelope


def test_every_principal_that_signed_is_named_once(signer, make_principal, make_root):
    root = make_root(make_principal("ana", Role.APPROVER), make_principal("ben", Role.APPROVER))
    signed = dsse.verify_signatures(_envelope(signer, "ben", "ana", "ben"), root, NOON)
    assert [s.principal for s in signed] == ["ana", "ben"]
    assert signed[0].key_fingerprint == fingerprint(signer("ana").public_key)


def test_one_key_under_two_keyids_is_one_signer(signer, make_principal, make_root):
    root = make_root(make_principal("ana", Role.APPROVER))
    envelope = _envelope(signer, "ana", "ana")
    twice = envelope._replace(signatures=(envelope.signatures[0], envelope.signatures[1]._replace(keyid="other")))
    assert len(dsse.verify_signatures(twice, root, NOON)) == 1


def test_a_keyid_decides_nothing(signer, make_principal, make_root):
    root = make_root(make_principal("ana", Role.APPROVER))
    envelope = _envelope(signer, "ana")
    for keyid in ("", "x", fingerprint(signer("owner").public_key)):
        renamed = envelope._replace(signatures=(envelope.signatures[0]._replace(keyid=keyid),))
        assert [s.principal for s in dsse.verify_signatures(renamed, root, NOON)] == ["ana"]
    forged = envelope._replace(signatures=(envelope.signatures[0]._replace(sig=bytes(64)),))
    assert _code(lambda: dsse.verify_signatures(forged, root, NOON)) is ReasonCode.BAD_SIGNATURE


@pytest.mark.parametrize("at", range(0, 64, 7))
def test_a_flipped_bit_in_the_signature_is_refused(signer, make_principal, make_root, at):
    root = make_root(make_principal("ana", Role.APPROVER))
    envelope = _envelope(signer, "ana")
    sig = bytearray(envelope.signatures[0].sig)
    sig[at] ^= 1
    forged = envelope._replace(signatures=(envelope.signatures[0]._replace(sig=bytes(sig)),))
    assert _code(lambda: dsse.verify_signatures(forged, root, NOON)) is ReasonCode.BAD_SIGNATURE


@pytest.mark.parametrize(
    "changed", [{"payload": b'{"a": 2}'}, {"payload_type": TYPE + "x"}, {"payload_type": "", "payload": PAYLOAD}]
)
def test_another_payload_or_type_is_refused(signer, make_principal, make_root, changed):
    root = make_root(make_principal("ana", Role.APPROVER))
    forged = _envelope(signer, "ana")._replace(**changed)
    assert _code(lambda: dsse.verify_signatures(forged, root, NOON)) is ReasonCode.BAD_SIGNATURE


def test_no_signature_at_all_is_missing(make_root):
    assert (
        _code(lambda: dsse.verify_signatures(dsse.Envelope(TYPE, PAYLOAD, ()), make_root(), NOON)) is ReasonCode.MISSING
    )


def test_an_unknown_key_is_untrusted(signer, make_root):
    assert (
        _code(lambda: dsse.verify_signatures(_envelope(signer, "eve"), make_root(), NOON)) is ReasonCode.UNTRUSTED_KEY
    )


def test_a_principal_without_the_role_is_untrusted(signer, make_principal, make_root):
    root = make_root(make_principal("bot", Role.VALIDATOR, kind=Kind.AGENT))
    envelope = _envelope(signer, "bot")
    assert dsse.verify_signatures(envelope, root, NOON, role=Role.VALIDATOR)
    assert _code(lambda: dsse.verify_signatures(envelope, root, NOON, role=Role.APPROVER)) is ReasonCode.UNTRUSTED_KEY


@pytest.mark.parametrize("of", ["key", "principal"])
@pytest.mark.parametrize(
    ("validity", "code"),
    [
        (Validity(not_before=NOON + timedelta(seconds=1)), ReasonCode.NOT_YET_VALID),
        (Validity(not_before=NOON), None),
        (Validity(expires=NOON), ReasonCode.EXPIRED),
        (Validity(expires=NOON + timedelta(microseconds=1)), None),
    ],
)
def test_a_key_counts_from_its_start_until_just_before_its_end(signer, make_principal, make_root, of, validity, code):
    own, key = (Validity(), validity) if of == "key" else (validity, Validity())
    root = make_root(make_principal("ana", Role.APPROVER, keys=(Key(signer("ana").public_key, key),), validity=own))
    envelope = _envelope(signer, "ana")
    if code is None:
        assert dsse.verify_signatures(envelope, root, NOON)
    else:
        assert _code(lambda: dsse.verify_signatures(envelope, root, NOON)) is code


def test_a_revoked_key_counts_until_the_moment_of_its_revocation(signer, make_principal, make_root):
    print_of = fingerprint(signer("ana").public_key)
    root = make_root(make_principal("ana", Role.APPROVER), revocations=(Revocation(print_of, NOON, "lost"),))
    envelope = _envelope(signer, "ana")
    assert dsse.verify_signatures(envelope, root, NOON - timedelta(microseconds=1))
    assert _code(lambda: dsse.verify_signatures(envelope, root, NOON)) is ReasonCode.REVOKED_KEY


def test_one_good_signature_is_found_among_bad_ones(signer, make_principal, make_root):
    root = make_root(make_principal("ana", Role.APPROVER))
    assert [s.principal for s in dsse.verify_signatures(_envelope(signer, "eve", "ana"), root, NOON)] == ["ana"]
