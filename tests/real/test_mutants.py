"""Public logs that something happened to: whatever it was, they are read or quarantined (minutes: `make test-long`)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[1] / "unit" / "ingest"
REAL = Path(__file__).parents[2].parent / "shared" / "data" / "real"
LARGEST, EACH = 120_000, 3

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not REAL.is_dir(), reason="no real logs beside the checkout (../shared/data/real)"),
]
FOLDERS = sorted(path.name for path in REAL.iterdir() if path.is_dir()) if REAL.is_dir() else []


def load(name):
    spec = importlib.util.spec_from_file_location(f"{name}_of_real", UNIT / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fuzzing, mutants = load("fuzzing"), load("mutants")


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_public_log_that_was_damaged_is_read_or_quarantined(tmp_path, folder):
    bench = fuzzing.Bench(tmp_path / "bench")
    files = [path for path in sorted((REAL / folder).rglob("*")) if path.is_file() and path.suffix != ".csv"]
    small = [path for path in files if path.stat().st_size <= LARGEST][:40]
    for start, path in enumerate(small):
        sound = {f"logs/{path.relative_to(REAL / folder).as_posix()}": path.read_bytes()}
        damaged = {f"m-{number}": mutants.mutant([sound], number) for number in range(start * EACH, (start + 1) * EACH)}
        assert bench.faults(damaged) == {}, path
