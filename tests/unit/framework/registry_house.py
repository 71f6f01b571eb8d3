"""A governed folder with a gate beside it: the world of the gate's tests, a project, and people who sign."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent


def _load(name: str, place: Path):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


gate_world = _load("gate_world", HERE.parent / "gate" / "gate_world.py")
conftest = _load("framework_folder", HERE / "conftest.py")
NOON, HOUR, digest = gate_world.NOON, gate_world.HOUR, gate_world.digest

ALLOWLIST_HEAD = "| Agent | Action | Scope | Why |\n|---|---|---|---|\n"
TEMPORARY_HEAD = "| Agent | Action | Scope | Start | End or closing condition | Why |\n|---|---|---|---|---|---|\n"


class House:
    """A world without rounds, and a project with an empty registry and allow-list."""

    def __init__(self, root: Path, *, is_new: bool = True) -> None:
        self.root = root
        place = root / "project"
        if is_new:
            self.world = gate_world.World.create(root / "gate")
            self.folder = conftest.make_folder(place)
            self.path("03_state/canonical_registry.json").write_text('{"assets": []}')
            self.allow()
        else:
            from governance_pipeline.framework.folder import GovernedFolder

            self.world = gate_world.World(root / "gate")
            self.folder = GovernedFolder(place)

    def path(self, name: str) -> Path:
        return self.folder.path(name)

    def file(self, name: str, text: str) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def allow(self, standing: str = "", temporary: str = "") -> None:
        """Write the allow-list: rows of its two tables."""
        path = self.path("00_governance/agent_allowlist.md")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# list\n\n{ALLOWLIST_HEAD}{standing}\n\n{TEMPORARY_HEAD}{temporary}\n")

    def verifier(self, now=NOON):
        return self.world.verifier(now)

    def add(self, name: str = "customers", file: str = "data/customers.csv", text: str = "first", now=NOON):
        from governance_pipeline.framework.registry_changes import add

        if not self.path(file).exists():
            self.file(file, text)
        return add(self.folder, self.verifier(now), name, Path(file), agent="worker", reason="shared", now=now)

    def wanted(self, text: str = "second", file: str = "work/new.csv", **more):
        from governance_pipeline.framework.registry_proposal import Wanted

        return Wanted("customers", self.file(file, text), "worker", "a new month", **more)

    def ask(self, wanted, now=NOON):
        from governance_pipeline.framework.registry_proposal import proposal_of
        from governance_pipeline.gate.acting import ask

        proposal = proposal_of(self.folder, self.world.lake, wanted)
        return ask(proposal, self.verifier(now), now).request_id

    def approve(self, wanted, now=NOON) -> str:
        request = self.ask(wanted, now)
        self.world.decide(request, now=now)
        return request

    def supersede(self, wanted, now=NOON + HOUR):
        from governance_pipeline.framework.registry_changes import supersede

        return supersede(self.folder, self.verifier(now), wanted, now=now)

    def states(self, now=NOON + HOUR) -> dict[tuple[str, str], str]:
        """Give what verifying says: (asset, version) -> state."""
        from governance_pipeline.framework.registry_rows import registry_rows

        rows = registry_rows(self.folder, self.verifier(now), now)
        return {(row["name"], row["path"]): row["state"] for row in rows}
