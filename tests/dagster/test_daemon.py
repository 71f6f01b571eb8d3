"""The real daemon, web server and run processes, over the sample rounds (make test-long)."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from assets_defs.partitions import rounds
from governance_pipeline.pipeline import TABLES

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample" / "rounds"
LOCK_ERRORS = ("database is locked", "could not set lock", "conflicting lock")

# The same assets and checks in smaller chunks, without sensors and schedules, which would start runs of their own.
DEFINITIONS = """
import dagster as dg
from assets_defs.assets import ASSETS
from assets_defs.checks import CHECKS
from assets_defs.governed import project
from assets_defs.resources import gate, workspace
from assets_defs.scoring import confidence

policy = dg.BackfillPolicy.multi_run({chunk})
assets = [asset.with_attributes(backfill_policy=policy) for asset in ASSETS]
resources = {{"workspace": workspace, "gate": gate, "confidence": confidence, "project": project}}
defs = dg.Definitions(assets=assets, asset_checks=CHECKS, resources=resources, executor=dg.in_process_executor)
"""
INSTANCE = """
telemetry: {{enabled: false}}
storage: {{sqlite: {{base_dir: {home}/history}}}}
concurrency: {{runs: {{max_concurrent_runs: 2}}}}
"""


class Daemon:
    """`dagster dev` on a home folder of its own, spoken to as the web UI does."""

    def __init__(self, home: Path, workspace: Path, landing: Path, lake: Path) -> None:
        self.home = home
        self.log = home / "dagster_dev.log"
        self.port = _free_port()
        environment = {"DAGSTER_HOME": home, "GOVERN_LANDING": landing, "GOVERN_LAKE": lake}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "dagster", "dev", "-w", workspace, "-h", "127.0.0.1", "-p", str(self.port)],
                env={**os.environ, **{k: str(v) for k, v in environment.items()}, "DAGSTER_DISABLE_TELEMETRY": "1"},
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def ask(self, query: str, **variables: object) -> dict:
        """Send one GraphQL request."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = json.load(answer)
        assert "errors" not in found, found["errors"]
        return found["data"]

    def wait(self, what: str, is_done, seconds: int = 900):
        """Ask until `is_done` gives something true; the log of the daemon is in the failure."""
        last = None
        for _ in range(seconds):
            try:
                last = is_done()
            except OSError as error:
                last, is_ready = error, False
            else:
                is_ready = bool(last)
            if is_ready:
                return last
            assert self.process.poll() is None, self.log.read_text()[-4000:]
            time.sleep(1)
        pytest.fail(f"no {what} after {seconds} s: {last}\n{self.log.read_text()[-4000:]}")

    def backfill(self, round_ids: list[str]) -> dict:
        """Launch a backfill of every table from the web UI's mutation and wait for its end."""
        launched = self.ask(
            """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
                 __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }""",
            p={"partitionNames": round_ids, "assetSelection": [{"path": [table]} for table in TABLES], "tags": []},
        )["launchPartitionBackfill"]
        query = """query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill {
                     status runs { status } } } }"""

        def ended():
            found = self.ask(query, id=launched["backfillId"])["partitionBackfillOrError"]
            return found if found["status"].startswith(("COMPLETED", "FAILED", "CANCELED")) else None

        return self.wait("end of the backfill", ended)

    def stop(self) -> None:
        """Stop the whole process group, kindly and then not."""
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                os.killpg(self.process.pid, kind)
                try:
                    self.process.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    continue


@contextmanager
def daemon(home: Path, definitions: str | None, round_ids: list[str], landing: Path, lake: Path):
    """Run `dagster dev`; `definitions` None means those of the project."""
    home.mkdir()
    (home / "dagster.yaml").write_text(INSTANCE.format(home=home))
    workspace = ROOT / "workspace.yaml"
    if definitions is not None:
        (home / "chunked_definitions.py").write_text(definitions)
        workspace = home / "workspace.yaml"
        workspace.write_text(
            f"load_from: [{{python_file: {{relative_path: {home}/chunked_definitions.py, working_directory: {ROOT}}}}}]"
        )
    with dg.DagsterInstance.from_config(str(home)) as instance:
        instance.add_dynamic_partitions(str(rounds.name), round_ids)
    running = Daemon(home, workspace, landing, lake)
    try:
        running.wait("web server", lambda: running.ask("{ version }"))
        yield running
    finally:
        running.stop()


def test_the_definitions_in_smaller_chunks_load():
    """The tests below are long: this one notices at once when they could not begin."""
    names: dict[str, dg.Definitions] = {}
    exec(DEFINITIONS.format(chunk=9), names)
    dg.Definitions.validate_loadable(names["defs"])


@pytest.mark.long
def test_a_backfill_in_parallel_runs_is_repeatable_and_depends_on_no_order(tmp_path):
    landing = tmp_path / "landing"
    shutil.copytree(SAMPLE, landing)
    names = sorted(path.name for path in landing.iterdir())
    with daemon(tmp_path / "one", DEFINITIONS.format(chunk=9), names, landing, tmp_path / "lake") as dagster:
        first = dagster.backfill(names)
        tables = _bytes_of(tmp_path / "lake")
        second = dagster.backfill(names)
        status = _status(dagster)
        logs = dagster.log.read_text().lower()
    assert (
        first == second == {"status": "COMPLETED_SUCCESS", "runs": [{"status": "SUCCESS"}] * math.ceil(len(names) / 9)}
    )
    assert _bytes_of(tmp_path / "lake") == tables
    assert [error for error in LOCK_ERRORS if error in logs] == []
    assert {key for key, keys in status["materialized"].items() if keys == set(names)} == set(TABLES)
    assert status["undecided"] == {}

    shuffled = random.Random(2).sample(names, len(names))
    with daemon(tmp_path / "two", DEFINITIONS.format(chunk=7), shuffled, landing, tmp_path / "again") as dagster:
        third = dagster.backfill(shuffled)
    assert third == {"status": "COMPLETED_SUCCESS", "runs": [{"status": "SUCCESS"}] * math.ceil(len(names) / 7)}
    assert _bytes_of(tmp_path / "again") == tables


@pytest.mark.long
def test_the_sensor_registers_and_audits_what_arrives(tmp_path):
    landing = tmp_path / "landing"
    landing.mkdir()
    with daemon(tmp_path / "home", None, [], landing, tmp_path / "lake") as dagster:
        for name in sorted(path.name for path in SAMPLE.iterdir())[:2]:
            shutil.copytree(SAMPLE / name, landing / name)
        done = {path.name for path in landing.iterdir()}
        dagster.wait("audit of both rounds", lambda: _status(dagster)["materialized"]["audit_escalations"] == done)
        assert _status(dagster)["undecided"] == {}
        runs = dagster.ask("{ runsOrError { ... on Runs { results { status tags { key value } } } } }")
        results = runs["runsOrError"]["results"]
        assert [run["status"] for run in results] == ["SUCCESS"] * 2


def _status(dagster: Daemon) -> dict[str, dict]:
    """Return what the web UI shows: table -> materialized rounds, and the rounds some check has no result for."""
    query = """query($k: AssetKeyInput!) { assetNodeOrError(assetKey: $k) { ... on AssetNode {
      assetPartitionStatuses { ... on DefaultPartitionStatuses { materializedPartitions failedPartitions } }
      assetChecksOrError { ... on AssetChecks { checks { name partitionStatuses {
        ... on AssetCheckDefaultPartitionStatuses { succeededPartitions failedPartitions } } } } } } } }"""
    materialized, undecided = {}, {}
    for table in TABLES:
        node = dagster.ask(query, k={"path": [table]})["assetNodeOrError"]
        materialized[table] = set(node["assetPartitionStatuses"]["materializedPartitions"])
        for check in node["assetChecksOrError"]["checks"]:
            found = check["partitionStatuses"]
            decided = {*found["succeededPartitions"], *found["failedPartitions"]}
            if decided != materialized[table]:
                undecided[table, check["name"]] = decided ^ materialized[table]
    return {"materialized": materialized, "undecided": undecided}


def _bytes_of(lake: Path) -> dict[str, bytes]:
    files = [path for path in lake.rglob("*") if path.name == "current" or path.suffix == ".parquet"]
    return {path.relative_to(lake).as_posix(): path.read_bytes() for path in files}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
