"""A trust root is believed by the pinned key and never in an older version."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.canonical import canonical_json
from governance_pipeline.trust import dsse
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.principals import Key, Kind, Role, Validity
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root import Revocation
from governance_pipeline.trust.root_document import (
    ROOT_PAYLOAD_TYPE,
    SeenRoot,
    load_root,
    read_root,
    root_document,
    root_sha256,
    sign_root,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def pinned(signer):
    return fingerprint(signer("owner").public_key)


@pytest.fixture
def full_root(make_principal, make_root, signer):
    times = Validity(NOON - timedelta(days=1), NOON + timedelta(days=9))
    return make_root(
        make_principal("ana", Role.APPROVER, Role.DISMISSER, aliases=("Ana Díaz",), validity=times),
        make_principal("coder-5", kind=Kind.AGENT, controller="ana", keys=()),
        make_principal("checker", Role.VALIDATOR, kind=Kind.VALIDATOR, keys=(Key(signer("c").public_key, times),)),
        is_throwaway=True,
        thresholds={Role.APPROVER: 2},
        revocations=(Revocation(fingerprint(signer("ana").public_key), NOON, "lost"),),
    )


def _code(action) -> ReasonCode:
    with pytest.raises(Refusal) as refused:
        action()
    return refused.value.code


def _signed(document, signer) -> bytes:
    return dsse.sign(canonical_json(document), ROOT_PAYLOAD_TYPE, signer)


def test_a_signed_root_is_read_back_whole(full_root, signer, pinned):
    assert read_root(sign_root(full_root, signer("owner")), pinned, NOON) == full_root


def test_only_a_root_principal_signs_a_root(full_root, signer):
    with pytest.raises(UsageError, match="role root"):
        sign_root(full_root, signer("ana"))


def test_a_root_with_an_agent_that_added_itself_is_refused(full_root, signer, pinned, make_principal):
    grown = full_root.with_principal(make_principal("mallory", Role.APPROVER))
    envelope = dsse.parse_envelope(sign_root(full_root, signer("owner")))
    document = canonical_json(root_document(grown))
    forged = dsse.envelope_bytes(envelope._replace(payload=document))
    assert _code(lambda: read_root(forged, pinned, NOON)) is ReasonCode.BAD_SIGNATURE
    own = dsse.sign(document, ROOT_PAYLOAD_TYPE, signer("mallory"))
    assert _code(lambda: read_root(own, pinned, NOON)) is ReasonCode.BAD_SIGNATURE


def test_a_whole_root_of_somebody_else_is_untrusted(full_root, signer, pinned):
    other = sign_root(full_root, signer("owner"))
    assert _code(lambda: read_root(other, fingerprint(signer("me").public_key), NOON)) is ReasonCode.UNTRUSTED_KEY


def test_the_pinned_key_must_have_the_role_root(make_root, make_principal, signer):
    root = make_root(make_principal("ana", Role.APPROVER))
    wire = dsse.sign(canonical_json(root_document(root)), ROOT_PAYLOAD_TYPE, signer("ana"))
    assert _code(lambda: read_root(wire, fingerprint(signer("ana").public_key), NOON)) is ReasonCode.UNTRUSTED_KEY


def test_a_revoked_root_key_is_refused(make_root, signer, pinned):
    root = make_root().with_revocation(Revocation(pinned, NOON, "lost"))
    wire = sign_root(root, signer("owner"))
    assert _code(lambda: read_root(wire, pinned, NOON)) is ReasonCode.REVOKED_KEY


def test_a_root_ends_at_its_expiry(make_root, signer, pinned):
    root = make_root()
    wire = sign_root(root, signer("owner"))
    assert read_root(wire, pinned, root.expires - timedelta(microseconds=1))
    assert _code(lambda: read_root(wire, pinned, root.expires)) is ReasonCode.EXPIRED


def test_a_root_never_goes_back(make_root, make_principal, signer, pinned):
    first = make_root()
    second = first.with_principal(make_principal("ana", Role.APPROVER))
    fork = first.with_principal(make_principal("ben", Role.APPROVER))
    seen = SeenRoot(2, root_sha256(second))
    assert read_root(sign_root(second, signer("owner")), pinned, NOON, seen=seen) == second
    for older in (first, fork):
        wire = sign_root(older, signer("owner"))
        assert _code(lambda wire=wire: read_root(wire, pinned, NOON, seen=seen)) is ReasonCode.ROOT_ROLLBACK
    third = second.with_principal(make_principal("ben", Role.APPROVER))
    assert read_root(sign_root(third, signer("owner")), pinned, NOON, seen=seen).version == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(schema="govern/trust-root/v2"),
        lambda d: d.update(version=0),
        lambda d: d.update(version=1.5),
        lambda d: d.update(expires="2027-11-30T12:00:00Z"),
        lambda d: d.update(expires="2027-13-30T12:00:00.000000Z"),
        lambda d: d.update(is_throwaway="no"),
        lambda d: d.update(more=1),
        lambda d: d.pop("thresholds"),
        lambda d: d.update(thresholds={"approver": 0}),
        lambda d: d.update(thresholds={"king": 1}),
        lambda d: d["principals"][1].update(kind="person"),
        lambda d: d["principals"][1].update(roles=["king"]),
        lambda d: d["principals"][1].update(roles=["approver", "approver"]),
        lambda d: d["principals"][1].update(aliases=["owner"]),
        lambda d: d["principals"][1]["keys"].append({**d["principals"][0]["keys"][0]}),
        lambda d: d["principals"][1]["keys"][0].update(type="rsa"),
        lambda d: d["principals"][1]["keys"][0].update(public_key="AAAA"),
        lambda d: d["principals"][2].update(roles=["approver"]),
        lambda d: d["revocations"][0].update(reason=""),
    ],
)
def test_a_root_that_breaks_a_rule_is_malformed_even_if_it_is_signed(full_root, signer, pinned, change):
    document = root_document(full_root)
    change(document)
    assert _code(lambda: read_root(_signed(document, signer("owner")), pinned, NOON)) is ReasonCode.MALFORMED


def test_another_spelling_of_the_same_root_is_malformed(full_root, signer, pinned):
    spaced = json.dumps(root_document(full_root), indent=1).encode()
    wire = dsse.sign(spaced, ROOT_PAYLOAD_TYPE, signer("owner"))
    assert _code(lambda: read_root(wire, pinned, NOON)) is ReasonCode.MALFORMED


def test_a_signature_made_for_another_type_does_not_count(full_root, signer, pinned):
    other = dsse.sign(canonical_json(root_document(full_root)), "application/vnd.in-toto+json", signer("owner"))
    assert _code(lambda: read_root(other, pinned, NOON)) is ReasonCode.WRONG_TYPE
    moved = dsse.envelope_bytes(dsse.parse_envelope(other)._replace(payload_type=ROOT_PAYLOAD_TYPE))
    assert _code(lambda: read_root(moved, pinned, NOON)) is ReasonCode.BAD_SIGNATURE


@pytest.mark.parametrize("principals", [None, 1, [None], [{"keys": 1}], [{"keys": [{"public_key": "\u00e9"}]}]])
def test_a_shapeless_root_is_refused_without_a_crash(signer, pinned, principals):
    wire = _signed({"principals": principals}, signer("owner"))
    assert _code(lambda: read_root(wire, pinned, NOON)) is ReasonCode.UNTRUSTED_KEY


def test_a_root_too_large_to_be_read_again_is_not_written(make_root, make_principal, signer):
    many = [make_principal(f"agent-{n:05}-{'x' * 150}", kind=Kind.AGENT, keys=()) for n in range(120)]
    with pytest.raises(UsageError, match="at most"):
        sign_root(make_root(*many), signer("owner"))


@pytest.mark.parametrize(
    "more",
    [
        {"aliases": ("qq", "qq")},
        {"aliases": ("x" * 201,)},
        {"controller": "x" * 201},
        {"aliases": tuple(f"name {n}" for n in range(101))},
    ],
)
def test_a_root_is_signed_only_when_a_reader_takes_it(make_root, make_principal, signer, more):
    with pytest.raises(UsageError, match="no reader would take"):
        sign_root(make_root(make_principal("ana", keys=(), **more)), signer("owner"))


def test_a_signed_root_with_a_key_of_small_order_is_refused(full_root, signer, pinned):
    document = root_document(full_root)
    document["principals"][1]["keys"][0]["public_key"] = base64.b64encode(b"\x01" + bytes(31)).decode()
    assert _code(lambda: read_root(_signed(document, signer("owner")), pinned, NOON)) is ReasonCode.MALFORMED


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_root_that_others_can_write_is_refused(tmp_path, full_root, signer, pinned, mode):
    path = tmp_path / "root.json"
    path.write_bytes(sign_root(full_root, signer("owner")))
    path.chmod(mode)
    with pytest.raises(UsageError, match="written by others"):
        load_root(path, pinned, NOON)
    path.chmod(0o600)
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="chmod 700"):
        load_root(path, pinned, NOON)


def test_the_file_of_a_root_must_be_a_file(tmp_path, full_root, signer, pinned):
    path = tmp_path / "root.json"
    with pytest.raises(UsageError, match="not_found"):
        load_root(path, pinned, NOON)
    path.write_bytes(sign_root(full_root, signer("owner")))
    assert load_root(path, pinned, NOON) == full_root
    (tmp_path / "link.json").symlink_to(path)
    with pytest.raises(UsageError, match="symlink"):
        load_root(tmp_path / "link.json", pinned, NOON)
    path.write_bytes(b" " * (dsse.ENVELOPE_BYTES + 1))
    assert _code(lambda: load_root(path, pinned, NOON)) is ReasonCode.TOO_LARGE


def test_public_keys_are_written_as_base64_of_the_raw_bytes(full_root, signer):
    document = root_document(full_root)
    assert base64.b64decode(document["principals"][0]["keys"][0]["public_key"]) == signer("owner").public_key
