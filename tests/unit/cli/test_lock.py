"""The lock commands: taking, giving back, looking, and running a command under a lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.framework
from governance_pipeline.cli.main import run
from governance_pipeline.framework.folder import STATE

PACKAGE = Path(governance_pipeline.framework.__file__).parent
GOVERN = [sys.executable, "-m", "governance_pipeline.cli"]


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
def lock(project, capfd):
    """Run `govern lock …` in the project; gives exit code, stdout and stderr."""

    def _lock(*arguments):
        code = run(["lock", *map(str, arguments)])
        return code, *capfd.readouterr()

    return _lock


def _valid(text):
    document = json.loads(text)
    name = document["schema"].removeprefix("govern/").replace("/", "-")
    schema = json.loads((PACKAGE / "schemas" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def test_a_lock_that_is_held_is_refused_with_exit_4_and_the_owner(lock):
    assert lock("acquire", "db", "--pid", os.getpid(), "--purpose", "load")[0] == 0
    code, out, err = lock("run", "db", "--", "true")
    assert (code, out) == (4, "")
    assert f"LOCK_HELD: lock db is held by process {os.getpid()}" in err
    code, out, _ = lock("status", "--json")
    (row,) = _valid(out)["locks"]
    assert (code, row["standing"], row["pid"], row["purpose"]) == (0, "live", os.getpid(), "load")
    assert lock("release", "db", "--pid", os.getpid())[1] == "lock db released\n"
    assert lock("run", "db", "--", "true")[0] == 0


def test_a_command_gives_its_output_and_exit_code_and_nothing_of_ours_to_stdout(project):
    answer = subprocess.run(
        [*GOVERN, "lock", "run", "db", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 7"],
        capture_output=True, text=True, check=False, cwd=project,
    )  # fmt: skip
    assert (answer.returncode, answer.stdout) == (7, "out\n")
    assert answer.stderr.startswith("err\n")
    assert _valid(answer.stderr.removeprefix("err\n"))["exit_code"] == 7


def test_a_lock_is_taken_for_the_shell_that_called_and_an_orphan_when_it_ends(lock, project):
    script = f"{' '.join(GOVERN)} lock acquire db; echo $$"  # not exec: the shell must outlive the command
    answer = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, cwd=project)
    said, shell = answer.stdout.splitlines()
    assert said == f"lock db is held for process {shell}"
    code, out, _ = lock("status", "db")
    assert code == 0
    assert "orphaned  process_gone" in out
    assert lock("release", "db")[1] == "lock db cleared away: its owner is dead\n"
    assert "taken from the dead 1 times" in lock("status")[1]


def test_a_stranger_cannot_give_a_lock_back(lock):
    lock("acquire", "db", "--pid", os.getpid())
    code, _, err = lock("release", "db", "--pid", "1")
    assert (code, "name one with --pid" in err) == (2, True)
    code, _, err = lock("release", "db", "--pid", os.getppid())
    assert (code, "LOCK_NOT_YOURS" in err) == (4, True)


def test_outside_of_a_governed_project_nothing_is_made(lock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = lock("acquire", "db")
    assert (code, "no governed project" in err) == (2, True)
    assert not (tmp_path / "03_state").exists()


def test_a_lock_never_taken_is_free(lock):
    assert lock("status")[:2] == (0, "no lock was ever taken here\n")
    assert lock("status", "db")[:2] == (0, "lock db is free\n")
    assert lock("release", "db")[:2] == (0, "lock db free already\n")


def test_a_command_of_a_hostile_owner_is_shown_escaped(lock, project):
    (project / "03_state/locks").mkdir()
    (project / "03_state/locks/db.json").write_text(json.dumps({"pid": 2**31 - 1, "command": "\x1b[31mred"}))
    out = lock("status")[1]
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out
