"""A house of rounds behind a real web server, with a history and a throw-away trust root of its own.

The code location is assembled by the product's own assembler, which is handed the gate as an argument; nothing of ours
is in the environment of the processes. Rounds are audited and asked about before the server starts; each test takes
rounds nobody has touched, because all tests of a module share the server.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from gate_house import GateHouse, RealClock, make_trust

from assets_defs.resources import LAKE_VARIABLE, LANDING_VARIABLE
from governance_pipeline.gate.events import read_history

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ASSET_JOB = "__ASSET_JOB"
"""The job Dagster makes of all assets, which the Materialize button runs."""
REPOSITORY = {"repositoryName": "__repository__", "repositoryLocationName": "house"}
ENDED = ("SUCCESS", "FAILURE", "CANCELED")

INSTANCE = """
telemetry: {{enabled: false}}
nux: {{enabled: false}}
storage: {{sqlite: {{base_dir: {home}/history}}}}
run_retries: {{enabled: true}}
{queue}
"""
AT_ONCE = "run_coordinator: {module: dagster.core.run_coordinator, class: DefaultRunCoordinator}"
QUEUED = "concurrency: {runs: {max_concurrent_runs: 2}}"
"""Without a daemon nobody takes runs out of a queue."""

LOCATION = """
from pathlib import Path

import dagster as dg

from assets_defs.definitions import build_defs
from assets_defs.resources import Gatekeeper
from governance_pipeline.workspace import Workspace

keeper = Gatekeeper(Path({config!r}))
workspace = Workspace(Path({landing!r}), Path({lake!r}), keeper.trust())
defs = build_defs(resources={{"workspace": workspace, "gate": keeper}})
"""

LAUNCHED = "__typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } \
... on RunConfigValidationInvalid { errors { message } } ... on InvalidSubsetError { message } \
... on InvalidStepError { invalidStepKey }"


class WebHouse(GateHouse):
    """A gate house whose runs are started through the doors of its web server."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, port: int) -> None:
        super().__init__(folder, instance, RealClock())
        self.home = folder / "home"
        self.port = port
        self.processes: list[subprocess.Popen] = []
        self.untouched: list[str] = []

    def round(self) -> str:
        """Give a round that waits for a person and that no test has touched."""
        return self.untouched.pop(0)

    # ---------------------------------------------------------------- processes

    def start(self, program: str, *arguments: str) -> subprocess.Popen:
        """Start a program of Dagster on this home; its log is kept beside the history."""
        mine = {LANDING_VARIABLE, LAKE_VARIABLE}
        environment = {name: value for name, value in os.environ.items() if name not in mine}
        with (self.home / f"{program}.log").open("ab") as log:
            process = subprocess.Popen(
                [BIN / program, *arguments, "-w", self.home / "workspace.yaml"],
                env={**environment, "DAGSTER_HOME": str(self.home), "DAGSTER_DISABLE_TELEMETRY": "1"},
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def serve(self, port: int, *arguments: str) -> None:
        """Start a web server and wait until it answers."""
        self.start("dagster-webserver", "-h", "127.0.0.1", "-p", str(port), *arguments)
        query = "{ workspaceOrError { ... on Workspace { locationEntries { locationOrLoadError { __typename \
          ... on PythonError { message } } } } } }"
        found = self.wait("web server", lambda: self.query(query, port=port), seconds=120)
        [entry] = found["workspaceOrError"]["locationEntries"]
        assert entry["locationOrLoadError"]["__typename"] == "RepositoryLocation", entry

    def stop(self) -> None:
        """Stop every process that was started here, with its children."""
        for kind, patience in ((signal.SIGINT, 15), (signal.SIGKILL, 15)):
            for process in self.processes:
                try:
                    os.killpg(process.pid, kind)
                except ProcessLookupError:
                    continue
            for process in self.processes:
                try:
                    process.wait(timeout=patience)
                except subprocess.TimeoutExpired:
                    continue

    def logs(self) -> str:
        return "\n".join(path.read_text()[-3000:] for path in sorted(self.home.glob("*.log")))

    def wait(self, what: str, is_done, seconds: int = 180):
        """Ask until `is_done` gives something true; the logs are in the failure."""
        last: object = None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                last = is_done()
            except OSError as error:
                last = error
            else:
                if last:
                    return last
            dead = [process.args[0] for process in self.processes if process.poll() is not None]
            assert dead == [], self.logs()
            time.sleep(0.4)
        pytest.fail(f"no {what} after {seconds} s: {last}\n{self.logs()}")

    # ---------------------------------------------------------------- doors

    def post(self, path: str, body: object, port: int | None = None) -> tuple[int, dict]:
        """Send JSON to the server; give the status and the answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{port or self.port}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"{}")

    def query(self, text: str, port: int | None = None, **variables: object) -> dict:
        """Send one GraphQL request that must be understood; give its data."""
        _, answer = self.post("/graphql", {"query": text, "variables": variables}, port)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    @staticmethod
    def params(round_id: str | None, job: str = "publish_job", assets: Sequence[str] | None = None, **more) -> dict:
        """Give the parameters of a run as the web UI sends them; `checks=[]` leaves all checks out."""
        checks, ops, tags = more.pop("checks", None), more.pop("ops", None), dict(more.pop("tags", {}))
        if round_id is not None:
            tags["dagster/partition"] = round_id
        selector = {
            "jobName": job,
            **REPOSITORY,
            "solidSelection": ops,
            "assetSelection": None if assets is None else [{"path": [asset]} for asset in assets],
            "assetCheckSelection": None
            if checks is None
            else [{"assetKey": {"path": [asset]}, "name": name} for asset, name in checks],
        }
        metadata = {"tags": pairs(tags), **more.pop("metadata", {})}
        return {"selector": selector, "mode": "default", "executionMetadata": metadata, **more}

    def launch(self, params: dict, mutation: str = "launchRun") -> dict:
        """Launch a run; give what the server answers."""
        query = f"mutation($p: ExecutionParams!) {{ {mutation}(executionParams: $p) {{ {LAUNCHED} }} }}"
        return self.query(query, p=params)[mutation]

    def launched(self, *arguments: object, **more: object) -> str:
        """Launch a run the server must accept; give its id."""
        return run_id_of(self.launch(self.params(*arguments, **more)))

    def execute_again(self, run_id: str, strategy: str, tags: dict | None = None) -> str:
        """Press one of the re-execute buttons of a run; give the id of the new run."""
        query = f"mutation($p: ReexecutionParams!) {{ launchRunReexecution(reexecutionParams: $p) {{ {LAUNCHED} }} }}"
        again = {"parentRunId": run_id, "strategy": strategy, "extraTags": pairs(tags or {})}
        return run_id_of(self.query(query, p=again)["launchRunReexecution"])

    def backfill(self, round_ids: Sequence[str], **more: object) -> dict:
        """Launch a backfill; give its id, and the runs the server launched by itself."""
        query = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
          __typename ... on LaunchBackfillSuccess { backfillId launchedRunIds } ... on PythonError { message } } }"""
        params = {"partitionNames": list(round_ids), "tags": [], **more}
        answer = self.query(query, p=params)["launchPartitionBackfill"]
        assert answer["__typename"] == "LaunchBackfillSuccess", answer
        return answer

    # ---------------------------------------------------------------- what came of it

    def ended(self, *run_ids: str) -> list[str]:
        """Wait for runs; give how each ended."""
        query = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"

        def statuses() -> list[str] | None:
            found = [self.query(query, id=run_id)["runOrError"]["status"] for run_id in run_ids]
            return found if all(status in ENDED for status in found) else None

        return self.wait(f"end of {run_ids}", statuses)

    def said(self, run_id: str) -> str:
        """Give what the failed steps of a run said."""
        logs = self.instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
        return "\n".join(log.get_dagster_event().step_failure_data.error.message for log in logs)

    def assert_nothing_passed(self, *round_ids: str, shown: Iterable[str] = ()) -> None:
        """Nothing was written of these rounds and no decision was used; Dagster shows only what is named as made."""
        assert self.files(*round_ids) == set()
        assert {(a, r) for a, r in self.shown_as_made() if r in round_ids} == {(a, r) for a in shown for r in round_ids}
        used = {"INTENT", "CONSUMED", "RELEASED", "DONE"}
        assert {round_id: used.intersection(self.events(round_id)) for round_id in round_ids} == {
            round_id: set() for round_id in round_ids
        }

    def assert_refused(self, round_id: str, *run_ids: str, shown: Iterable[str] = ()) -> None:
        """Every run failed with the words of the gate about this round, and nothing passed."""
        assert self.ended(*run_ids) == ["FAILURE"] * len(run_ids)
        for run_id in run_ids:
            said = self.said(run_id)
            assert f"the gate is closed, nothing was made: {round_id}: MISSING: " in said, said
        self.assert_nothing_passed(round_id, shown=shown)

    def assert_refused_as_used(self, round_id: str, run_id: str) -> None:
        """The run failed because the decision about this round was used before."""
        assert self.ended(run_id) == ["FAILURE"]
        said = self.said(run_id)
        assert f"nothing was made: {round_id}: REPLAYED: it was used for " in said, said

    def approve_by_command(self, round_id: str) -> subprocess.CompletedProcess:
        """Approve a round with the command a person types."""
        request = self.request_id(round_id)
        words = ["gate", "approve", request, "--lake", self.lake.root, "--config", self.config]
        words += [
            "--key",
            self.config.parent / "ana.pem",
            "--reason",
            "read it",
            "--digest",
            self.subject(round_id)[:8],
        ]
        return self.command(*words)

    def command(self, *words: object) -> subprocess.CompletedProcess:
        """Run `govern`."""
        program = [sys.executable, "-m", "governance_pipeline.cli", *map(str, words)]
        return subprocess.run(program, capture_output=True, text=True, check=False, cwd=ROOT)

    def subject(self, round_id: str) -> str:
        """Give the digest of what is asked about a round."""
        return read_history(self.ledger).in_force("publish", round_id).subject_sha256

    def not_consumed(self) -> dict[tuple[str, str], str]:
        """Run `ledger_job` through the server; give asset and round -> what its check says about them."""
        run_id = self.launched(None, job="ledger_job")
        assert self.ended(run_id) == ["SUCCESS"], self.said(run_id)
        logs = self.instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
        found = [log.get_dagster_event().asset_check_evaluation_data for log in logs]
        [check] = [one for one in found if one.check_name == "gated_materializations_are_consumed"]
        rows = [] if check.passed else [record.data for record in check.metadata["rows"].records]
        assert check.passed is not bool(rows)
        return {(row["asset"], row["round_id"]): row["message"] for row in rows}


def pairs(tags: dict) -> list[dict]:
    return [{"key": key, "value": value} for key, value in tags.items()]


def run_id_of(answer: dict) -> str:
    assert answer["__typename"] == "LaunchRunSuccess", answer
    return answer["run"]["runId"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def web_house(
    folder: Path, a_round: Path, round_ids: Sequence[str], *, location: str = "", daemon: bool = False
) -> Iterator[WebHouse]:
    """Serve a house of copies of one round; `location` is added to the code location, which then has `defs` at hand."""
    home = folder / "home"
    home.mkdir(parents=True)
    (home / "dagster.yaml").write_text(INSTANCE.format(home=home, queue=QUEUED if daemon else AT_ONCE))
    make_trust(folder / "trust", RealClock()(), "ana", "ben")
    for round_id in round_ids:
        shutil.copytree(a_round, folder / "landing" / round_id)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        house = WebHouse(folder, instance, free_port())
        house.audit(*round_ids)
        house.ask(*round_ids)
        house.register(*round_ids)
        house.untouched = list(round_ids)
        places = {"config": house.config, "landing": house.workspace.landing, "lake": house.lake.root}
        text = LOCATION.format(**{name: str(path) for name, path in places.items()})
        (home / "location.py").write_text(text + location)
        source = {"relative_path": "location.py", "location_name": "house", "working_directory": str(ROOT)}
        (home / "workspace.yaml").write_text(json.dumps({"load_from": [{"python_file": source}]}))
        try:
            house.serve(house.port)
            if daemon:
                house.start("dagster-daemon", "run")
            yield house
        finally:
            house.stop()
