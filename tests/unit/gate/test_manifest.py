"""A manifest is one digest over everything a gate releases; nothing that matters can change without changing it."""

from __future__ import annotations

import os

import pytest

from governance_pipeline.contracts.registry import REGISTRY, is_by_round
from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.code_digest import gate_code_sha256
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.gate.gates import GATES, PUBLISH, UPSTREAM, gate_of, gate_of_asset
from governance_pipeline.gate.inputs import digests_in_force, read_inputs
from governance_pipeline.gate.manifest import PolicyRef, keep_manifest, kept_manifest, manifest_of
from governance_pipeline.pipeline import TABLES
from governance_pipeline.strict.canonical import canonical_json, sha256_hex

POLICY = PolicyRef("1", "a" * 64)
CODE = "b" * 64


def _manifest(world, round_id="r1", policy=POLICY, code=CODE):
    return manifest_of(read_inputs(PUBLISH, round_id, world.lake), policy, code)


def test_it_is_canonical_json_of_its_schema_and_its_digest_is_over_these_bytes(world):
    manifest = _manifest(world)
    assert document_fault("gate-manifest-v1", dict(manifest.document)) is None
    assert manifest.bytes == canonical_json(dict(manifest.document))
    assert manifest.sha256 == sha256_hex(manifest.bytes)
    assert _manifest(world).bytes == manifest.bytes


def test_it_names_the_file_of_every_upstream_table(world):
    named = {table["table"]: (table["sha256"], table["rows"]) for table in _manifest(world).document["upstream"]}
    assert tuple(named) == UPSTREAM
    for table, (digest, rows) in named.items():
        assert digest == world.lake.digest(table, "r1")
        assert rows == len(world.lake.get(table, "r1"))


@pytest.mark.parametrize(
    "changes",
    [
        {"surface": 3.0000000000000004},
        {"message": "another message"},
        {"verdict": "warn"},
        {"mismatch": True},
        {"agents": ("coder-2",)},
        {"validator": "checker"},
    ],
    ids=str,
)
def test_whatever_changes_upstream_changes_it(world, changes):
    before = _manifest(world).sha256
    world.make_round(**changes)
    assert _manifest(world).sha256 != before


def test_policy_code_and_round_change_it(world):
    world.make_round("r2")
    digests = {
        _manifest(world).sha256,
        _manifest(world, "r2").sha256,
        _manifest(world, policy=PolicyRef("2", "a" * 64)).sha256,
        _manifest(world, policy=PolicyRef("1", "c" * 64)).sha256,
        _manifest(world, code="c" * 64).sha256,
    }
    assert len(digests) == 5


def test_claims_carry_both_values_the_tolerance_and_the_place(world):
    world.make_round(mismatch=True)
    (claim,) = _manifest(world).document["claims"]
    assert (claim["declared"], claim["computed"], claim["delta"], claim["epsilon"]) == ("10", "9", "1", "0.005")
    assert claim["evidence"]["path"] == "logs/a.jsonl"
    assert claim["evidence"]["line"] == 1
    assert claim["evidence"]["pointer"] == "/cost"


def test_a_validator_counts_as_independent_only_when_every_row_says_so(world):
    for independent in (True, False, None):
        world.make_round(validator="checker", independent=independent)
        (said,) = _manifest(world).document["validators"]
        assert said["is_independent"] is independent


def test_a_round_without_its_verdict_has_no_manifest(world):
    world.lake.put("verdict_rounds", "r1", world.lake.get("verdict_rounds", "r1").iloc[0:0])
    with pytest.raises(StorageError, match="verdict_rounds has 0 rows of round r1, not one"):
        _manifest(world)


def test_a_damaged_or_missing_table_is_no_input(world):
    path = world.lake.path("core_runs", "r1")
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(data[:-1])
    with pytest.raises(StorageError, match="is damaged"):
        read_inputs(PUBLISH, "r1", world.lake)
    with pytest.raises(StorageError, match="raw_log_files of round r2 is not in the lake"):
        read_inputs(PUBLISH, "r2", world.lake)
    assert set(digests_in_force(PUBLISH, "r2", world.lake).values()) == {None}


def test_a_kept_manifest_comes_back_and_is_written_once(world):
    manifest = _manifest(world)
    path = keep_manifest(world.lake, manifest)
    written = path.stat().st_mtime_ns
    assert keep_manifest(world.lake, manifest).stat().st_mtime_ns == written
    assert kept_manifest(world.lake, manifest.sha256).document == manifest.document


def test_a_damaged_copy_is_replaced_when_it_is_kept_again(world):
    manifest = _manifest(world)
    path = keep_manifest(world.lake, manifest)
    for spoil in (path.unlink, lambda: _replaced(path, b"{}"), lambda: (path.unlink(), os.mkfifo(path))):
        spoil()
        with pytest.raises(StorageError, match=r"manifest|regular"):
            kept_manifest(world.lake, manifest.sha256)
        keep_manifest(world.lake, manifest)
        assert kept_manifest(world.lake, manifest.sha256).bytes == manifest.bytes


def _replaced(path, data):
    path.unlink()
    path.write_bytes(data)


def test_the_gate_binds_every_table_that_is_kept_of_a_round():
    assert tuple(table for table in TABLES if is_by_round(table)) == UPSTREAM


def test_gates_release_tables_that_exist_and_read_no_gated_one():
    for gate in GATES.values():
        assert set(gate.assets) | set(gate.upstream) <= set(REGISTRY)
        assert not {t for t in gate.upstream if t.startswith(("gate_", "published_"))}
        for asset in gate.assets:
            assert gate_of_asset(asset) is gate
    with pytest.raises(UsageError, match="there is no gate"):
        gate_of("deploy")
    with pytest.raises(UsageError, match="no gate releases"):
        gate_of_asset("core_runs")


def test_the_digest_of_the_code_is_that_of_every_file_that_decides(root):
    from importlib import resources

    from governance_pipeline.gate import code_digest

    package = resources.files("governance_pipeline")
    found = [path for name in code_digest.PACKAGES for path, _ in code_digest._files(package / name, name)]
    assert {"gate/guard.py", "trust/dsse.py", "ledger/ledger.py", "gate/policy/gate-policy-1.json"} <= set(found)
    assert [path for path in found if "__pycache__" in path] == []
    assert len(gate_code_sha256()) == 64
