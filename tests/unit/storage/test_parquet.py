"""The same frame gives the same bytes; other bytes are never taken for it."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from governance_pipeline.contracts.core_usage import CoreUsage
from governance_pipeline.contracts.registry import REGISTRY, empty_frame
from governance_pipeline.errors import ContractBreach, StorageError, UsageError
from governance_pipeline.storage import parquet


def _bytes(frame, **metadata):
    return parquet.to_bytes("core_usage", frame, metadata)


def test_bytes_depend_on_cells_and_order_only(usage):
    frame = usage()
    first = _bytes(frame)
    assert _bytes(usage()) == first
    assert _bytes(frame.set_index(pd.Index([5, 5, 9], name="other"))) == first
    assert _bytes(pd.concat([frame.iloc[:1], frame.iloc[1:]])) == first
    assert _bytes(frame.iloc[::-1].iloc[::-1]) == first
    assert _bytes(frame.iloc[::-1]) != first


def test_what_hides_behind_a_null_is_not_in_the_bytes(usage):
    null = np.array([True, True, True])
    frames = [
        usage().assign(input_tokens=pd.arrays.IntegerArray(np.array(hidden), null)) for hidden in ([1, 2, 3], [0, 0, 9])
    ]
    assert _bytes(frames[0]) == _bytes(frames[1])


def test_a_file_says_which_contract_it_keeps_and_nothing_of_pandas(usage):
    schema = pq.read_schema(io.BytesIO(_bytes(usage(), b="2", a="1")))
    assert parquet.metadata_of(schema.metadata) == {
        "a": "1",
        "b": "2",
        "govern.contract": "core_usage",
        "govern.contract_version": "1",
    }
    assert schema.names == list(CoreUsage.to_schema().columns)


def test_metadata_changes_the_bytes_and_its_order_does_not(usage):
    assert _bytes(usage(), a="1") != _bytes(usage())
    assert _bytes(usage(), a="1", b="2") == _bytes(usage(), b="2", a="1")


def test_metadata_under_the_prefix_of_storage_is_refused(usage):
    with pytest.raises(UsageError, match=r"\['govern\.contract'\] of core_usage start with 'govern\.'"):
        parquet.to_bytes("core_usage", usage(), {"govern.contract": "core_runs"})


@pytest.mark.parametrize("table", REGISTRY)
def test_dtypes_of_every_table_come_back_from_the_contract(table, tmp_path):
    frame = empty_frame(table)
    pd.testing.assert_frame_equal(parquet.from_bytes(table, parquet.to_bytes(table, frame, {}), tmp_path), frame)


def test_cells_come_back_to_the_last_digit_and_microsecond(usage, tmp_path):
    frame = usage()
    frame.loc[1] = pd.NA
    pd.testing.assert_frame_equal(parquet.from_bytes("core_usage", _bytes(frame), tmp_path), frame)


def test_a_frame_of_other_dtypes_is_refused_and_never_cast(usage):
    with pytest.raises(ContractBreach, match=r"column line: dtype\(Int64\), found 'float64'"):
        _bytes(usage().astype({"line": float}))


def test_bytes_of_another_table_are_refused(usage, tmp_path):
    with pytest.raises(
        StorageError, match=r"keeps contract core_usage version 1, this program reads core_runs version 1"
    ):
        parquet.from_bytes("core_runs", _bytes(usage()), tmp_path)


def test_bytes_of_an_older_contract_are_refused_with_what_to_do(usage, tmp_path, monkeypatch):
    data = _bytes(usage())
    monkeypatch.setitem(CoreUsage.Config.metadata, "version", 2)
    with pytest.raises(StorageError, match=r"version 1, this program reads core_usage version 2; make the table again"):
        parquet.from_bytes("core_usage", data, tmp_path)


def test_a_parquet_file_with_other_columns_is_refused_even_under_the_right_name(tmp_path):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": [1]}).replace_schema_metadata(parquet.own_metadata("core_usage")), sink)
    with pytest.raises(
        StorageError, match="f has other columns than contract core_usage which it names; make the table"
    ):
        parquet.from_bytes("core_usage", sink.getvalue().to_pybytes(), tmp_path / "f")


@pytest.mark.parametrize("cut", [0, 4, 100, -1])
def test_truncated_bytes_are_refused_as_unreadable(usage, tmp_path, cut):
    with pytest.raises(StorageError, match=r"f is no readable Parquet file.*make core_usage again"):
        parquet.from_bytes("core_usage", _bytes(usage())[:cut], tmp_path / "f")


def test_rows_are_counted_from_the_footer(usage, tmp_path):
    path = tmp_path / "f.parquet"
    path.write_bytes(_bytes(usage(rows=7)))
    assert parquet.rows_of(path, "core_usage") == 7
    with pytest.raises(StorageError):
        parquet.rows_of(tmp_path / "absent", "core_usage")
