"""Claims about the list of steps: inputs come first, and no table depends on how rounds were cut into chunks."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.registry import REGISTRY, breaches, contract_of, empty_frame, is_by_round
from governance_pipeline.errors import ContractBreach, StorageError
from governance_pipeline.ingest import extraction
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import CORE_TABLES, RAW_TABLES, RoundTables, read_files, table_of
from governance_pipeline.pipeline import PIPELINE, STEPS, TABLES, Trust, joined, run_in_memory, split
from governance_pipeline.storage.scratch import ScratchStore
from governance_pipeline.verdict.baseline import ancestors

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "rounds"
ROUNDS = (
    "atlas-0002", "atlas-0003", "atlas-0004", "billing-0003", "billing-0007", "billing-0008", "parser-0008",
)  # fmt: skip
"""Rounds of every format, with false numbers, false hashes, unknowns, a broken line and parents among them."""


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Return what was read of each round."""
    store = ScratchStore(tmp_path_factory.mktemp("copies"))
    return {name: read_files(scan(SAMPLE / name), name, store) for name in ROUNDS}


@pytest.fixture(scope="module")
def whole(read):
    """Return every table over all rounds at once."""
    return run_in_memory(list(read.values()))


def of_rounds(table: str, frame: pd.DataFrame, names) -> pd.DataFrame:
    return joined(table, [frame[frame["round_id"] == name] for name in names])


def test_every_input_of_a_table_comes_before_it():
    for place, step in enumerate(PIPELINE):
        assert set(step.inputs) <= set(TABLES[:place]), step.table
        assert len(set(step.inputs)) == len(step.inputs), step.table


def test_every_table_is_made_once_and_has_a_contract_in_the_same_order():
    assert len(set(TABLES)) == len(PIPELINE)
    assert list(TABLES) == [table for table in REGISTRY if table in STEPS]


def test_only_raw_and_core_tables_come_from_the_round_folder():
    assert {step.table for step in PIPELINE if step.make is None} == {*RAW_TABLES, *CORE_TABLES}
    assert all(step.inputs for step in PIPELINE if step.table not in RAW_TABLES)


def test_a_run_in_memory_makes_every_table_in_order_and_each_keeps_its_contract(whole):
    assert tuple(whole) == TABLES
    for table, frame in whole.items():
        assert breaches(table, frame).empty, table
        assert not is_by_round(table) or set(frame["round_id"]) <= set(ROUNDS)


@pytest.mark.parametrize("untyped_rows", [0, 3, 10**9])
def test_rounds_typed_together_are_what_they_are_typed_one_by_one(whole, tmp_path, monkeypatch, untyped_rows):
    monkeypatch.setattr(extraction, "UNTYPED_ROWS", untyped_rows)
    names, store = ("billing-0007", "atlas-0004"), ScratchStore(tmp_path)
    rounds = [read_files(scan(SAMPLE / name), name, store) for name in names]
    for table in (*RAW_TABLES, *CORE_TABLES):
        expected = of_rounds(table, whole[table], names)
        pd.testing.assert_frame_equal(table_of(table, rounds), expected, obj=table)
        pd.testing.assert_frame_equal(joined(table, [each.frame(table) for each in rounds]), expected, obj=table)


def test_no_round_at_all_gives_every_table_without_rows():
    empty = run_in_memory([])
    assert all(len(frame) == 0 for frame in empty.values())
    assert {table: list(frame.columns) for table, frame in empty.items()} == {
        table: list(empty_frame(table).columns) for table in TABLES
    }


def test_a_table_that_breaks_its_contract_stops_the_run_with_its_name(read, monkeypatch):
    one = read["billing-0003"]
    twice = one.found["core_rounds"]._replace(rows=one.found["core_rounds"].rows * 2)
    broken = RoundTables("billing-0003", {**one.found, "core_rounds": twice})
    with pytest.raises(ContractBreach, match="core_rounds"):
        run_in_memory([broken])


def test_rows_of_a_round_nobody_asked_for_are_refused_not_dropped(whole):
    with pytest.raises(StorageError, match="not asked for: atlas-0002"):
        split(whole["core_runs"], ROUNDS[1:])


def test_split_and_joined_undo_each_other_and_a_round_without_rows_keeps_the_columns(whole):
    for table, frame in whole.items():
        if not is_by_round(table):
            continue
        parts = split(frame, ROUNDS)
        assert list(parts) == list(ROUNDS)
        assert all(part.dtypes.equals(frame.dtypes) for part in parts.values())
        pd.testing.assert_frame_equal(joined(table, list(parts.values())), of_rounds(table, frame, ROUNDS))
    assert joined("core_runs", []).dtypes.equals(empty_frame("core_runs").dtypes)


def parents_of(whole, names) -> list[str]:
    named = whole["core_rounds"].set_index("round_id")["parent_round_id"]
    return ancestors(names, lambda name: named[name] if named.get(name) in ROUNDS else None)


@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_every_table_has_the_same_rows_for_any_chunk_and_order_of_rounds(whole, data):
    chunk = data.draw(st.lists(st.sampled_from(ROUNDS), min_size=1, max_size=4, unique=True))
    for step in PIPELINE:
        if step.make is None or step.reads_all_rounds:  # of all rounds at once: test_cohorts shuffles those
            continue
        beside = parents_of(whole, chunk) if step.reads_parents else []
        inputs = {name: of_rounds(name, whole[name], [*chunk, *beside]) for name in step.inputs}
        made = step.make(inputs, Trust())
        for name in chunk:
            alone = of_rounds(step.table, made, [name])
            pd.testing.assert_frame_equal(alone, of_rounds(step.table, whole[step.table], [name]), obj=step.table)


def test_making_a_table_changes_none_of_its_inputs(whole):
    for step in PIPELINE:
        if step.make is not None:
            inputs = {name: whole[name].copy() for name in step.inputs}
            step.make(inputs, Trust())
            for name, frame in inputs.items():
                pd.testing.assert_frame_equal(frame, whole[name], obj=f"{name} for {step.table}")


def test_every_table_says_what_one_row_is():
    for table in TABLES:
        assert (contract_of(table).__doc__ or "").startswith("One row per "), table
