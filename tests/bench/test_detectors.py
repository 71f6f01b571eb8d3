"""The published error rates come from the kept numbers, and the harness finds what it plants."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).parents[2]
BEFORE = "def test_first():\n    kept = 1\n    assert 1 + 1 == 2\n\n\ndef test_second():\n    kept = 2\n    assert [3] == [3]\n    assert 4 < 5\n"
AFTER = BEFORE + "\n\ndef test_third():\n    assert {6} == {6}\n"


@pytest.fixture
def bench(monkeypatch):
    """Give a function that imports a module of bench/, as a script there does."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    known = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - known:
        if name.startswith("detector"):
            del sys.modules[name]


@pytest.fixture
def repository(tmp_path):
    """Make a repository in which the second commit changes a test file and a manifest."""

    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
            cwd=tmp_path, check=True, capture_output=True,
        )  # fmt: skip

    git("init", "-q")
    for text, pins in ((BEFORE, "alpha==1.0\nbeta==1.0\n"), (AFTER, "alpha==1.0\nbeta==2.0\n")):
        (tmp_path / "test_a.py").write_text(text)
        (tmp_path / "requirements.txt").write_text(pins)
        (tmp_path / "api.py").write_text(f"def call(a, b=1):\n    return {len(text)}\n")
        git("add", "-A")
        git("commit", "-q", "-m", "work")
    return tmp_path


def test_the_page_holds_the_tables_of_the_kept_numbers_and_no_others(bench):
    page = (ROOT / "docs" / "detectors.md").read_text("utf-8")
    results = json.loads((ROOT / "bench" / "detectors.json").read_text("utf-8"))
    assert bench("detector_page").rewrite(page, results) == page, "run python bench/detectors.py --page"


def test_a_page_without_a_mark_is_refused(bench):
    results = json.loads((ROOT / "bench" / "detectors.json").read_text("utf-8"))
    with pytest.raises(ValueError, match="<!-- measured -->"):
        bench("detector_page").rewrite("# nothing here\n", results)


def test_the_tuning_seed_is_not_published(bench):
    results = json.loads((ROOT / "bench" / "detectors.json").read_text("utf-8"))
    assert {seed for entry in results["histories"].values() for seed in entry["planted"]} <= {"1", "2"}
    assert 0 not in bench("detectors").SEEDS


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (1, 1, 0.2065, 1.0)]
)
def test_wilson_gives_the_published_limits(bench, hits, of, low, high):
    interval = bench("detector_intervals").wilson(hits, of)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_nothing_measured_has_no_interval_and_unequal_sides_are_no_pairs(bench):
    intervals = bench("detector_intervals")
    assert intervals.wilson(0, 0) is None
    with pytest.raises(ValueError, match="pairs are needed"):
        intervals.paired_difference([1], [1, 2], sum, 1)


def test_a_side_against_itself_differs_by_nothing(bench):
    pairs = [[1, 2, 0, 3, 0], [4, 0, 1, 0, 0]]
    tables, intervals = bench("detector_tables"), bench("detector_intervals")
    assert intervals.paired_difference(pairs, pairs, tables.f1, 1) == (0.0, 0.0, 0.0)


def test_what_is_planted_is_found_and_harmless_changes_stay_silent(bench, repository):
    history = bench("detector_history").last_commits(repository, 5)
    assert (len(history.commits), history.left_out) == (1, 0)
    rows = {
        (row["language"], row["kind"]): row
        for row in bench("detector_planting").planted(repository, history.commits, 1, 0)
    }
    for key in [
        ("python", "test deleted"),
        ("python", "marker pytest.mark.skip"),
        ("python", "all assertions deleted"),
        ("python", "cut off in the middle"),
        ("python", "last parameter dropped"),
        ("requirements", "package added"),
        ("requirements", "pin loosened"),
    ]:
        assert (rows[key]["found"], rows[key]["others"]) == (1, {}), key
    harmless = [row for row in rows.values() if row["code"] is None]
    assert len(harmless) >= 8
    assert all(not row["others"] for row in harmless)
    assert rows["python", "first line early return"]["why"], "a gap that is documented is named as one"


def test_the_commits_themselves_are_clean(bench, repository):
    commits = bench("detector_history").last_commits(repository, 5).commits
    assert [found for _, found in bench("detector_history").findings(commits)] == [frozenset()]


def test_the_first_commit_of_a_history_is_no_round(bench, repository):
    assert bench("detector_history").last_commits(repository, 5, "HEAD~1").commits == []


def test_a_broken_plant_that_still_parses_is_no_case(bench):
    plants, planting = bench("detector_plants"), bench("detector_planting")
    source = plants.Source("a.py", "x = 1\n", "x = 1\n")
    plant = plants.Plant("k", "parse-failure", "python", lambda *_: None)
    assert not planting._is_sound(plant, source, {"a.py": "x = 2\n"})
    assert planting._is_sound(plant, source, {"a.py": "x = (\n"})


def test_an_assertion_over_several_lines_is_not_cut_in_half(bench):
    units = bench("detector_units")
    lines = ["def test_a():", "    assert f(", "        1,", "    )", "    assert True", ""]
    python = units.language_of("test_a.py")
    (unit,) = units.units(lines, python)
    assert units.assertions(lines, unit, python) == [4]


@pytest.mark.parametrize(
    ("side", "files", "outside"),
    [
        ("ours, every folder of the task (dir:2)", ["src/a/x.py", "README.md"], ["src/b/y.py"]),
        ("ours, every top folder of the task (dir:1)", ["src/a/x.py", "README.md"], []),
        ("ours, only the folder most of the task is in (dir:2)", ["src/a/x.py", "src/a/z.py", "README.md"],
         ["README.md", "src/b/y.py", "LICENSE"]),
        ("ours, every folder of the task (dir:2)", ["src/a/x.py"], ["src/b/y.py", "LICENSE"]),
        ("ours, no contract", ["src/a/x.py"], []),
    ],
)  # fmt: skip
def test_a_declared_scope_is_what_its_row_says(bench, side, files, outside):
    scope = bench("detector_scope")
    asked = [*(path for path in files if path == "README.md"), "src/a/x.py", "src/b/y.py", "LICENSE"]
    assert scope.outside(asked, scope.DECLARATIONS[side](files)) == outside


def test_a_folder_whose_name_is_a_pattern_is_taken_literally(bench):
    scope = bench("detector_scope")
    globs = scope.DECLARATIONS["ours, every folder of the task (dir:2)"](["app/[id]/page.ts"])
    assert scope.outside(["app/[id]/page.ts", "app/i/page.ts"], globs) == ["app/i/page.ts"]


def test_every_label_names_a_commit_a_detector_a_verdict_and_why(bench):
    lines = (ROOT / "bench" / "detector_labels.csv").read_text("utf-8").splitlines()
    assert lines[0] == "sha,code,verdict,why"
    codes = "|".join(bench("detector_rounds").CODES)
    assert [line for line in lines[1:] if not re.match(rf"[0-9a-f]{{10}},({codes}),(right|false),.+", line)] == []


def test_edits_are_drawn_by_their_seed_alone(bench):
    plants = bench("detector_planting").all_plants()
    source = bench("detector_plants").Source("test_a.py", AFTER, AFTER)
    assert len({(plant.language, plant.kind) for plant in plants}) == len(plants)
    plant = next(p for p in plants if p.kind == "one assertion deleted" and p.language == "python")
    assert plant.make(source, Random(7)) == plant.make(source, Random(7))
