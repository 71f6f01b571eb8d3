"""A program for the kill test: forks one maker per line on its input, so imports cost once.

A line is `<landing> <lake> <nth>`, parted by tabs. The maker makes every table of every round and kills itself
immediately before the nth time it would put a file in its place; with 0 it comes to its end. What became of it is
printed: the number of files it put in place, or -9 when it was killed.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path

from governance_pipeline.pipeline import TABLES
from governance_pipeline.workspace import Workspace


def make(landing: Path, lake: Path) -> None:
    Workspace(landing, lake).make(TABLES, sorted(path.name for path in landing.iterdir()))


def run(landing: str, lake: str, nth: str) -> int:
    real, placed = os.replace, 0

    def replace(*args, **kwargs):
        nonlocal placed
        placed += 1
        if placed == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)

    os.replace = replace
    make(Path(landing), Path(lake))
    return placed


with tempfile.TemporaryDirectory() as warm:  # what a first run imports, no maker imports again
    (Path(warm) / "landing" / "r").mkdir(parents=True)
    make(Path(warm) / "landing", Path(warm) / "lake")

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os._exit(run(*line.rstrip("\n").split("\t")))
    sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
    sys.stdout.flush()
