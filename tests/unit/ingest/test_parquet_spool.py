"""Rows that become Parquet at once are what a spool of Arrow holds: in order, under the contract's columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from governance_pipeline.contracts.registry import empty_frame, validate
from governance_pipeline.ingest.parquet_spool import ParquetSpool
from governance_pipeline.ingest.spool import Spool

WHERE = {"round_id": "r-1", "path": "logs/a", "file_sha256": "ab" * 32, "pointer": ""}


def steps(first, count):
    numbers = pa.array(range(first, first + count), pa.int64())
    return {"run_id": pa.array(["run"] * count), "step_index": numbers, "line": numbers}


def test_columns_of_another_type_are_refused(tmp_path):
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError)):
        ParquetSpool("core_steps", tmp_path, WHERE).append({"run_id": pa.array([1]), "step_index": pa.array(["x"])})


def test_each_append_keeps_the_constants_it_had(tmp_path):
    spool = ParquetSpool("core_steps", tmp_path, WHERE)
    spool.append(steps(1, 2))
    spool.constants["path"] = "logs/b"
    spool.append(steps(3, 1))
    frame = validate("core_steps", spool.frame())
    assert (len(spool), frame["path"].tolist()) == (3, ["logs/a", "logs/a", "logs/b"])


def test_the_rows_are_those_of_a_spool_of_arrow(tmp_path):
    spools = Spool("core_steps", tmp_path, WHERE), ParquetSpool("core_steps", tmp_path, WHERE)
    for spool in spools:
        spool.append(steps(1, 3))
        spool.append(steps(4, 2))
    as_arrow, as_parquet = (spool.frame() for spool in spools)
    assert as_parquet.equals(as_arrow)
    assert as_parquet.equals(spools[1].frame())


def test_an_empty_spool_gives_the_empty_table(tmp_path):
    assert ParquetSpool("core_steps", tmp_path, WHERE).frame().equals(empty_frame("core_steps"))
