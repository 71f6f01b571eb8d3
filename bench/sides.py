"""Sides of a benchmark: one process per side and repetition, sides in turn; time of the warm run, peak memory, answer.

What belongs here: running and judging. What does not: the workloads; each has a file of its own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = 3

CHILD = """
import json, sys, time
def timed(work, runs=2):
    passes = []
    for _ in range(runs):
        start = time.perf_counter()
        answer = work()
        passes.append(time.perf_counter() - start)
    print(json.dumps([passes[0], passes[-1], answer]))
"""


@dataclass
class Side:
    """One side: the interpreter, the code (calls `timed(work)`), arguments; warm and first seconds, MB, answer."""

    name: str
    code: str
    arguments: list[str]
    interpreter: str = sys.executable
    seconds: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    megabytes: float = 0.0
    answer: Any = None

    def run(self) -> None:
        """Run once in a process of its own: its second pass counts, its peak memory is of both."""
        child = subprocess.Popen(
            [self.interpreter, "-c", CHILD + self.code, *self.arguments], stdout=subprocess.PIPE, cwd=ROOT
        )
        assert child.stdout is not None
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"{self.name} failed with status {status}")
        cold, seconds, self.answer = json.loads(text.splitlines()[-1])
        self.cold.append(cold)
        self.seconds.append(seconds)
        self.megabytes = max(self.megabytes, usage.ru_maxrss / 1024)

    @property
    def median(self) -> float:
        """Median of the warm seconds."""
        return statistics.median(self.seconds)


def run_in_turn(sides: list[Side], runs: int = RUNS) -> None:
    """Run all sides, one after the other, so many times, and print one line per side."""
    for _ in range(runs):
        for side in sides:
            side.run()
    for side in sides:
        print(f"{side.name:34} {side.median:8.2f} s  {side.megabytes:6.0f} MB  {json.dumps(side.answer)[:150]}")


def judge(what: str, value: float, goal: float, *, at_least: bool) -> bool:
    """Print a figure against its goal; return whether it is met."""
    met = value >= goal if at_least else value <= goal
    print(f"{'pass' if met else 'FAIL'}  {what}: {value:.2f} (goal {'>=' if at_least else '<='} {goal:g})")
    return met


def peer_interpreter() -> str | None:
    """Interpreter of an environment that has datacompy; it is no requirement of ours (GOVERN_BENCH_DATACOMPY)."""
    found = os.environ.get("GOVERN_BENCH_DATACOMPY")
    if not found:
        print("datacompy: not run; set GOVERN_BENCH_DATACOMPY to the Python of an environment that has it (1.1.0)")
    return found
