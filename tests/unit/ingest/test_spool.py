"""Rows on disk instead of in memory: what goes in comes out, in order, under the contract's columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from governance_pipeline.contracts.registry import empty_frame, validate
from governance_pipeline.ingest.spool import Spool

WHERE = {"round_id": "r-1", "path": "logs/a", "file_sha256": "ab" * 32, "pointer": ""}


def steps(first, count):
    numbers = pa.array(range(first, first + count), pa.int64())
    return {"run_id": pa.array(["run"] * count), "step_index": numbers, "line": numbers}


def test_a_column_nobody_gave_is_null_and_a_constant_is_in_every_row(tmp_path):
    spool = Spool("core_steps", tmp_path, WHERE)
    spool.append(steps(1, 3))
    spool.append(steps(4, 2))
    frame = validate("core_steps", spool.frame())
    assert (len(spool), frame["step_index"].tolist()) == (5, [1, 2, 3, 4, 5])
    assert set(frame["file_sha256"]) == {"ab" * 32}
    assert frame["tool"].isna().all()
    assert list(frame.columns) == list(empty_frame("core_steps").columns)


def test_an_empty_spool_gives_the_empty_table(tmp_path):
    frame = Spool("core_steps", tmp_path, WHERE).frame()
    assert frame.equals(empty_frame("core_steps"))


def test_rows_can_be_read_again(tmp_path):
    spool = Spool("core_steps", tmp_path, WHERE)
    spool.append(steps(1, 3))
    assert spool.frame().equals(spool.frame())


def test_columns_of_another_type_are_refused(tmp_path):
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError)):
        Spool("core_steps", tmp_path, WHERE).append({"run_id": pa.array([1]), "step_index": pa.array(["x"])})


def test_the_file_has_no_name(tmp_path):
    spool = Spool("core_steps", tmp_path, WHERE)
    spool.append(steps(1, 3))
    assert list(tmp_path.iterdir()) == []
