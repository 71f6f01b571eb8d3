"""Runs and steps become rows once, under one name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from governance_pipeline.ingest.extraction import Extraction
from governance_pipeline.ingest.formats.edits import LineCounts
from governance_pipeline.ingest.formats.places import Place
from governance_pipeline.ingest.formats.runs import Change, Run, RunNames, Step
from governance_pipeline.ingest.logfile import LogFile, Record, Sample

FILE = LogFile("logs/x.jsonl", "0" * 64, 1, Sample("logs/x.jsonl", "jsonl", ()), Path())
PLACE = Place(FILE, Record(3, "", {"big": "value"}, 0, b"bytes"), "")


def test_a_name_that_is_taken_gets_its_file_and_then_a_number():
    names = RunNames(Extraction("r-1"))
    given = [names.claim("s", path) for path in ("a", "b", "b", "c")]
    assert given == ["s", "s@b", "s@b~2", "s@c"]


def test_a_file_may_name_one_run_a_hundred_thousand_times_and_each_has_its_own_id():
    names = RunNames(Extraction("r-1"))
    given = [names.claim("s", "a") for _ in range(100_000)]
    assert given[:3] + given[-1:] == ["s", "s@a", "s@a~2", "s@a~99999"]
    assert len(set(given)) == len(given)


def test_a_name_another_format_has_used_is_taken():
    out = Extraction("r-1")
    Run("s", "native_audit_log", PLACE).write(out)
    assert RunNames(out).claim("s", "logs/y") == "s@logs/y"


def test_a_run_spans_the_times_it_saw_and_unknown_times_change_nothing():
    run = Run("s", "f", PLACE)
    for time in (None, datetime(2026, 1, 2, tzinfo=UTC), None, datetime(2026, 1, 1, tzinfo=UTC)):
        run.saw(time)
    assert (run.started_at.day, run.ended_at.day) == (1, 2)


def test_a_final_patch_is_a_change_of_the_last_step_only_when_no_step_has_one():
    patch = [Change("p", LineCounts(1, 0), "patch")]
    edited = Run("s", "f", PLACE, steps=[Step(PLACE, changes=[Change("e", LineCounts(1, 1), "edit")]), Step(PLACE)])
    blind = Run("s", "f", PLACE, steps=[Step(PLACE), Step(PLACE)])
    for run in (edited, blind, Run("s", "f", PLACE)):
        run.changed_at_the_end(patch)
    assert [[change.file_path for change in step.changes] for step in edited.steps] == [["e"], []]
    assert [[change.file_path for change in step.changes] for step in blind.steps] == [[], ["p"]]


def test_steps_and_changes_are_numbered_from_one_and_keep_their_place():
    out = Extraction("r-1")
    elsewhere = PLACE.below("/patch")
    changes = [Change("a", LineCounts(1, None), "edit"), Change("b", LineCounts(None, 2), "patch", elsewhere)]
    Run("s", "f", PLACE, agent_id="main", steps=[Step(PLACE), Step(PLACE, agent_id="sub", changes=changes)]).write(out)
    steps = out.frame("core_steps")
    assert list(zip(steps["step_index"], steps["agent_id"], strict=True)) == [(1, "main"), (2, "sub")]
    found = out.frame("core_file_changes")
    assert list(zip(found["step_index"], found["change_index"], found["pointer"], strict=True)) == [
        (2, 1, ""),
        (2, 2, "/patch"),
    ]
    assert found["added_count"].isna().tolist() == [False, True]


def test_a_run_names_its_models_in_the_order_of_their_first_use():
    out = Extraction("r-1")
    run = Run("s", "f", PLACE)
    for model in ("b", None, "a", "b"):
        run.used(model)
    run.write(out)
    assert out.frame("core_runs")["model_id"].tolist() == ["b, a"]
