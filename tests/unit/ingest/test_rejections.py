"""Quarantine rows of a file: however many, in order, and none twice."""

from __future__ import annotations

import pytest

from governance_pipeline.ingest.rejections import Rejections, Repetition


def filled(folder, lines, unpacked_rows=2):
    rejections = Rejections(folder, unpacked_rows)
    for line in lines:
        rejections.add(line, "", line * 10, "bad", f"line {line}")
    return rejections


def test_few_rows_stay_as_they_are(tmp_path):
    rejections = filled(tmp_path, [1, 2])
    assert rejections.in_order() is None
    assert [row["line"] for row in rejections.rows] == [1, 2]


@pytest.mark.parametrize("lines", [[1, 2, 3, 4, 5], [5, 3, 4, 1, 2]])
def test_many_rows_are_packed_and_come_back_in_order(tmp_path, lines):
    packed = filled(tmp_path, lines).in_order()
    packed.constants.update(round_id="r-1", path="logs/a", format="x")
    frame = packed.frame()
    assert frame["line"].tolist() == [1, 2, 3, 4, 5]
    assert frame["byte_offset"].tolist() == [10, 20, 30, 40, 50]
    assert frame["excerpt"].tolist() == [f"line {line}" for line in range(1, 6)]
    assert set(frame["path"]) == {"logs/a"}
    assert frame["duplicate_of"].isna().all()


def test_no_file_is_left_behind(tmp_path):
    filled(tmp_path, range(1, 9)).in_order()
    assert list(tmp_path.iterdir()) == []


def test_a_record_is_remembered_by_line_and_by_pointer():
    rejections = Rejections(None)
    for place in ((9, ""), (None, "/a"), (9, "/a")):
        rejections.take(*place)
    assert [rejections.is_taken(*place) for place in ((9, ""), (None, "/a"), (9, "/a"))] == [True] * 3
    assert not any(rejections.is_taken(*place) for place in ((8, ""), (10, ""), (999, ""), (None, ""), (10, "/a")))


@pytest.mark.parametrize(("is_part", "disposition"), [(False, "duplicate"), (True, "repeated_part")])
def test_a_repetition_names_what_it_repeats_and_why_it_is_one(is_part, disposition):
    rejections = Rejections(None)
    repeats = Repetition("logs/a:1", "u-1", "a line has one uuid")
    rejections.add(2, "", 5, "repeated", "x", repeats=repeats, is_part=is_part)
    (row,) = rejections.rows
    assert row["disposition"] == disposition
    assert (row["duplicate_of"], row["dedup_key"], row["dedup_reason"]) == repeats
