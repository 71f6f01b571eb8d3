"""pandera and the SQL pass name the same rows, on frames nobody would write by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts import rules, sql_rules
from governance_pipeline.contracts.registry import REGISTRY, breaches, breaches_of_parquet, contract_of
from governance_pipeline.storage import parquet

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [
    "",
    "a\n",
    "\n",
    "'",
    "no such word",
    "A" * 64,
    "0" * 64,
    "-0",
    "1.50",
    "0.5",
    "native",
    "true",
    "é",
    "NULL",
    "a\x00b",
]
NUMBERS = [-(2**63), -1, 0, 1, 2**63 - 1]
REALS = [float("nan"), float("inf"), float("-inf"), -0.0, 0.5, 1.0, 1.0000000000000002, 5e-324]


def _spoil(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Replace about a third of the cells by hostile values of the same dtype, repeat some rows, empty others."""
    random = np.random.default_rng(seed)
    frame = frame.iloc[random.integers(0, len(frame), len(frame))].reset_index(drop=True)
    columns = {}
    for name in frame.columns:
        values, hit = frame[name].array.copy(), random.random(len(frame)) < random.random() / 2
        if isinstance(values.dtype, pd.Float64Dtype):
            data = np.where(hit, random.choice(REALS, len(frame)), values.to_numpy(float, na_value=0.0))
            values = pd.arrays.FloatingArray(data, random.random(len(frame)) < 0.2)
        elif isinstance(values.dtype, pd.StringDtype):
            values[hit] = random.choice(np.array(TEXTS, dtype=object), hit.sum())
        elif isinstance(values.dtype, pd.Int64Dtype):
            values[hit] = random.choice(np.array(NUMBERS), hit.sum())
        elif isinstance(values.dtype, pd.BooleanDtype):
            values[hit] = random.random(hit.sum()) < 0.5
        values[random.random(len(frame)) < random.random() / 3] = pd.NA
        columns[name] = values
    return pd.DataFrame(columns)


@pytest.mark.parametrize("table", REGISTRY)
def test_both_ways_agree_on_a_spoiled_frame_of_every_table(table, sound_frame):
    frame = _spoil(sound_frame(table, 30), seed=len(table))
    model = contract_of(table)
    found = rules.value_breaches(model, frame)
    assert found
    assert sql_rules.frame_breaches(model, frame) == found


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=st.sampled_from(sorted(REGISTRY)), seed=st.integers(0, 2**32), rows=st.integers(1, 30))
def test_both_ways_agree_on_random_frames(table, seed, rows, sound_frame):
    frame = _spoil(sound_frame(table, rows), seed)
    pd.testing.assert_frame_equal(breaches(table, frame), breaches(table, frame, large_rows=0))


def test_the_pass_over_a_parquet_file_agrees_with_the_frame(sound_frame, tmp_path: Path):
    frame = _spoil(sound_frame("core_steps", 50), seed=7)
    folder = tmp_path / "round=x"  # must not be read as a partition column
    folder.mkdir()
    path = folder / "it's.parquet"
    path.write_bytes(parquet.to_bytes("core_steps", frame, {}))
    pd.testing.assert_frame_equal(breaches_of_parquet("core_steps", path), breaches("core_steps", frame))


def test_the_pass_spans_several_arrow_batches_and_still_finds_keys_repeated_across_them(sound_frame, monkeypatch):
    monkeypatch.setattr(sql_rules, "BATCH_ROWS", 4)
    frame = sound_frame("core_criteria", 20)
    frame.loc[17, ["round_id", "criterion_id"]] = frame.loc[2, ["round_id", "criterion_id"]]
    found = breaches("core_criteria", frame, large_rows=0)
    assert list(found["row"]) == [2, 17]
    assert set(found["rule"]) == {"unique"}


def test_keys_whose_cells_are_null_count_as_equal_both_ways(sound_frame):
    frame = sound_frame("core_usage", 3)
    frame["line"] = pd.array([pd.NA, pd.NA, 1], dtype="Int64")
    for name in ("round_id", "path", "pointer"):
        frame.loc[1, name] = frame.loc[0, name]
    for large_rows in (None, 0):
        assert (
            list(breaches("core_usage", frame, large_rows=large_rows)["value"])
            == ['["r0", "path-0", null, "pointer-0"]'] * 2
        )


def test_keys_that_differ_only_behind_a_nul_are_different_both_ways(sound_frame):
    frame = sound_frame("core_runs", 4)
    frame["round_id"] = pd.array(["r0"] * 4, dtype="string")
    frame["run_id"] = pd.array(["a", "a\0b", "a\0", ""], dtype="string")
    for large_rows in (None, 0):
        assert breaches("core_runs", frame, large_rows=large_rows).empty
    frame.loc[3, "run_id"] = "a\0"
    for large_rows in (None, 0):
        assert list(breaches("core_runs", frame, large_rows=large_rows)["row"]) == [2, 3]
