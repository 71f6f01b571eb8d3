"""A maker killed in the middle leaves every table old or new, never half, and the next run finishes its work.

Every single system call of one write is killed in tests/unit/storage; here a whole run is, between two of its files.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from governance_pipeline.contracts.registry import breaches, is_by_round
from governance_pipeline.pipeline import TABLES
from governance_pipeline.storage.lake import Lake

ROUND = "r-1"


class Makers:
    """Starts makers one at a time, in a process that has imported everything."""

    def __init__(self, landing: Path) -> None:
        self._landing = landing
        program = Path(__file__).with_name("maker_process.py")
        self._process = subprocess.Popen(
            [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, lake: Path, kill_before: int = 0) -> int:
        """Make every table; returns how many files were put in place, or the signal that ended it, negative."""
        self._process.stdin.write(f"{self._landing}\t{lake}\t{kill_before}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@pytest.fixture
def landing(tmp_path, write) -> Path:
    """Return a landing area with one round."""
    write(tmp_path / "landing" / ROUND, 1)
    return tmp_path / "landing"


@pytest.fixture
def makers(landing):
    started = Makers(landing)
    yield started
    started.close()


def digests(root: Path) -> dict[str, str | None]:
    return {table: Lake(root).digest(table, key(table)) for table in TABLES}


def key(table: str) -> str | None:
    """Give what a table is kept under: the round, or nothing for one over all rounds."""
    return ROUND if is_by_round(table) else None


def copy_of(base: Path, name: str) -> Path:
    return Path(shutil.copytree(base, base.with_name(name)))


@pytest.mark.parametrize("kills", [3, pytest.param(60, marks=pytest.mark.long)])
def test_a_killed_run_leaves_each_table_old_or_new_and_the_next_run_finishes(makers, landing, write, tmp_path, kills):
    base = tmp_path / "base"
    assert makers.run(base) > 0
    old = digests(base)
    write(landing / ROUND, 2)
    whole = copy_of(base, "whole")
    placed, new = makers.run(whole), digests(whole)
    assert sum(old[table] != new[table] for table in TABLES) > len(TABLES) / 2, "the two versions of the round differ"
    mixed = 0
    for number in range(kills):
        lake = copy_of(base, f"killed-{number}")
        assert makers.run(lake, kill_before=1 + placed * number // kills) == -signal.SIGKILL
        found = digests(lake)
        mixed += found not in (old, new)
        for table in TABLES:
            assert found[table] in {old[table], new[table]}
            assert breaches(table, Lake(lake).get(table, key(table))).empty, (
                "its bytes are whole and their digest is right"
            )
    assert mixed, "no kill came while tables were being replaced"
    assert makers.run(lake) > 0
    assert digests(lake) == new
