"""Small rounds in a temporary landing area, an ephemeral Dagster instance, and the status it shows of each round."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from assets_defs.definitions import build_defs
from assets_defs.partitions import range_tags
from assets_defs.resources import Gatekeeper
from governance_pipeline.pipeline import TABLES, Trust
from governance_pipeline.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from types import ModuleType

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class StumblingWorkspace(Workspace):
    """A workspace in which making some tables fails for some rounds, as a fault of disk or code would."""

    def __init__(self, landing: Path, root: Path, trust: Trust | None = None) -> None:
        super().__init__(landing, root, trust)
        self.faults: dict[tuple[str, str], Exception] = {}

    def make(self, tables: Sequence[str], round_ids: Sequence[str], planned: Collection[str] = ()):
        for (table, round_id), error in self.faults.items():
            if table in tables and round_id in round_ids:
                raise error
        return super().make(tables, round_ids, planned)


class House:
    """One workspace, one instance, and what the instance says of them."""

    def __init__(
        self, workspace: StumblingWorkspace, instance: dg.DagsterInstance, gate: Gatekeeper | None = None
    ) -> None:
        self.workspace = workspace
        self.instance = instance
        self.gate = gate or Gatekeeper(workspace.lake.root.parent / "no-gate" / "gate.toml")
        self.defs = build_defs(resources={"workspace": workspace, "gate": self.gate})

    def write_round(self, round_id: str, *, declared: int = 2, steps: int = 2) -> Path:
        """Write a native round of one run that declares its number of steps."""
        folder = self.workspace.landing / round_id
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        entries = [
            {
                "timestamp": f"2026-03-01T10:0{n}:00Z",
                "agent_id": "builder",
                "run_id": "run-1",
                "input_hash": None,
                "tool_called": "Edit",
                "output_result": "ok",
                "output_hash": None,
                "token_cost": 0.5,
                "self_reported_status": "done",
                "independently_verified": False,
                "verification_method": None,
            }
            for n in range(steps)
        ]
        (folder / "logs" / "audit.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        claim = {"subject": "run-1", "field": "step_count", "value": declared, "data_type": "integer", "unit": "steps"}
        (folder / "declared.jsonl").write_text(json.dumps(claim) + "\n")
        return folder

    def write_rounds(self, *round_ids: str) -> None:
        """Write rounds whose declared numbers are true and register them as partitions."""
        for round_id in round_ids:
            self.write_round(round_id)
        self.instance.add_dynamic_partitions("rounds", list(round_ids))

    def make(self, *round_ids: str, tables: Sequence[str] = TABLES) -> None:
        """Make tables in the lake without telling Dagster, as `govern audit --keep` or another instance would."""
        self.workspace.make(tables, round_ids)

    def run(self, *round_ids: str, job: str = "full_audit_job") -> dg.ExecuteInProcessResult:
        """Run a job over one round, or over the range from the first to the last."""
        return self.defs.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            run_config=QUIET,
            partition_key=round_ids[0] if len(round_ids) == 1 else None,
            tags={} if len(round_ids) == 1 else dict(range_tags(round_ids)),
            raise_on_error=False,
        )

    def materialized(self, table: str) -> set[str]:
        """Return the rounds Dagster shows as materialized, leaving out those whose last attempt failed."""
        status = self.instance.get_status_by_partition(
            dg.AssetKey(table),
            self.instance.get_dynamic_partitions("rounds"),
            dg.DynamicPartitionsDefinition(name="rounds"),
        )
        return {key for key, value in (status or {}).items() if value and value.value == "MATERIALIZED"}

    def check_status(self, table: str, check: str) -> dict[str, str]:
        """Return round -> status of a check, as the partitions page of the check shows it."""
        key = dg.AssetCheckKey(dg.AssetKey(table), check)
        rows = self.instance.event_log_storage.get_asset_check_partition_info([key])
        return {
            row.partition_key: row.latest_execution_status.value if row.is_current else "OUTDATED"
            for row in rows
            if row.partition_key is not None
        }

    def metadata(self, table: str, round_id: str) -> dict[str, object]:
        """Return the metadata of the newest materialization of a round."""
        wanted = dg.AssetRecordsFilter(dg.AssetKey(table), asset_partitions=[round_id])
        record = self.instance.fetch_materializations(wanted, limit=1).records[0]
        return {name: value.value for name, value in record.asset_materialization.metadata.items()}


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test may depend on the gate of the account that runs it, or touch it."""
    place = tmp_path / "account" / "gate.toml"
    monkeypatch.setattr("governance_pipeline.trust.config.default_config_path", lambda: place)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Give an empty landing area and lake with an instance that forgets everything."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield House(StumblingWorkspace(tmp_path / "landing", tmp_path / "lake"), instance)


@pytest.fixture
def kept_house(tmp_path: Path) -> Iterator[House]:
    """Give the same with an instance on disk, which schedules need because they open it by reference."""
    (tmp_path / "instance").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "instance")) as instance:
        yield House(StumblingWorkspace(tmp_path / "landing", tmp_path / "lake"), instance)


@pytest.fixture(scope="package")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Give a house after one run over rounds true-1, false-2 (its declared number is wrong) and true-3; read only."""
    folder = tmp_path_factory.mktemp("audited")
    with dg.DagsterInstance.ephemeral() as instance:
        audited = House(StumblingWorkspace(folder / "landing", folder / "lake"), instance)
        audited.write_rounds("true-1", "false-2", "true-3")
        audited.write_round("false-2", declared=7, steps=3)
        assert audited.run("true-1", "true-3").success
        yield audited


def load(name: str) -> ModuleType:
    """Import a module that lies beside this file."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


gate_house = load("gate_house")
GATE_ROUNDS = ("r-1", "r-2", "r-3", "r-4", "r-5")


@pytest.fixture(scope="package")
def asked_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with five audited rounds about which a person has been asked; to be copied."""
    folder = tmp_path_factory.mktemp("asked") / "house"
    gate_house.make_trust(folder / "trust", gate_house.NOON, "ana", "ben")
    with dg.DagsterInstance.ephemeral() as instance:
        made = gate_house.GateHouse(folder, instance, gate_house.Clock())
        for round_id in GATE_ROUNDS:
            House.write_round(made, round_id)
        made.audit(*GATE_ROUNDS)
        made.ask(*GATE_ROUNDS)
    return folder


@pytest.fixture
def asked(asked_folder: Path, tmp_path: Path) -> Iterator[object]:
    """Give a house of its own where five rounds, r-1 to r-5, wait for a person."""
    folder = tmp_path / "house"
    shutil.copytree(asked_folder, folder)
    config = folder / "trust" / "gate.toml"
    config.write_text(config.read_text().replace(str(asked_folder), str(folder)))
    with dg.DagsterInstance.ephemeral() as instance:
        house = gate_house.GateHouse(folder, instance, gate_house.Clock())
        house.register(*GATE_ROUNDS)
        yield house
