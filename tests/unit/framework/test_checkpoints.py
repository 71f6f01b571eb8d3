"""A batch goes on after the last unit it recorded, on the same inputs or not at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from governance_pipeline.errors import FaultyFileError, UsageError
from governance_pipeline.framework.checkpoints import BatchCheckpoints, inputs_digest
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.strict.files import FileRefused

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
INPUTS = "a" * 64


@pytest.fixture
def now():
    """Give a time a test may move."""
    return [NOON]


@pytest.fixture
def batches(folder, now):
    """Give the checkpoints of a folder."""
    return BatchCheckpoints(folder, clock=lambda: now[0])


def test_a_batch_that_was_cut_off_goes_on_after_its_last_unit(folder, batches):
    progress = batches.begin("load", "run-1", INPUTS)
    progress = batches.advance(progress, "a.csv", {"rows": 3})
    batches.advance(progress, "b.csv")
    again = BatchCheckpoints(folder).begin("load", "run-2", INPUTS)
    assert (again.units_done, again.last_unit, again.data, again.run_id) == (2, "b.csv", {"rows": 3}, "run-2")
    assert again.started_at == NOON


def test_an_unfinished_batch_is_not_continued_on_other_inputs(batches):
    batches.advance(batches.begin("load", "run-1", INPUTS), "a.csv")
    with pytest.raises(FrameworkRefused, match=r"INPUTS_CHANGED: batch load stopped after 1 units"):
        batches.begin("load", "run-2", "b" * 64)
    assert batches.read("load").run_id == "run-1"


def test_a_finished_batch_begins_anew(batches):
    batches.finish(batches.advance(batches.begin("load", "run-1", INPUTS), "a.csv"))
    assert batches.begin("load", "run-2", "b" * 64).units_done == 0


def test_two_writers_of_one_checkpoint_do_not_overwrite_each_other(batches):
    progress = batches.begin("load", "run-1", INPUTS)
    batches.advance(progress, "a.csv")
    for act in (lambda: batches.advance(progress, "b.csv"), lambda: batches.finish(progress)):
        with pytest.raises(FrameworkRefused, match="CHECKPOINT_MOVED"):
            act()
    assert batches.read("load").last_unit == "a.csv"


def test_a_unit_that_takes_longer_than_the_limit_is_overdue(batches, now):
    assert not batches.is_overdue("load", 60, now[0])
    progress = batches.begin("load", "run-1", INPUTS)
    assert not batches.is_overdue("load", 60, NOON + timedelta(seconds=60))
    assert batches.is_overdue("load", 60, NOON + timedelta(seconds=61))
    now[0] += timedelta(seconds=61)
    progress = batches.advance(progress, "a.csv")
    assert not batches.is_overdue("load", 60, now[0])
    batches.finish(progress)
    assert not batches.is_overdue("load", 60, now[0] + timedelta(days=1))


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "govern/batch-checkpoint/v1"}'])
def test_a_file_that_is_no_checkpoint_is_refused_and_not_begun_over(batches, text):
    batches.begin("load", "run-1", INPUTS)
    batches.path("load").write_text(text)
    with pytest.raises(FaultyFileError):
        batches.begin("load", "run-2", INPUTS)
    assert batches.path("load").read_text() == text


def test_a_date_that_is_none_is_refused(batches):
    batches.begin("load", "run-1", INPUTS)
    path = batches.path("load")
    path.write_text(path.read_text().replace("2026-11-30T12:00:00.000000Z", "2026-13-30T12:00:00.000000Z"))
    with pytest.raises(FaultyFileError, match="schema"):
        batches.read("load")


@pytest.mark.parametrize("name", ["../x", "A", "", "_x"])
def test_a_name_that_could_leave_the_folder_is_refused(batches, name):
    with pytest.raises(UsageError):
        batches.begin(name, "run-1", INPUTS)


def test_the_digest_of_inputs_is_of_paths_and_bytes_in_any_order(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    both = [tmp_path / "a", tmp_path / "b"]
    first = inputs_digest(tmp_path, both)
    assert inputs_digest(tmp_path, both[::-1]) == first
    (tmp_path / "a").write_bytes(b"2")
    (tmp_path / "b").write_bytes(b"1")
    assert inputs_digest(tmp_path, both) != first


def test_no_input_an_absent_one_or_one_from_elsewhere_has_no_digest(tmp_path):
    with pytest.raises(UsageError, match="without inputs"):
        inputs_digest(tmp_path, [])
    with pytest.raises(UsageError, match="is not below"):
        inputs_digest(tmp_path / "p", [tmp_path / "x"])
    with pytest.raises(FileRefused):
        inputs_digest(tmp_path, [tmp_path / "x"])
