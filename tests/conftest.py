"""Shared by all tests: where things are, a clean environment, and the cost tiers."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 4 << 30  # one run leaves some 400 MB; a container's default of 64 MB is not enough


def pytest_configure() -> None:
    """Put temporary files in memory where there is room: half of the wall time of the gate's tests is waiting for fsync.

    A `TMPDIR` that is set, or `--basetemp`, is obeyed. Workers inherit what the first process chose.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return
    if shutil.disk_usage(MEMORY).free >= MEMORY_BYTES:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may depend on the variables of the shell it was started from."""
    for name in ("GOVERN_LANDING", "GOVERN_LAKE", "DAGSTER_HOME", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "1")


@pytest.fixture
def root() -> Path:
    """Return the project root."""
    return ROOT


@pytest.fixture
def real_logs() -> Path:
    """Return the folder of real public logs, or skip: they are never part of the project."""
    folder = SHARED / "data" / "real"
    if not folder.is_dir():
        pytest.skip("no real logs beside the checkout (../shared/data/real)")
    return folder
