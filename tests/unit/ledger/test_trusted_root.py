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
FIRST = first_root("owner", SIGNER.public_key, NOON + timedelta(days=1))


def _grown(name: str):
    return FIRST.with_principal(Principal(name, Kind.AGENT, name))


def test_nothing_was_seen_in_an_empty_ledger(ledger):
    assert seen_root(ledger) is None


def test_versions_are_recorded_once_and_the_highest_counts(ledger):
    second = _grown("coder-5")
    for root in (FIRST, second, FIRST):
        remember_root(ledger, root, actor="owner", ts=NOON)
    assert [e.body["version"] for e in ledger.events(types={TRUST_ROOT})] == [1, 2]
    assert seen_root(ledger) == SeenRoot(2, root_sha256(second))


@pytest.mark.parametrize(
    "body", [{}, {"version": 2}, {"version": "9", "sha256": "x"}, {"version": True, "sha256": "x"}]
)
def test_an_event_that_names_no_version_is_named_and_changes_nothing(ledger, body):
    remember_root(ledger, FIRST, actor="owner", ts=NOON)
    junk = ledger.append(TRUST_ROOT, "forger", body, ts=NOON)
    assert seen_root(ledger) == SeenRoot(1, root_sha256(FIRST))
    assert [(fault.seq, fault.code) for fault in unusable_roots(ledger)] == [(junk.seq, "unusable")]


def test_two_roots_with_one_version_are_not_both_recorded(ledger):
    remember_root(ledger, _grown("coder-5"), actor="owner", ts=NOON)
    with pytest.raises(Refusal) as refused:
        remember_root(ledger, _grown("coder-6"), actor="owner", ts=NOON)
    assert refused.value.code is ReasonCode.ROOT_ROLLBACK


def test_an_older_root_put_back_is_refused(ledger, tmp_path):
    path = tmp_path / "root.json"
    config = GateConfig(path, fingerprint(SIGNER.public_key), ledger.path, None, tmp_path / "gate.toml")
    path.write_bytes(sign_root(FIRST, SIGNER))
    assert trusted_root(config, ledger, NOON) == FIRST
    remember_root(ledger, _grown("coder-5"), actor="owner", ts=NOON)
    with pytest.raises(Refusal) as refused:
        trusted_root(config, ledger, NOON)
    assert refused.value.code is ReasonCode.ROOT_ROLLBACK
