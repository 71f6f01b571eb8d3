"""kill -9 between intent, consume, write and done, and runs that race: never half, never twice."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

GIVE_UP_S = 300
FEATURES, REPORT = "published_features", "published_round_report"
PASSAGE = ["INTENT", "CONSUMED", "RELEASED", "DONE"]
DURABLE = {
    FEATURES: ["intent", "use", "table", "pointer", "release", "end"],
    REPORT: ["intent", "use", "report", "table", "pointer", "release", "end"],
}
"""Things one run makes durable, in order."""
POINTS = {
    asset: [(w, n + 1) for n in range(len(names)) for w in ("before", "after")] for asset, names in DURABLE.items()
}
BETWEEN = [("before", 1), *(point for point in POINTS[FEATURES] if point[0] == "after")]
"""Before anything, and after each: before the next is the same moment, seen from the other side."""
SOME = [
    pytest.param(FEATURES, BETWEEN, id="features"),
    pytest.param(REPORT, [("after", 3)], id="report-half-written"),
    pytest.param(FEATURES, POINTS[FEATURES], id="features-all", marks=pytest.mark.long),
    pytest.param(REPORT, POINTS[REPORT], id="report-all", marks=pytest.mark.long),
]
RACES, RACES_LONG = 2, 100


@pytest.fixture(scope="module")
def runs():
    """Start the program that forks gated runs; gives a function from lines to one answer per line."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("run_process.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(GIVE_UP_S, process.kill)
    watchdog.start()
    assert process.stdout.readline() == "ready\n"

    def together(*lines: tuple[object, ...]) -> list[str]:
        for line in lines:
            process.stdin.write("\t".join(map(str, line)) + "\n")
        process.stdin.write("wait\n")
        process.stdin.flush()
        return [process.stdout.readline().rstrip("\n") for _ in lines]

    yield together
    watchdog.cancel()
    process.kill()
    process.communicate()


def _line(world, asset, run, when="-", nth=0, root_run=None):
    return (world.folder, asset, run, root_run or run, when, nth)


@pytest.mark.parametrize(("asset", "points"), SOME)
def test_a_killed_run_goes_on_under_its_root_run_and_leaves_what_an_undisturbed_one_leaves(asset, points, copies, runs):
    (expected,) = runs(_line(copies("approved"), asset, "run-1"))
    assert expected.startswith("done ")
    worlds = {point: copies("approved") for point in points}
    assert set(runs(*(_line(worlds[point], asset, "run-1", *point) for point in points))) == {"killed"}
    answers = runs(*(_line(world, asset, "run-2", root_run="run-1") for world in worlds.values()))
    assert dict(zip(points, answers, strict=True)) == dict.fromkeys(points, expected)
    for world in worlds.values():
        assert Counter(world.events(*PASSAGE)) == Counter(PASSAGE)
        assert world.ledger.verify() == []


@pytest.mark.parametrize(("asset", "points"), SOME)
def test_another_run_takes_over_only_what_was_never_used(asset, points, copies, runs):
    worlds = {point: copies("approved") for point in points}
    runs(*(_line(worlds[point], asset, "run-1", *point) for point in points))
    answers = runs(*(_line(world, asset, "run-2") for world in worlds.values()))
    for (when, nth), answer in zip(points, answers, strict=True):
        durable = DURABLE[asset][: nth - (when == "before")]
        if "use" in durable:
            assert answer == "refused REPLAYED"
        else:
            assert answer.startswith("done ")
            assert Counter(worlds[when, nth].events(*PASSAGE[1:])) == Counter(PASSAGE[1:])


def _race(copies, runs, races: int) -> None:
    for _ in range(races):
        world = copies("approved")
        answers = sorted(runs(_line(world, FEATURES, "run-1"), _line(world, FEATURES, "run-2")))
        assert [answer.split()[0] for answer in answers] == ["done", "refused"]
        assert answers[1] == "refused REPLAYED"
        assert Counter(world.events(*PASSAGE[1:])) == Counter(PASSAGE[1:])


def test_of_two_runs_that_race_exactly_one_publishes(copies, runs):
    _race(copies, runs, RACES)


@pytest.mark.long
def test_of_two_runs_that_race_a_hundred_times_exactly_one_publishes_each_time(copies, runs):
    _race(copies, runs, RACES_LONG)


def test_the_retry_of_one_run_twice_at_once_still_publishes_once(copies, runs):
    world = copies("approved")
    answers = runs(*(_line(world, FEATURES, f"retry-{n}", root_run="run-1") for n in range(2)))
    assert {answer.split()[0] for answer in answers} <= {"done", "refused"}
    assert any(answer.startswith("done ") for answer in answers)
    assert Counter(world.events(*PASSAGE[1:])) == Counter(PASSAGE[1:])
