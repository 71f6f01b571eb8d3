"""The stage commands: a mark is measured, and measured again before the next stage."""

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


def test_a_completed_stage_lets_the_next_begin_until_a_file_changes(govern, project):
    (project / "out.csv").write_text("id\n1\n")
    code, out, _ = govern("stage", "complete", "A", "--run", "r-1", "--by", "w", "--output", "out.csv", "--json")
    assert (code, _valid(out)["outputs"][0]["rows"]) == (0, 2)
    code, out, _ = govern("stage", "inspect", "A", "--needs", "out.csv", "--json")
    assert (code, _valid(out)["ok"]) == (0, True)
    (project / "out.csv").write_text("id\n1\n2\n")
    code, out, _ = govern("stage", "inspect", "A", "--json")
    document = _valid(out)
    assert (code, document["reason_code"], len(document["differences"])) == (4, "file_differs", 1)
    assert "FILE_DIFFERS" in govern("stage", "inspect", "A")[1]


def test_a_stage_nobody_completed_is_refused(govern):
    code, out, _ = govern("stage", "inspect", "B", "--json")
    assert (code, _valid(out)["reason_code"]) == (4, "marker_missing")


def test_a_stage_without_its_file_is_not_marked(govern, project):
    assert govern("stage", "complete", "A", "--run", "r", "--by", "w", "--output", "gone.csv")[0] == 3
    assert govern("stage", "complete", "A", "--run", "r", "--by", "w", "--output", "../x")[0] == 2
    assert not (project / "03_state/checkpoints/STAGE_A_COMPLETED.json").exists()
