"""`kill -9` of a run while it publishes: the same run goes on, any other is refused; never half, never twice."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from gate_house import ASSETS, Clock, GateHouse

PROGRAM = Path(__file__).with_name("gate_crash_program.py")
MOMENTS = ("INTENT", "CONSUMED", "half-written", "written", "RELEASED", "DONE")
LONG = [pytest.param(moment, marks=pytest.mark.long) for moment in MOMENTS]
WHOLE = sorted([asset, "r-1"] for asset in ASSETS)


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, PROGRAM, folder, *arguments], capture_output=True, text=True, check=False, cwd=folder
    )


@pytest.mark.parametrize("moment", LONG)
def test_a_killed_run_goes_on_or_is_refused(asked_folder, tmp_path, moment):
    folder = tmp_path / "house"
    shutil.copytree(asked_folder, folder)
    config = folder / "trust" / "gate.toml"
    config.write_text(config.read_text().replace(str(asked_folder), str(folder)))
    with dg.DagsterInstance.ephemeral() as instance:
        GateHouse(folder, instance, Clock()).approve("r-1")
    killed = run(folder, "die", moment)
    assert killed.returncode == -9, killed.stderr
    done = run(folder, "go-on")
    assert done.returncode == 0, done.stderr
    left = json.loads(done.stdout)
    assert len(left["caught"]) == 1, "it died in the first of the two"
    assert len(left["files_before"]) == (1 if moment in ("written", "RELEASED", "DONE") else 0)
    if moment == "INTENT":
        assert left["other_run"] == "", "nothing was used yet, so any run may"
        assert "REPLAYED" in left["same_root_run"]
    else:
        assert "REPLAYED" in left["other_run"]
        assert left["same_root_run"] == ""
    assert left["files"] == WHOLE
    for asset in ASSETS:
        passage = [event for event in left["events"][asset] if event != "INTENT"]
        assert passage == ["CONSUMED", "RELEASED", "DONE"]
        assert left["events"][asset][0] == "INTENT"
