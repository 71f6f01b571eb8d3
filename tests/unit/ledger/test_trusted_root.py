"""The ledger remembers the highest version of the trust root, and no older one is believed again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from governance_pipeline.ledger.trusted_root import (
    TRUST_ROOT,
    remember_root,
    seen_root,
    trusted_root,
    unusable_roots,
)
from governance_pipeline.trust.config import GateConfig
from governance_pipeline.trust.keys import KeyFileSigner, fingerprint
from governance_pipeline.trust.principals import Kind, Principal
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root import first_root
from governance_pipeline.trust.root_document import SeenRoot, root_sha256, sign_root

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SIGNER = KeyFileSigner(Ed25519PrivateKey.from_private_bytes(bytes(32)), is_encrypted=False)
PIN = fingerprint(SIGNER.public_key)
FIRST = first_root("owner", SIGNER.public_key, NOON + timedelta(days=1))


def _grown(name: str):
    return FIRST.with_principal(Principal(name, Kind.AGENT, name))


def test_nothing_was_seen_in_an_empty_ledger(ledger):
    assert seen_root(ledger, PIN) is None


def test_versions_are_recorded_once_and_the_highest_counts(ledger):
    second = _grown("coder-5")
    for root in (FIRST, second, FIRST):
        remember_root(ledger, root, actor="owner", ts=NOON)
    assert [e.body["version"] for e in ledger.events(types={TRUST_ROOT})] == [1, 2]
    assert seen_root(ledger, PIN) == SeenRoot(2, root_sha256(second))


@pytest.mark.parametrize(
    "body", [{}, {"version": 2}, {"version": "9", "sha256": "x"}, {"version": True, "sha256": "x"}]
)
def test_an_event_that_names_no_version_is_named_and_changes_nothing(ledger, body):
    remember_root(ledger, FIRST, actor="owner", ts=NOON)
    junk = ledger.append(TRUST_ROOT, "forger", body, ts=NOON)
    assert seen_root(ledger, PIN) == SeenRoot(1, root_sha256(FIRST))
    assert [(fault.seq, fault.code) for fault in unusable_roots(ledger)] == [(junk.seq, "unusable")]


def test_two_roots_with_one_version_are_not_both_recorded(ledger):
    remember_root(ledger, _grown("coder-5"), actor="owner", ts=NOON)
    with pytest.raises(Refusal) as refused:
        remember_root(ledger, _grown("coder-6"), actor="owner", ts=NOON)
    assert refused.value.code is ReasonCode.ROOT_ROLLBACK


def test_an_older_root_put_back_is_refused(ledger, tmp_path):
    path = tmp_path / "root.json"
    config = GateConfig(path, PIN, ledger.path, None, tmp_path / "gate.toml")
    path.write_bytes(sign_root(FIRST, SIGNER))
    assert trusted_root(config, ledger, NOON) == FIRST
    remember_root(ledger, _grown("coder-5"), actor="owner", ts=NOON)
    with pytest.raises(Refusal) as refused:
        trusted_root(config, ledger, NOON)
    assert refused.value.code is ReasonCode.ROOT_ROLLBACK


def _remember(ledger, root, signer=SIGNER):
    remember_root(ledger, root, actor="owner", ts=NOON, data=sign_root(root, signer), pinned=PIN)


def test_a_version_nobody_signed_keeps_no_signed_one_from_counting(ledger):
    _remember(ledger, FIRST)
    forged = ledger.append(TRUST_ROOT, "forger", {"version": 2**53 - 1, "sha256": "f" * 64}, ts=NOON)
    assert seen_root(ledger, PIN) == SeenRoot(1, root_sha256(FIRST))
    assert [fault.seq for fault in unusable_roots(ledger, PIN)] == [forged.seq]


def test_a_version_another_key_signed_counts_for_nothing(ledger):
    other = KeyFileSigner(Ed25519PrivateKey.from_private_bytes(bytes([1] * 32)), is_encrypted=False)
    theirs = first_root("owner", other.public_key, NOON + timedelta(days=1)).with_principal(
        Principal("x", Kind.AGENT, "x")
    )
    _remember(ledger, FIRST)
    body = {"version": 2, "sha256": root_sha256(theirs), "envelope": sign_root(theirs, other).decode()}
    ledger.append(TRUST_ROOT, "forger", body, ts=NOON)
    assert seen_root(ledger, PIN) == SeenRoot(1, root_sha256(FIRST))


def test_an_event_that_names_other_bytes_than_it_holds_counts_for_nothing(ledger):
    _remember(ledger, FIRST)
    body = {"version": 7, "sha256": "f" * 64, "envelope": sign_root(FIRST, SIGNER).decode()}
    ledger.append(TRUST_ROOT, "forger", body, ts=NOON)
    assert seen_root(ledger, PIN) == SeenRoot(1, root_sha256(FIRST))


def test_nobody_takes_the_place_of_a_version_before_it_is_recorded(ledger):
    second = _grown("coder-5")
    _remember(ledger, FIRST)
    for key in ("trust-root:2", f"trust-root:2:{root_sha256(second)}"):
        ledger.append(TRUST_ROOT, "forger", {"version": 2, "sha256": "f" * 64}, ts=NOON, unique=key)
    _remember(ledger, second)
    _remember(ledger, second)
    assert seen_root(ledger, PIN) == SeenRoot(2, root_sha256(second))
    assert sum("envelope" in e.body for e in ledger.events(types={TRUST_ROOT})) == 2


def test_two_signed_roots_with_one_version_are_not_both_recorded(ledger):
    _remember(ledger, _grown("coder-5"))
    with pytest.raises(Refusal) as refused:
        _remember(ledger, _grown("coder-6"))
    assert refused.value.code is ReasonCode.ROOT_ROLLBACK


def test_a_ledger_of_before_counts_as_it_did_until_a_signed_version_is_recorded(ledger, tmp_path):
    path = tmp_path / "root.json"
    config = GateConfig(path, PIN, ledger.path, None, tmp_path / "gate.toml")
    path.write_bytes(sign_root(FIRST, SIGNER))
    ledger.append(TRUST_ROOT, "owner", {"version": 9, "sha256": "f" * 64}, ts=NOON)
    with pytest.raises(Refusal, match="version 9"):
        trusted_root(config, ledger, NOON)
    assert trusted_root(config, ledger, NOON, is_record_forged=True) == FIRST
    _remember(ledger, FIRST)
    assert trusted_root(config, ledger, NOON) == FIRST
    assert unusable_roots(ledger, PIN) == []


def test_the_owners_word_does_not_undo_a_signed_record(ledger, tmp_path):
    path = tmp_path / "root.json"
    config = GateConfig(path, PIN, ledger.path, None, tmp_path / "gate.toml")
    path.write_bytes(sign_root(FIRST, SIGNER))
    _remember(ledger, _grown("coder-5"))
    with pytest.raises(Refusal) as refused:
        trusted_root(config, ledger, NOON, is_record_forged=True)
    assert refused.value.code is ReasonCode.ROOT_ROLLBACK
