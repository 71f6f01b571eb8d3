"""A governed project with a trust root, a ledger and a gated round, and every step of a re-baseline as one call."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from governance_pipeline.framework.folder import GovernedFolder
from governance_pipeline.framework.rebaseline import rederiving
from governance_pipeline.framework.rebaseline.declaring import declare, freeze
from governance_pipeline.framework.rebaseline.measurement import measure
from governance_pipeline.framework.rebaseline.protocol import Project, progress_now
from governance_pipeline.framework.rebaseline.recording import record
from governance_pipeline.framework.rebaseline.rederiving import rederive
from governance_pipeline.framework.rebaseline.reissuing import reissue
from governance_pipeline.framework.rebaseline.resuming import resume
from governance_pipeline.framework.rebaseline.revalidating import Mark, revalidate
from governance_pipeline.framework.registry import Asset, Registry, registry_text
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.ledger.rebaselines import Step

UNIT = Path(__file__).parents[2]
SAMPLE = UNIT.parents[1] / "data" / "sample" / "rounds"


def load(name: str, place: Path):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


gate_world = load("gate_world", UNIT / "gate" / "gate_world.py")


class House:
    """A folder, its world, and a clock that a test moves."""

    def __init__(self, root: Path, *, is_new: bool = True) -> None:
        self.root, self.now = root, gate_world.NOON
        if is_new:
            self.world = gate_world.World.create(root / "gate")
            lay_out(root / "project", plan_of("en"))
        else:
            self.world = gate_world.World(root / "gate")
        self.folder = GovernedFolder(root / "project")

    @functools.cached_property
    def project(self) -> Project:
        return Project(self.folder, self.world.ledger, self.world.verifier(self.now).root, self.tick)

    def tick(self):
        self.now += timedelta(seconds=1)
        return self.now

    def signer(self, who="ana"):
        return gate_world.NamedSigner(who)

    def take(self, step: Step, **how):
        """Take one step in the usual way."""
        calls = {
            Step.DECLARE: lambda: declare(self.project, how.get("scope", "costs are in euro"), self.signer()),
            Step.FREEZE: lambda: freeze(self.project),
            Step.REDERIVE: lambda: rederive(self.project, SAMPLE, [how.get("round", "atlas-0001")]),
            Step.REVALIDATE: lambda: revalidate(self.project, how.get("marks", {})),
            Step.REISSUE: lambda: reissue(self.project, [], "each rule was read and holds for euro too"),
            Step.RECORD: lambda: record(self.project, "nobody asked for the unit", "the unit is a column now"),
            Step.RESUME: lambda: resume(self.project, how.get("version", "2.0.0"), self.signer()),
        }
        return calls[step]()

    def walk(self, to: Step, **how):
        for step in list(Step)[: list(Step).index(to) + 1]:
            self.take(step, **how)
        return self

    def progress(self):
        return progress_now(self.project)

    def register(self, name="sales", text="a,b\n1,2\n"):
        """Put an asset into registry file and ledger."""
        from governance_pipeline.framework.registry_history import project_id
        from governance_pipeline.strict.canonical import sha256_hex
        from governance_pipeline.trust.instants import instant_text

        path, now = self.folder.path(f"data/{name}.csv"), self.tick()
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        sha256 = sha256_hex(text.encode())
        body = {
            "project": project_id(self.folder),
            "name": name,
            "canonical_path": f"data/{name}.csv",
            "sha256": sha256,
        }
        self.world.ledger.append("REGISTRY_ADDED", "ana", body, ts=now)
        registry = Registry((*self.registry().assets, Asset(name, f"data/{name}.csv", sha256, instant_text(now))))
        self.folder.path("03_state/canonical_registry.json").write_bytes(registry_text(registry))
        return path

    def registry(self):
        from governance_pipeline.framework.registry import load_registry

        return load_registry(self.folder.path("03_state/canonical_registry.json"))


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@functools.cache
def _measured(round_ids: tuple[str, ...]):
    return measure(SAMPLE, round_ids)


@pytest.fixture(autouse=True)
def shipped_rounds_measured_once(monkeypatch):
    """Measure the shipped rounds once for all tests; folders a test makes are measured each time."""

    def cached(sample, round_ids):
        return _measured(tuple(round_ids)) if sample == SAMPLE else measure(sample, round_ids)

    monkeypatch.setattr(rederiving, "measure", cached)


@pytest.fixture
def house(tmp_path) -> House:
    return House(tmp_path)


@pytest.fixture(scope="session")
def stages(tmp_path_factory):
    """Give a function that copies a project in which every step up to one was taken, each made once."""
    made: dict[Step | None, Path] = {}

    def stage(step: Step | None, root: Path) -> House:
        if step not in made:
            place = tmp_path_factory.mktemp("stage")
            fresh = House(place)
            if step is not None:
                fresh.walk(step)
            made[step] = place
        # the project is named by its path in the ledger, so the copy goes back to where it was made
        before = made[step]
        kept = root / "kept"
        shutil.copytree(before, kept)
        return Restored(before, kept)

    return stage


class Restored(House):
    """A staged project in its own place; `close` puts back what was there."""

    def __init__(self, place: Path, kept: Path) -> None:
        super().__init__(place, is_new=False)
        self.kept = kept
        self.now = max((event.ts for event in self.world.ledger.events()), default=self.now)

    def close(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self.kept, self.root)


@pytest.fixture
def staged(stages, tmp_path):
    """Give a project at a stage (None: before any step)."""
    opened = []

    def open_stage(step: Step | None) -> House:
        opened.append(stages(step, tmp_path))
        return opened[-1]

    yield open_stage
    for each in opened:
        each.close()


@pytest.fixture
def sample(tmp_path) -> Path:
    """Give a landing folder with a copy of one sample round."""
    shutil.copytree(SAMPLE / "atlas-0001", tmp_path / "landing" / "r-1")
    return tmp_path / "landing"


@pytest.fixture
def marks():
    return Mark
