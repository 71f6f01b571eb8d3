"""The whole thread on rounds of the sample: made, asked about, one approved and published, the others refused."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from governance_pipeline.contracts.registry import validate
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.publication import publish
from governance_pipeline.gate.published import unaccounted_files
from governance_pipeline.gate.tables import gate_requests, gate_states
from governance_pipeline.pipeline import TABLES, Trust
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.workspace import Workspace

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample" / "rounds"
CLEAN, SELF_CERTIFIED, MISMATCH, OTHER = "parser-0001", "billing-0004", "billing-0003", "parser-0003"
ROUNDS = [CLEAN, SELF_CERTIFIED, MISMATCH, OTHER]
GATED = ("published_round_report", "published_features")


@pytest.fixture(scope="module")
def gate_world():
    if "gate_world" not in sys.modules:
        path = ROOT / "tests" / "unit" / "gate" / "gate_world.py"
        spec = importlib.util.spec_from_file_location("gate_world", path)
        sys.modules["gate_world"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["gate_world"])
    return sys.modules["gate_world"]


@pytest.fixture(scope="module")
def world(gate_world, tmp_path_factory):
    world = gate_world.World.create(tmp_path_factory.mktemp("sample") / "world")
    tables = [table for table in TABLES if not table.startswith(("gate_", "published_"))]
    trust = Trust(world.verifier().root, gate_world.NOON)
    Workspace(SAMPLE, world.lake.root, trust).make(tables, ROUNDS)
    world.request(*ROUNDS)
    return world


def test_only_the_approved_round_is_published_and_each_other_one_is_named_with_its_reason(world, gate_world):
    requests = {r.round_id: r.request_id for r in world.history().requests}
    for refused in (SELF_CERTIFIED, MISMATCH):
        with pytest.raises(Refusal, match=r"NOT_INDEPENDENT|BLOCKED_POLICY"):
            world.decide(requests[refused])
    world.decide(requests[CLEAN], reason="every number agrees")
    later = gate_world.NOON + gate_world.HOUR
    for asset in GATED:
        with pytest.raises(Refusal, match="MISSING"):
            world.guard(asset, *ROUNDS, now=later)
        assert world.lake.rounds(asset) == []
        (release,) = world.guard(asset, CLEAN, now=later)
        publish(release, now=lambda: later)
        assert world.lake.rounds(asset) == [CLEAN]
        validate(asset, world.lake.get(asset, CLEAN))
    assert unaccounted_files(world.lake, world.history()) == []
    states = gate_states(PUBLISH, ROUNDS, world.verifier(later), later)
    assert [(s.round_id, s.is_open) for s in states] == [(r, r == CLEAN) for r in ROUNDS]
    table = validate("gate_requests", gate_requests(ROUNDS, world.verifier(later), later))
    assert dict(zip(table["round_id"], table["state"], strict=True)) == {
        CLEAN: "CONSUMED", SELF_CERTIFIED: "BLOCKED_POLICY", MISMATCH: "BLOCKED_POLICY", OTHER: "PENDING",
    }  # fmt: skip
