"""A price file is judged as a whole before anything is read with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from governance_pipeline.errors import FaultyFileError, UnreadableError
from governance_pipeline.ingest.planning import PlannedFile, PlannedRound
from governance_pipeline.ingest.price_file import NAME, read_price_file, with_prices

PRICE = {"model": "m", "input": 1, "output": 2, "source": "contract"}


def written(folder, *lines):
    path = folder / "own.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_every_line_that_cannot_be_used_is_named_with_its_reason(tmp_path):
    path = written(tmp_path, PRICE, "{", "", {**PRICE, "model": "n", "output": -1}, PRICE, 5)
    with pytest.raises(FaultyFileError) as refused:
        read_price_file(path)
    assert [(fault.line, fault.code) for fault in refused.value.faults] == [
        (2, "malformed_json"),
        (4, "bad_output"),
        (5, "overlapping_price"),
        (6, "not_an_object"),
    ]
    assert "line 4: bad_output" in str(refused.value)
    with pytest.raises(FaultyFileError):
        with_prices([], path)


def test_a_file_that_cannot_be_opened_is_unreadable(tmp_path):
    with pytest.raises(UnreadableError):
        read_price_file(tmp_path / "gone.jsonl")


def test_an_empty_file_has_no_prices(tmp_path):
    assert read_price_file(written(tmp_path)) == []


def test_each_round_gets_the_file_in_path_order_and_keeps_its_own(tmp_path):
    path = written(tmp_path, PRICE)
    log = PlannedFile(Path("x"), "logs/x", 1, None, None, None)
    late = PlannedFile(Path("z"), "z", 1, None, None, None)
    own = PlannedFile(Path("y"), NAME, 1, None, None, None)
    found = with_prices([PlannedRound("a", (log, late)), PlannedRound("b", (log, own))], path)
    assert [[file.path for file in planned.files] for planned in found] == [["logs/x", NAME, "z"], ["logs/x", NAME]]
    assert found[1].files[1] is own
    added = found[0].files[1]
    assert (added.source, added.size, added.format) == (path, path.stat().st_size, "native_prices")
