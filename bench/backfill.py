"""A backfill of many rounds in one chunked run against as many one-round runs, through Dagster in-process.

Usage: python bench/backfill.py [ROUNDS] [SINGLE]    default: 200 rounds in one run, 20 one-round runs

Copies of the sample rounds under new ids. Each side runs in its own process with a fresh Dagster home and lake; what
counts is the cost per round and the peak memory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOME = "telemetry: {enabled: false}\n"


def landing_of(folder: Path, rounds: int) -> Path:
    """Make a landing area with so many rounds; return it."""
    sample = sorted((ROOT / "data" / "sample" / "rounds").iterdir())
    landing = folder / "landing"
    for number in range(rounds):
        shutil.copytree(sample[number % len(sample)], landing / f"bench-{number:05d}")
    return landing


def run(rounds: int, chunk: int) -> tuple[float, float]:
    """Backfill `rounds` rounds in runs of `chunk`; return wall seconds and peak memory in MB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "home").mkdir()
        (folder / "home" / "dagster.yaml").write_text(HOME)
        environment = os.environ | {
            "DAGSTER_HOME": str(folder / "home"), "DAGSTER_DISABLE_TELEMETRY": "1",
            "GOVERN_LANDING": str(landing_of(folder, rounds)), "GOVERN_LAKE": str(folder / "lake"),
        }  # fmt: skip
        command = [sys.executable, "-m", "assets_defs.backfill", "--all", "--processes", "1", "--chunk", str(chunk)]
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"backfill failed with status {status}")
        return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Print both sides and the ratio per round."""
    many, single = (int(a) for a in (sys.argv[1:] + ["200", "20"][len(sys.argv) - 1 :]))
    start, _ = run(1, 1)
    one_by_one, memory_single = run(single, 1)
    chunked, memory_chunk = run(many, many)
    per_single, per_chunk = (one_by_one - start) / (single - 1), (chunked - start) / (many - 1)
    print(f"start-up and one round              {start:7.1f} s")
    print(f"{single} one-round runs  {one_by_one:7.1f} s  {per_single:6.3f} s/round  {memory_single:5.0f} MB")
    print(f"{many} rounds in one run  {chunked:7.1f} s  {per_chunk:6.3f} s/round  {memory_chunk:5.0f} MB")
    print(f"one-round run / chunked, per round  {per_single / per_chunk:7.1f}x")


if __name__ == "__main__":
    main()
