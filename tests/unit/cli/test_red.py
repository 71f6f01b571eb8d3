"""The commands of red processes: no start without a measured limit, no relaunch without an approval."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.framework
from governance_pipeline.cli.main import run
from governance_pipeline.framework.folder import STATE

PACKAGE = Path(governance_pipeline.framework.__file__).parent


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a governed project and go there; no configuration of the account is looked at."""
    root = tmp_path / "project"
    (root / STATE).parent.mkdir(parents=True)
    (root / STATE).write_bytes((PACKAGE / "templates/shared/current_state.json").read_bytes())
    monkeypatch.chdir(root)
    monkeypatch.setattr("governance_pipeline.trust.config.default_config_path", lambda: tmp_path / "none.toml")
    return root


@pytest.fixture
def govern(project, capfd):
    """Run a command in the project; gives exit code, stdout and stderr."""

    def _govern(*arguments):
        code = run([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return _govern


def _valid(text):
    document = json.loads(text)
    name = document["schema"].removeprefix("govern/").replace("/", "-")
    jsonschema.Draft202012Validator(json.loads((PACKAGE / "schemas" / f"{name}.json").read_text())).validate(document)
    return document


@pytest.fixture
def red(govern, project):
    """Give how a red process is run in a project with an input and a sample of durations."""
    (project / "in.csv").write_text("1\n")
    (project / "units.txt").write_text("\n".join(map(str, range(1, 201))))

    def _red(run_id, *command, durations="units.txt"):
        return govern(
            "red", "run", "corpus", "--run", run_id, "--agent", "w", "--input", "in.csv", "--durations", durations,
            "--json", "--", *command,
        )  # fmt: skip

    return _red


def _status(govern):
    return _valid(govern("red", "status", "corpus", "--json")[1])


def test_an_invented_limit_starts_nothing(red, govern, project):
    (project / "few.txt").write_text("3600\n")
    code, _, err = red("n-1", "touch", "started", durations="few.txt")
    assert (code, "SAMPLE_TOO_SMALL" in err) == (4, True)
    (project / "few.txt").write_text("an hour\n")
    assert "NOT_A_DURATION" in red("n-1", "touch", "started", durations="few.txt")[2]
    assert not (project / "started").exists()
    assert _status(govern)["record"] is None


def test_a_process_that_ends_well_is_finished_and_may_run_again(red, govern):
    code, _, err = red("n-1", "true")
    assert (code, _valid(err)["exit_code"]) == (0, 0)
    assert _status(govern)["record"]["state"] == "finished"
    assert red("n-2", "true")[0] == 0


def test_a_process_that_fails_needs_an_approval_to_be_launched_again(red, govern, project):
    assert red("n-1", "sh", "-c", "exit 3")[0] == 3
    status = _status(govern)
    assert (status["record"]["state"], status["interruption"]["run_id"]) == ("failed", "n-1")
    code, _, err = red("n-2", "touch", "started")
    assert (code, "RELAUNCH_NEEDS_APPROVAL" in err) == (4, True)
    assert not (project / "started").exists()


def test_units_are_recorded_while_it_runs_and_by_nobody_else(red, govern):
    assert govern("red", "unit", "corpus", "u-1")[0] == 2
    red("n-1", "sh", "-c", "exit 3")
    assert _valid(govern("red", "unit", "corpus", "u-1", "--json")[1])["progress"]["units_done"] == 1
    assert "1 units done, last u-1" in govern("red", "status", "corpus")[1]


@pytest.mark.long
def test_a_unit_that_takes_longer_than_the_limit_ends_the_command(red, govern, project):
    (project / "quick.txt").write_text("0.01\n" * 200)
    code, _, err = red("n-1", "sleep", "30", durations="quick.txt")
    assert (code, "a unit took longer than the limit" in err) == (124, True)
    assert "longer than the limit" in _status(govern)["record"]["reason"]


def test_a_limit_is_shown_with_its_evidence(red, govern, project):
    code, out, _ = govern("red", "timeout", "units.txt", "--percentile", "95", "--json")
    document = _valid(out)
    assert (code, document["threshold_s"], document["n"], document["least_n"]) == (0, 380, 200, 20)
    assert "limit 396 s: 2 times percentile 99" in govern("red", "timeout", "units.txt")[1]
    (project / "few.txt").write_text("1\n")
    assert govern("red", "timeout", "few.txt")[0] == 4
