"""The state commands: looking, changing, and what happened to the state."""

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


def test_a_change_is_shown_with_its_history(govern):
    before = _valid(govern("state", "show", "--json")[1])
    code, out, _ = govern(
        "state", "set", "current_phase=load", "error_count=2", "--by", "ana", "--reason", "x", "--json"
    )
    after = _valid(out)
    assert (code, after["state"]["current_phase"], after["state"]["error_count"]) == (0, "load", 2)
    code, out, _ = govern("state", "history", "--json")
    (entry,) = _valid(out)["entries"]
    assert (code, entry["state_sha256"], entry["next_sha256"]) == (0, before["sha256"], after["sha256"])
    assert "ana: x" in govern("state", "history")[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("current_phase", "is no change"),
        ("another=1", "is no change"),
        ("error_count=two", "is a whole number"),
        ("baseline_version=2.0.0", "follows the ledger"),
        ("pending_hitl_approval=null", "follows the ledger"),
    ],
)
def test_a_change_that_is_none_is_refused(govern, project, change, said):
    before = (project / STATE).read_bytes()
    code, _, err = govern("state", "set", change, "--by", "ana", "--reason", "x")
    assert (code, said in err) == (2, True)
    assert (project / STATE).read_bytes() == before


def test_a_change_decided_on_another_state_is_refused(govern):
    code, _, err = govern("state", "set", "current_phase=x", "--by", "a", "--reason", "b", "--based-on", "0" * 64)
    assert (code, "STATE_MOVED" in err) == (4, True)


def test_a_state_edited_by_hand_makes_the_history_exit_1(govern, project):
    govern("state", "set", "current_phase=load", "--by", "ana", "--reason", "x")
    (project / STATE).write_text((project / STATE).read_text().replace('"load"', '"deploy"'))
    code, out, _ = govern("state", "history", "--json")
    assert (code, [fault["code"] for fault in _valid(out)["faults"]]) == (1, ["changed_outside"])


def test_a_history_that_cannot_be_read_is_told(govern, project):
    govern("state", "set", "current_phase=load", "--by", "ana", "--reason", "x")
    (entry,) = (project / "03_state/history").iterdir()
    entry.write_text("?")
    code, out, _ = govern("state", "history", "--json")
    assert (code, [fault["code"] for fault in _valid(out)["faults"]]) == (1, ["entry_unreadable"])


def test_following_the_inbox_needs_a_ledger(govern):
    code, _, err = govern("state", "follow")
    assert (code, "govern trust init" in err) == (2, True)
