"""W5: a million targets against fixed references, 100 cohorts of 10,000 and one of a million, beside crepes.

Usage: python bench/p_values.py [--small]

The product's `RunningValues.at_least_all`: a reference is put in order once, targets are asked for in ascending order.
Values have one decimal, so that many are equal; a tie counts as at least as extreme. The peer is no requirement of
ours: GOVERN_BENCH_CREPES is the Python of an environment that has crepes (0.9.1). It scans the whole reference for
each target, so it answers a part of the targets and is scaled; with one cohort of a million it answers ten. Every
p-value of that part must be the same to the last bit. Source of workload and goals: research/performance.md W5.
"""

from __future__ import annotations

import os
import sys

from sides import Side, judge, run_in_turn

DATA = """
import hashlib, sys
import numpy as np
COHORTS, ROUNDS, TARGETS, PART = (int(text) for text in sys.argv[1:5])
random = np.random.default_rng(20260101)
reference = np.round(random.lognormal(3, 1, (COHORTS, ROUNDS)), 1)
targets = np.round(random.lognormal(3.2, 1, (COHORTS, TARGETS // COHORTS)), 1)
def told(p):
    return hashlib.sha256(np.ascontiguousarray(p, dtype="<f8").tobytes()).hexdigest()
"""
FLOOR = (
    "from governance_pipeline.trajectory.running import RunningValues\n"
    + DATA
    + "timed(lambda: told(targets[:, :1]))\n"
)
OURS = (
    "from governance_pipeline.trajectory.running import RunningValues\n"
    + DATA
    + """
def work():
    p = np.empty(targets.shape)
    for at in range(COHORTS):
        running = RunningValues(reference[at])
        running.grow(ROUNDS)
        p[at] = (1 + running.at_least_all(targets[at])) / (ROUNDS + 1)
    return told(p[:, :PART])
timed(work)
"""
)
CREPES = (
    "from crepes.base import p_values_batch\n"
    + DATA
    + """
def work():
    answers = [p_values_batch(reference[at], targets[at, :PART], smoothing=False) for at in range(COHORTS)]
    return told(np.array(answers))
timed(work)
"""
)


def sized(cohorts: int, rounds: int, targets: int, part: int, peer: str | None) -> list[bool]:
    """Run all sides on one workload, print them, and judge them; `part` targets of each cohort go to the peer."""
    print(f"{cohorts} x {rounds} rounds, {targets} targets")
    arguments = [str(number) for number in (cohorts, rounds, targets, part)]
    floor, ours = Side("the data alone", FLOOR, arguments), Side("ours, all targets", OURS, arguments)
    sides = [floor, ours]
    if peer:
        sides.append(Side(f"crepes, {part * cohorts} targets", CREPES, arguments, peer))
    run_in_turn(sides)
    results = [judge("MB over the data", ours.megabytes - floor.megabytes, 100, at_least=False)]
    if peer:
        scaled = sides[-1].median * targets / (part * cohorts)
        results.append(judge("crepes, scaled / ours", scaled / ours.median, 200, at_least=True))
        results.append(judge("same bits", float(sides[-1].answer == ours.answer), 1, at_least=True))
    return results


def main() -> None:
    """Print one line per side, then each goal."""
    peer = os.environ.get("GOVERN_BENCH_CREPES")
    if not peer:
        print("crepes: not run; set GOVERN_BENCH_CREPES to the Python of an environment that has it (0.9.1)")
    less = 10 if "--small" in sys.argv else 1
    results = sized(100, 10_000 // less, 1_000_000 // less, 50, peer)
    results += sized(1, 1_000_000 // less, 1_000_000 // less, 10, peer)
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
