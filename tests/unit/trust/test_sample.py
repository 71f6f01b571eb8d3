"""The planted faults of the sample are found, and its honest validators pass."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from governance_pipeline.contracts.registry import validate
from governance_pipeline.ingest.round import read_round
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.trust.independence import independence
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.principals import Key, Kind, Principal, Role
from governance_pipeline.trust.root import first_root
from governance_pipeline.trust.stored_envelopes import envelopes_in

SAMPLE = Path(__file__).parents[3] / "data" / "sample"
ROUNDS = [p.parent.name for p in sorted((SAMPLE / "rounds").glob("*/attestations.jsonl"))]
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
OPTIONAL = ("core_changes", "core_file_changes", "core_declared", "core_evidence")


def _public_key(secret: bytes) -> bytes:
    key = Ed25519PrivateKey.from_private_bytes(secret).public_key()
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Give the tables of all rounds with an attestation, their store, and what must be found."""
    store = ContentStore(tmp_path_factory.mktemp("store"))
    read = [read_round(SAMPLE / "rounds" / name, name, store).frames for name in ROUNDS]
    tables = {table: pd.concat([frames[table] for frames in read], ignore_index=True) for table in read[0]}
    return tables, store, json.loads((SAMPLE / "expected.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def root(sample):
    """Trust the published keys of the sample, as nobody but a test may."""
    root = first_root("owner", _public_key(bytes(32)), NOON + timedelta(days=1), is_throwaway=True)
    for entry in sample[2]["attesting_keys"]:
        agent = entry["agent_id"]
        public = _public_key(hashlib.sha256(f"governance-pipeline sample key of {agent}".encode()).digest())
        assert fingerprint(public) == entry["key_id"]
        root = root.with_principal(Principal(agent, Kind.AGENT, agent, frozenset({Role.VALIDATOR}), (Key(public),)))
    return root


def _judged(sample, root, **more) -> pd.DataFrame:
    tables, store, _ = sample
    known = {name: tables[name] for name in OPTIONAL} | {"envelope_of": envelopes_in(store)} | more
    frame = independence(tables["core_attestations"], tables["core_runs"], tables["core_steps"], root, NOON, **known)
    return validate("audit_independence", frame)


@pytest.mark.parametrize("trusted", [True, False])
def test_every_planted_fault_is_found_with_and_without_a_trust_root(sample, root, trusted):
    faults = [fault for fault in sample[2]["faults"] if fault["table"] == "audit_independence"]
    assert {fault["fault"] for fault in faults} == {"self_certification", "bare_claim", "validator_descends"}
    frame = _judged(sample, root if trusted else None)
    for fault in faults:
        rows = frame[frame["round_id"] == fault["round_id"]]
        for column, value in fault["where"].items():
            rows = rows[(rows[column] == value).fillna(False)]
        assert len(rows) == fault["count"], fault["id"]


def test_the_honest_validators_of_clean_rounds_are_independent_of_every_producer(sample, root):
    frame = _judged(sample, root)
    clean = frame[frame["round_id"].isin(sample[2]["clean_rounds"])]
    assert clean["round_id"].nunique() == 3
    assert clean["is_independent"].eq(True).all()


def test_without_a_trust_root_no_validator_is_independent(sample):
    assert not _judged(sample, None)["is_independent"].fillna(False).any()


def test_without_the_tables_that_show_changes_no_validator_is_independent(sample, root):
    tables, store, _ = sample
    frame = independence(
        tables["core_attestations"],
        tables["core_runs"],
        tables["core_steps"],
        root,
        NOON,
        envelope_of=envelopes_in(store),
    )
    passed = frame.assign(passed=frame["is_independent"].fillna(False)).groupby("round_id")["passed"].all()
    assert not passed.any()


def test_a_damaged_copy_of_the_attestations_leaves_the_signature_undecided(sample, root, tmp_path):
    tables, _, _ = sample
    store = ContentStore(tmp_path)
    for name in ROUNDS:
        kept = store.keep(SAMPLE / "rounds" / name / "attestations.jsonl")
        path = store.path(kept.sha256)
        path.chmod(0o600)
        path.write_bytes(path.read_bytes().replace(b"payload", b"Payload", 1))
    frame = _judged((tables, store, None), root)
    envelopes = frame[frame["form"] == "envelope"]
    assert envelopes["is_signature_verified"].isna().all()
    assert not frame["is_independent"].fillna(False).any()


def test_a_line_that_is_not_there_has_no_envelope(sample):
    tables, store, _ = sample
    digest = tables["core_attestations"].iloc[0]["file_sha256"]
    envelope_of = envelopes_in(store)
    assert envelope_of(digest, 1) is not None
    assert envelope_of(digest, 99) is None
    assert envelope_of(digest, None) is None
    assert envelope_of("00" * 32, 1) is None
