"""Making a passkey: only one that was made here, by a verified person, and that signs, comes out."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.inbox.enrolment import ALGORITHMS, Enrolment
from governance_pipeline.gate.inbox.entrance import Entrance
from governance_pipeline.gate.inbox.site import Site
from governance_pipeline.trust.passkeys import base64url, base64url_bytes
from governance_pipeline.trust.possession import check_possession
from governance_pipeline.trust.principals import Key
from governance_pipeline.trust.reasons import ReasonCode, Refusal

ROOT = "ab" * 32
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def page(browser_of):
    """The page on which ana's passkey is made, and whether it is over."""
    pytest.importorskip("webauthn", reason="the extra webauthn is not installed")
    entrance, over = Entrance(Site(8733), lambda: NOW), []
    enrolment = Enrolment(entrance, "ana", ROOT, [b"known"], lambda: over.append(True))
    page = browser_of(entrance, enrolment.application()).enter()
    page.enrolment, page.over = enrolment, over
    page.token = page.get("/").text.partition('data-token="')[2].partition('"')[0]
    return page


def _sent(page, path, members):
    answer = page.post(f"/enrolment/{path}", {**members, "token": page.token})
    page.token = answer.json()["token"] or ""
    return answer.json()


def _registered(page, passkey, *, flags=0x45, algorithm=-7, **client):
    """Answer the options with a new credential, as a browser and its authenticator do."""
    from webauthn.helpers import encode_cbor

    options = _sent(page, "options", {})["result"]
    numbers = passkey.private_key.public_key().public_numbers()
    if algorithm == -7:
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
    else:
        cose = {1: 3, 3: -257, -1: numbers.n.to_bytes(256), -2: numbers.e.to_bytes(3)}
    credential = passkey.credential_id
    data = hashlib.sha256(client.pop("rp_id", "localhost").encode()).digest() + bytes((flags,)) + bytes(4)
    data += bytes(range(1, 17)) + len(credential).to_bytes(2) + credential + encode_cbor(cose)
    said = {"type": "webauthn.create", "challenge": options["challenge"], "origin": passkey.origin, **client}
    members = {
        "credential_id": base64url(credential),
        "client_data_json": base64url(json.dumps(said).encode()),
        "attestation_object": base64url(encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})),
    }
    return _sent(page, "credential", members)


def _proved(page, registered, passkey):
    made = passkey.assertion(base64url_bytes(registered["result"]["challenge"]))
    return _sent(page, "proof", {name: base64url(value) for name, value in made._asdict().items()})


@pytest.mark.parametrize(("is_rsa", "algorithm"), [(False, -7), (True, -257)])
def test_a_passkey_that_signs_comes_out_with_a_proof_whoever_adds_it_checks(page, ana, is_rsa, algorithm):
    ana.is_rsa = is_rsa
    answer = _proved(page, _registered(page, ana, algorithm=algorithm), ana)
    made = page.enrolment.enrolled
    assert (answer["code"], page.over) == (None, [True])
    assert (made.public_key, made.passkey) == (ana.public_key, ana.passkey)
    key = Key(made.public_key, passkey=made.passkey)
    check_possession(made.proof, "ana", ROOT, [key])
    for name, root in (("ben", ROOT), ("ana", "cd" * 32)):
        with pytest.raises(Refusal) as refused:
            check_possession(made.proof, name, root, [key])
        assert refused.value.code is ReasonCode.WRONG_CHECKPOINT


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        pytest.param({"flags": 0x41}, "NO_USER_PRESENCE", id="nobody_was_verified"),
        pytest.param({"flags": 0x44}, "NO_USER_PRESENCE", id="nobody_was_there"),
        pytest.param({"origin": "http://localhost:3000"}, "BAD_SIGNATURE", id="another_page"),
        pytest.param({"rp_id": "evil.example"}, "BAD_SIGNATURE", id="another_relying_party"),
        pytest.param({"challenge": base64url(bytes(32))}, "BAD_SIGNATURE", id="another_challenge"),
        pytest.param({"type": "webauthn.get"}, "BAD_SIGNATURE", id="no_registration"),
    ],
)
def test_a_registration_that_was_not_made_here_by_a_verified_person_is_refused(page, ana, wrong, code):
    assert _registered(page, ana, **wrong)["code"] == code
    assert _proved(page, {"result": {"challenge": base64url(bytes(32))}}, ana)["code"] == "REPLAYED"
    assert page.enrolment.enrolled is None


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"flags": 0x01}, "NO_USER_PRESENCE"), ({"origin": "http://localhost:3000"}, "BAD_SIGNATURE")],
)
def test_a_proof_without_a_verified_person_or_of_another_page_is_none(page, ana, software_passkey, changed, code):
    registered = _registered(page, ana)
    answer = _proved(page, registered, software_passkey.SoftwarePasskey("ana", **changed))
    assert (answer["code"], page.enrolment.enrolled, page.over) == (code, None, [])


def test_a_proof_of_another_passkey_is_none(page, ana, pia):
    assert _proved(page, _registered(page, ana), pia)["code"] == "BAD_SIGNATURE"


def test_a_registration_is_read_once(page, ana):
    _registered(page, ana)
    members = {"credential_id": "AA", "client_data_json": "AA", "attestation_object": "AA"}
    assert _sent(page, "credential", members)["code"] == "REPLAYED"


@pytest.mark.parametrize("value", ["", "AA", "!!", "o2NmbXRkbm9uZQ"])
def test_hostile_registrations_are_refused(page, value):
    _sent(page, "options", {})
    members = {"credential_id": "AA", "client_data_json": base64url(b'{"type": 1}'), "attestation_object": value}
    assert _sent(page, "credential", members)["code"] == "BAD_SIGNATURE"


def test_the_options_ask_for_verified_people_kinds_of_key_we_read_and_no_second_credential(page):
    options = _sent(page, "options", {})["result"]
    assert (options["algorithms"], options["known"]) == (list(ALGORITHMS), [base64url(b"known")])
    assert (options["rp_id"], options["name"]) == ("localhost", "ana")


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "webauthn", None)
    with pytest.raises(UsageError, match=r"governance-pipeline\[webauthn\]"):
        Enrolment(Entrance(Site(8733), lambda: NOW), "ana", ROOT, [], lambda: None)


def test_without_its_link_the_page_is_shut(page, browser_of):
    stranger = browser_of(page.entrance, page.application)
    assert stranger.get("/").status_code == 401
    assert stranger.post("/enrolment/options", {"token": "x"}).status_code == 401
