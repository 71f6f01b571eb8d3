"""`govern gate plan-backfill`: exactly the approved rounds, each other one with its reason, and nothing is used."""

from __future__ import annotations

import importlib.util
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.gate.documents import document_fault


def _world_module():
    if "gate_world" not in sys.modules:
        file = Path(__file__).parents[1] / "gate" / "gate_world.py"
        spec = importlib.util.spec_from_file_location("gate_world", file)
        module = importlib.util.module_from_spec(spec)
        sys.modules["gate_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["gate_world"]


gate_world = _world_module()


@pytest.fixture
def world(tmp_path):
    """A world with three rounds: one approved, one that waits, one nobody asked about."""
    world = gate_world.World.create(tmp_path / "world")
    now = datetime.now(UTC)
    for name in ("r1", "r2", "r3"):
        world.make_round(name)
    world.decide(world.request("r1", now=now), now=now)
    world.request("r2", now=now)
    return world


@pytest.fixture
def plan(world, capsys):
    """Run the command; gives exit code and stdout."""

    def _plan(*arguments):
        code = run(
            ["gate", "plan-backfill", *arguments, "--lake", str(world.lake.root), "--config", str(world.config_path)]
        )
        return code, capsys.readouterr().out

    return _plan


def test_each_round_is_in_one_list_and_nothing_is_used(plan, world):
    before = world.ledger.size()
    code, out = plan("--json")
    document = json.loads(out)
    assert document_fault("gate-plan-v1", document) is None
    assert (code, document["open"], document["published"]) == (0, ["r1"], [])
    assert [(one["round_id"], one["code"]) for one in document["closed"]] == [("r2", "MISSING"), ("r3", "MISSING")]
    assert world.ledger.size() == before


def test_partitions_are_what_a_launch_takes(plan):
    assert plan("--partitions") == (0, "r1\n")
    assert plan("--partitions", "r2", "r3") == (0, "\n")


def test_a_published_round_is_said_to_be_one(plan, world):
    now = datetime.now(UTC)
    for asset in (gate_world.FEATURES, gate_world.REPORT):
        world.guard(asset, now=now)
    assert "r1: published already" in plan()[1]


def test_an_unknown_gate_is_a_usage_error(plan):
    assert plan("--gate", "nowhere") == (2, "")
