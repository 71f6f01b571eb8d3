"""Fixtures of the gate's tests: a small world of its own for each test."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType


def load(name: str) -> ModuleType:
    """Import a module that lies beside this file."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


gate_world = load("gate_world")
load("rebaseline_steps")


def copied(source: Path, folder: Path, *, shares_lake: bool = False):
    """Copy a world to another folder; with `shares_lake` the tables stay where they are and must not be changed."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("lake") if shares_lake else None)
    config = folder / "trust" / "gate.toml"
    config.write_text(config.read_text().replace(str(source), str(folder)))
    world = gate_world.World(folder)
    world.lake = gate_world.Lake(source / "lake") if shares_lake else world.lake
    world.stored = {("r1", table): rows for table, rows in gate_world.round_rows("r1").items()}
    return world


@pytest.fixture(scope="session")
def stages(tmp_path_factory):
    """Worlds made once, because copying costs less: with round r1, asked about it at noon, approved by ana at noon."""
    root = tmp_path_factory.mktemp("stages")
    gate_world.World.create(root / "made").make_round()
    asked = copied(root / "made", root / "asked")
    request = asked.request()
    approved = copied(root / "asked", root / "approved")
    approved.decide(request)
    return root


@pytest.fixture
def copies(stages, tmp_path):
    """Give a function that makes another world of its own, at a stage: made, asked or approved."""
    numbers = itertools.count()

    def copy(stage="made", *, shares_lake=False):
        return copied(stages / stage, tmp_path / f"world-{next(numbers)}", shares_lake=shares_lake)

    return copy


@pytest.fixture
def world(copies):
    """A world with round r1, nothing asked yet."""
    return copies()


@pytest.fixture
def asked(copies):
    """A world in which a decision on r1 was asked for at noon; `asked.id` is the request."""
    world = copies("asked")
    world.id = world.history().requests[0].request_id
    return world


@pytest.fixture
def approved(copies):
    """A world in which ana has approved r1 at noon; `approved.decision` is her decision."""
    world = copies("approved")
    world.id = world.history().requests[0].request_id
    world.decision = world.history().decisions[0].decision_id
    return world


@pytest.fixture
def scenario():
    """Give the module that plays vectors."""
    return load("scenario")
