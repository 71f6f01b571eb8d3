"""A governed folder as small as one can be, for tests of what keeps files in it."""

from __future__ import annotations

import subprocess
import sys
import threading
from importlib import resources
from pathlib import Path

import pytest

from governance_pipeline.framework.folder import STATE, GovernedFolder

GIVE_UP_S = 300


def make_folder(root: Path) -> GovernedFolder:
    """Make a folder that holds nothing but the state it starts with."""
    template = resources.files("governance_pipeline.framework") / "templates" / "shared" / "current_state.json"
    (root / STATE).parent.mkdir(parents=True)
    (root / STATE).write_bytes(template.read_bytes())
    return GovernedFolder(root)


@pytest.fixture
def folder(tmp_path: Path) -> GovernedFolder:
    """Give a governed folder of its own."""
    return make_folder(tmp_path / "project")


@pytest.fixture(scope="module")
def processes():
    """Start the program that forks lock holders; gives how to tell it a line, and how to hear from it."""
    program = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("lock_process.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(GIVE_UP_S, program.kill)
    watchdog.start()
    assert program.stdout.readline() == "ready\n"

    def tell(*entries):
        program.stdin.write(";".join("\t".join(map(str, entry)) for entry in entries) + "\n")
        program.stdin.flush()

    def hear():
        return program.stdout.readline().rstrip("\n")

    yield tell, hear
    watchdog.cancel()
    program.kill()
    program.communicate()
