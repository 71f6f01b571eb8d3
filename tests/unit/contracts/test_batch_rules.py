"""What is proven batch by batch is what the SQL pass finds sound; everything else is left to it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.batch_rules import BatchRules
from governance_pipeline.contracts.frames import arrow_schema, from_arrow
from governance_pipeline.contracts.registry import REGISTRY, contract_of
from governance_pipeline.contracts.sql_rules import frame_breaches

STEPS = contract_of("core_steps")
SOUND = {
    "round_id": "r-1", "run_id": "run", "path": "a", "file_sha256": "ab" * 32, "line": 1, "pointer": "", "status": "ok",
    "duration_s": 0.5, "output_result_sha256": "0f" * 32,
}  # fmt: skip


def batch(*rows):
    return pa.RecordBatch.from_pylist(
        [{"step_index": place + 1, **SOUND, **row} for place, row in enumerate(rows)], schema=arrow_schema(STEPS)
    )


def is_proven(*batches):
    rules = BatchRules(STEPS)
    for part in batches:
        rules.see(part)
    return rules.are_kept


def test_sound_rows_are_proven_over_many_batches():
    first = batch({}, {"run_id": "other"}, {"status": None, "duration_s": None, "output_result_sha256": None})
    assert is_proven(first, batch({"step_index": 4}, {"run_id": "third"}), first.slice(0, 0))


@pytest.mark.parametrize(
    "row",
    [
        {"path": None}, {"round_id": None}, {"round_id": "../r"}, {"round_id": "r-1\n"}, {"step_index": 0},
        {"step_index": None}, {"status": "OK"}, {"status": "ok\n"}, {"duration_s": -0.1}, {"duration_s": float("nan")},
        {"duration_s": float("inf")}, {"file_sha256": "AB" * 32}, {"file_sha256": "ab" * 31}, {"file_sha256": "ab" * 33},
        {"file_sha256": ""}, {"file_sha256": "é" * 32}, {"output_result_sha256": "g" * 64}, {"line": 0}, {"pointer": None},
    ],
)  # fmt: skip
def test_a_row_that_breaks_a_rule_is_never_proven(row):
    assert not is_proven(batch({}, {"step_index": 2, **row}, {"step_index": 3}))


@pytest.mark.parametrize("step", [1, 2])
def test_a_key_that_comes_again_is_never_proven_in_one_batch_or_in_another(step):
    assert not is_proven(batch({}, {}, {"step_index": step}))
    assert not is_proven(batch({}, {}), batch({"run_id": "other"}), batch({"step_index": step}))


def test_numbers_out_of_order_are_left_to_the_sql_pass():
    assert not is_proven(batch({"step_index": 2}, {"step_index": 1}))
    assert not is_proven(batch({"step_index": 2}), batch({"step_index": 1}))


def test_once_in_doubt_sound_rows_prove_nothing():
    assert not is_proven(batch({"step_index": 0}), batch({"step_index": 1}))


def test_a_key_that_is_no_number_beside_texts_is_left_to_the_sql_pass():
    model = REGISTRY["core_declared"]
    rules = BatchRules(model)
    rules.see(pa.RecordBatch.from_pylist([{"round_id": "r-1"}], schema=arrow_schema(model)))
    assert not rules.are_kept


def test_columns_of_another_type_are_never_proven():
    assert not is_proven(batch({}).drop_columns(["line"]))


ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "run_id": st.sampled_from(["run", "other", "third", "", None]),
            "step_index": st.none() | st.integers(-1, 4),
            "status": st.sampled_from(["ok", "error", "no", "", None]),
            "duration_s": st.none() | st.floats(),
            "output_result_sha256": st.none() | st.text("0af", min_size=63, max_size=65),
            "round_id": st.sampled_from(["r-1", "r-2", "", "é"]),
            "line": st.none() | st.integers(-1, 2),
        },
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, max_size=3))
def test_what_is_proven_has_no_breach(parts):
    batches = [batch(*rows) for rows in parts]
    if is_proven(*batches):
        whole = pa.Table.from_batches(batches, schema=arrow_schema(STEPS))
        assert frame_breaches(STEPS, from_arrow(STEPS, whole)) == []
