"""Assertions of passkeys: checked offline, part by part, and held to a second reader."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import UsageError
from governance_pipeline.trust import passkeys
from governance_pipeline.trust.passkeys import (
    Assertion,
    asserted_by,
    assertion_bytes,
    base64url,
    base64url_bytes,
    challenge_of,
    is_sound_passkey,
    parse_assertion,
)
from governance_pipeline.trust.principals import Kind, Role
from governance_pipeline.trust.root_document import read_root, sign_root
from governance_pipeline.trust.signatures import Proof, is_possible, proof_of

MESSAGE = b"a statement"


@pytest.fixture
def ana(software_passkey):
    return software_passkey.SoftwarePasskey("ana")


def spki(key) -> bytes:
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"origin": "http://localhost:9999"}, id="another_port"),
        pytest.param({"origin": "http://evil.example"}, id="another_host"),
        pytest.param({"rp_id": "evil.example"}, id="another_relying_party"),
        pytest.param({"client": {"type": "webauthn.create"}}, id="a_registration"),
        pytest.param({"client": {"challenge": base64url(b"x" * 32)}}, id="another_challenge"),
        pytest.param({"client": {"challenge": 7}}, id="a_challenge_that_is_no_text"),
        pytest.param({"client": {"crossOrigin": True}}, id="from_a_frame"),
        pytest.param({"client": {"topOrigin": "http://localhost:8733"}}, id="from_a_frame_that_says_where"),
        pytest.param({"flags": 0x45}, id="data_of_a_new_credential"),
        pytest.param({"flags": 0x85}, id="extensions_announced_and_absent"),
        pytest.param({"flags": 0x15}, id="backed_up_without_being_eligible"),
    ],
)
def test_a_sound_signature_over_anything_else_is_none(ana, wrong):
    other = replace(ana, **wrong)
    assert proof_of(ana.key(), MESSAGE, other.sign(MESSAGE)) is None


def test_bytes_after_the_authenticator_data_count_only_when_they_are_announced(ana):
    extended = replace(ana, flags=0x85).assertion(challenge_of(MESSAGE), more=b"\xa0")
    hidden = ana.assertion(challenge_of(MESSAGE), more=b"\xa0")
    assert asserted_by(extended, MESSAGE, ana.public_key, ana.passkey)
    assert not asserted_by(hidden, MESSAGE, ana.public_key, ana.passkey)


@pytest.mark.parametrize("flags", [0x00, 0x01, 0x04, 0x1C])
def test_without_presence_and_verification_it_shows_nobody(ana, flags):
    assert proof_of(ana.key(), MESSAGE, replace(ana, flags=flags).sign(MESSAGE)) is Proof.ABSENT


@pytest.mark.parametrize("is_rsa", [False, True])
def test_a_person_who_was_verified_is_present(ana, is_rsa):
    key = replace(ana, is_rsa=is_rsa)
    assert proof_of(key.key(), MESSAGE, key.sign(MESSAGE)) is Proof.PRESENT


def test_another_message_another_key_and_a_raw_signature_are_none(ana, software_passkey, signer):
    ben = software_passkey.SoftwarePasskey("ben")
    assert proof_of(ana.key(), b"another", ana.sign(MESSAGE)) is None
    assert proof_of(ben.key(), MESSAGE, ana.sign(MESSAGE)) is None
    assert proof_of(ana.key(), MESSAGE, signer("ana").sign(MESSAGE)) is None


def test_a_credential_of_another_name_is_none_though_the_key_is_the_same(ana):
    moved = ana.assertion(challenge_of(MESSAGE))._replace(credential_id=b"another")
    assert proof_of(ana.key(), MESSAGE, assertion_bytes(moved)) is None


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda d: d + b"\n", id="a_line_end"),
        pytest.param(lambda d: json.dumps(json.loads(d)).encode(), id="spaces"),
        pytest.param(lambda d: d.replace(b'{"', b'{"more":1,"', 1), id="another_member"),
        pytest.param(lambda d: d.replace(b"assertion/v1", b"assertion/v2"), id="another_schema"),
        pytest.param(lambda d: d.replace(b'","signature', b'=","signature'), id="padding"),
        pytest.param(lambda d: d[:-1], id="cut"),
        pytest.param(lambda d: d + b" " * 4096, id="too_large"),
        pytest.param(lambda d: b'{"schema":"govern/passkey-assertion/v1"}', id="empty"),
        pytest.param(lambda d: b'{"schema":' + b"[" * 200, id="deep"),
    ],
)
def test_one_assertion_is_written_in_one_way(ana, spoil):
    written = ana.sign(MESSAGE)
    assert parse_assertion(written) is not None
    assert parse_assertion(spoil(written)) is None


@given(st.binary(max_size=300))
def test_reading_hostile_bytes_raises_nothing(data):
    assert parse_assertion(data) is None
    parse_assertion(b'{"schema":"govern/passkey-assertion/v1",' + data)
    assert not asserted_by(Assertion(data, data, data, data), MESSAGE, data, passkeys.Passkey(data, "x", "y"))
    assert base64url_bytes(base64url(data)) == data


@given(st.data())
def test_no_changed_byte_of_an_assertion_passes(software_passkey, data):
    ana = software_passkey.SoftwarePasskey("ana")
    made = ana.assertion(challenge_of(MESSAGE))
    part = data.draw(st.sampled_from(["authenticator_data", "client_data_json", "signature"]))
    old = getattr(made, part)
    place, bit = data.draw(st.integers(0, len(old) - 1)), data.draw(st.integers(0, 7))
    new = bytes(b ^ (1 << bit if i == place else 0) for i, b in enumerate(old))
    assert not asserted_by(made._replace(**{part: new}), MESSAGE, ana.public_key, ana.passkey)


def test_only_keys_passkeys_have_here_are_sound(ana, signer):
    weak = rsa.generate_private_key(65537, 1024).public_key()
    other = ec.derive_private_key(7, ec.SECP384R1()).public_key()
    for bad in (b"", bytes(32), spki(weak), spki(other), signer("ana").public_key, ana.public_key + b"\0"):
        assert not is_sound_passkey(bad)
    assert is_sound_passkey(ana.public_key)


def test_a_root_with_a_passkey_reads_back_and_shows_its_page(ana, signer, make_root, make_principal):
    root = make_root(make_principal("ana", Role.APPROVER, keys=(ana.key(),)))
    read = read_root(sign_root(root, signer("owner")), root.principals[0].keys[0].fingerprint, _noon())
    (key,) = read.principal("ana").keys
    assert (key, key.passkey.origin) == (ana.key(), "http://localhost:8733")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param({"kind": Kind.SERVICE}, "only a human has a passkey", id="a_service"),
        pytest.param({"roles": {Role.ROOT}}, "signs in a browser", id="the_root"),
        pytest.param({"bad": True}, "neither P-256 nor RSA", id="no_key"),
    ],
)
def test_a_root_refuses_a_passkey_that_cannot_be_one(ana, make_root, make_principal, changed, said):
    key = replace(ana.key(), public_key=bytes(91)) if changed.pop("bad", False) else ana.key()
    roles = changed.pop("roles", set())
    with pytest.raises(UsageError, match=said):
        make_root(make_principal("bob", *roles, keys=(key,), **changed))


def test_a_written_assertion_can_be_a_signature_of_an_envelope(ana):
    assert is_possible(ana.sign(MESSAGE))
    assert not is_possible(b"{" + b" " * 4096)


@pytest.mark.parametrize(
    ("changed", "is_taken"),
    [
        pytest.param({}, True, id="sound"),
        pytest.param({"flags": 0x01}, False, id="not_verified"),
        pytest.param({"origin": "http://localhost:9999"}, False, id="another_page"),
        pytest.param({"rp_id": "evil.example"}, False, id="another_relying_party"),
        pytest.param({"client": {"challenge": base64url(b"x" * 32)}}, False, id="another_challenge"),
    ],
)
def test_the_webauthn_library_takes_and_refuses_the_same(ana, changed, is_taken):
    webauthn = pytest.importorskip("webauthn", reason="the extra webauthn is not installed")
    from webauthn.helpers.cose import COSEAlgorithmIdentifier
    from webauthn.helpers.exceptions import WebAuthnException

    made = replace(ana, **changed).assertion(challenge_of(MESSAGE))
    numbers = ana.private_key.public_key().public_numbers()
    cose = webauthn.helpers.encode_cbor(
        {1: 2, 3: COSEAlgorithmIdentifier.ECDSA_SHA_256, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
    )
    response = {
        "clientDataJSON": base64url(made.client_data_json), "authenticatorData": base64url(made.authenticator_data),
        "signature": base64url(made.signature),
    }  # fmt: skip
    name = base64url(made.credential_id)
    try:
        webauthn.verify_authentication_response(
            credential={"id": name, "rawId": name, "type": "public-key", "response": response},
            expected_challenge=challenge_of(MESSAGE), expected_rp_id="localhost", expected_origin=ana.origin,
            credential_public_key=cose, credential_current_sign_count=0, require_user_verification=True,
        )  # fmt: skip
        theirs = True
    except WebAuthnException:
        theirs = False
    ours = proof_of(ana.key(), MESSAGE, assertion_bytes(made)) is Proof.PRESENT
    assert (ours, theirs) == (is_taken, is_taken)


def _noon():
    from datetime import UTC, datetime

    return datetime(2026, 11, 30, 12, tzinfo=UTC)
