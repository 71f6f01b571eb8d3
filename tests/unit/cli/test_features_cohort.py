"""`govern features cohort`: a lake without cohorts and an unknown round are refused, and every change has its reason."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.trajectory.cohort_tables import BASELINE_TABLE


@pytest.fixture
def lake(cohort_lake):
    made = cohort_lake
    for day in (1, 2, 3):
        made.put_round(f"r-{day}", day, float(day))
    made.put_round("apart", 1, 1.0, cohort="[b]other[/b]")
    made.put_round("alone", 1, 1.0, cohort=None)
    made.put_round("timeless", None, 1.0)
    made.refresh()
    return made


@pytest.fixture
def shown(lake, capsys):
    """Give a function that runs the command with --json and gives the document, held to its schema."""
    folder = resources.files("governance_pipeline.trajectory") / "schemas"
    schema = json.loads((folder / "cohort-baselines-v1.json").read_text("utf-8"))

    def _shown(*arguments: str) -> dict:
        assert run(["features", "cohort", "--lake", str(lake.root), *arguments, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, schema)
        return document

    return _shown


def test_a_lake_without_cohorts_and_a_round_it_has_not_are_refused(lake, tmp_path, capsys):
    assert run(["features", "cohort", "--lake", str(tmp_path / "none")]) == 2
    assert run(["features", "cohort", "--lake", str(lake.root), "--round", "r-9"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "has not been made" in err
    assert "'r-9' is no round" in err


def test_a_damaged_table_is_unreadable_and_prints_nothing(lake, capsys):
    lake.path(BASELINE_TABLE, None).write_bytes(b"no parquet")
    assert run(["features", "cohort", "--lake", str(lake.root), "--json"]) == 3
    assert capsys.readouterr().out == ""


def test_a_round_is_shown_with_its_cohort_alone(shown):
    document = shown("--round", "r-3")
    [cohort] = document["cohorts"]
    assert cohort["cohort"] == ["c"]
    assert document["round"]["baseline_id"] == cohort["baselines"][1]["baseline_id"]
    assert [one["rounds_count"] for one in cohort["baselines"]] == [1, 2, 3]
    assert shown("--round", "r-1")["round"]["reason"] == "no_reference"
    assert shown("--round", "alone")["round"]["reason"] == "no_cohort"
    assert shown("--round", "alone")["cohorts"] == []
    assert shown("--round", "timeless")["round"]["reason"] == "no_time"


def test_what_superseded_what_and_why_is_in_the_document(lake, shown):
    before = {one["baseline_id"] for one in shown("--round", "r-1")["cohorts"][0]["baselines"]}
    lake.put_round("r-0", 0, 9.0)
    assert shown()["stale_reason"] == "rounds came or changed since the cohort tables were made"
    lake.refresh()
    document = shown()
    [left] = document["abandoned"]
    assert (left["reason"], left["rounds_came"], left["forked_after"]) == ("rounds_came", ["r-0"], None)
    assert set(left["baseline_ids"]) == before
    newest = next(one for one in document["cohorts"] if one["cohort"] == ["c"])["baselines"][-1]
    assert left["superseded_by"] == newest["baseline_id"]
    assert document["stale_reason"] is None


def test_the_page_says_the_same_in_words_and_names_stay_text(lake, capsys):
    lake.put_round("r-0", 0, 9.0)
    lake.refresh()
    assert run(["features", "cohort", "--lake", str(lake.root)]) == 0
    out = capsys.readouterr().out
    assert "c  4 rounds, 4 baselines" in out
    assert "[b]other[/b]  1 rounds" in out
    assert "rounds that ended earlier came later; came: r-0" in out
    assert "rounds_added: r-3" in out
    assert run(["features", "cohort", "--lake", str(lake.root), "--round", "alone"]) == 0
    assert "alone is compared with nothing: it has no cohort" in capsys.readouterr().out
