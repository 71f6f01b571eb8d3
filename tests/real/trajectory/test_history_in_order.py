"""Sixty commits of an exported history as rounds: the numbers the guide explains, the same in any order and chunks."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pandas as pd
import pytest

from governance_pipeline.ingest.history.exports import read_export
from governance_pipeline.ingest.history.folders import Promise, write_folder
from governance_pipeline.ingest.history.grouping import RoundBy, rounds_of
from governance_pipeline.ingest.round import read_round
from governance_pipeline.pipeline import STEPS, Trust, joined, run_in_memory
from governance_pipeline.storage.scratch import ScratchStore

HISTORY = Path(__file__).parents[4] / "shared" / "data" / "git" / "simonw+llm.jsonl"
COMMITS = 60
PROMISE = Promise(cohort="llm", scope=("llm/**", "tests/**", "docs/**"), public=("llm/cli.py",))
TERMS = ("files_count", "churn_count", "modules_count", "public_count", "outside_scope_ratio", "entropy_nats")
MADE = tuple(table for table in STEPS if table.startswith(("features_", "verdict_")))

pytestmark = pytest.mark.skipif(not HISTORY.exists(), reason=f"{HISTORY.name} is not beside the project")


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Give what was read of each of the first sixty commits, by round."""
    folder = tmp_path_factory.mktemp("history")
    lines = sorted(HISTORY.read_text("utf-8").splitlines(), key=lambda line: json.loads(line)["ts"])
    (folder / "llm.jsonl").write_text("\n".join(lines[:COMMITS]) + "\n")
    found = rounds_of(read_export(folder / "llm.jsonl"), RoundBy.COMMIT, "llm")
    store = ScratchStore(folder)
    return {
        each.round_id: read_round(write_folder(each, PROMISE, folder / "rounds"), each.round_id, store)
        for each in found
    }


@pytest.fixture(scope="module")
def whole(read):
    """Give every table over all rounds, in the order of their ids."""
    return run_in_memory([read[name] for name in sorted(read)])


def step_of(whole, name):
    steps = whole["features_step_surface"].set_index("round_id").loc[name]
    return [round(float(steps[term]), 3) for term in (*TERMS, "surface_sum")]


def p_of(whole, name, feature):
    rows = whole["features_conformal"]
    [row] = rows[(rows["round_id"] == name) & (rows["feature"] == feature)].to_dict("records")
    return row["reason"] if pd.isna(row["p_value"]) else (round(row["p_value"] * (row["known_count"] + 1)), row["known_count"])  # fmt: skip


def test_the_three_rounds_of_the_guide_have_the_numbers_it_explains(whole):
    wide, central, outside = "llm-20230615-b9865a5576", "llm-20230617-144ffc3f6b", "llm-20230401-c5c666867a"
    assert step_of(whole, wide) == [10, 586, 2, 0, 0.1, 0.571, 598.671]
    assert step_of(whole, central) == [9, 464, 4, 1, 0.111, 1.113, 479.224]
    assert step_of(whole, outside) == [5, 23, 3, 0, 0.8, 1.024, 32.824]
    assert (p_of(whole, wide, "largest_s"), p_of(whole, wide, "rewrite_share")) == ((1, 28), "value_unknown")
    assert (p_of(whole, central, "largest_s"), p_of(whole, central, "largest_h")) == ((2, 46), (1, 46))
    assert p_of(whole, outside, "largest_s") == "too_few"
    assert set(whole["verdict_rounds"]["status"]) == {"pass"}, "an unusual round is not a wrong one"


@pytest.mark.parametrize("seed", [1, 2])
def test_any_order_and_chunks_of_rounds_give_the_same_rows_in_every_table(read, whole, seed):
    order = sorted(read)
    random.Random(seed).shuffle(order)
    cuts = sorted(random.Random(seed).sample(range(1, len(order)), 3))
    chunks = [order[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    made: dict[str, pd.DataFrame] = {}
    for table, step in STEPS.items():
        if step.make is None:
            made[table] = joined(table, [read[name].frame(table) for name in order])
        elif step.reads_all_rounds:
            made[table] = step.make({name: made[name] for name in step.inputs}, Trust())
        else:
            parts = [{name: of(made[name], chunk) for name in step.inputs} for chunk in chunks]
            made[table] = joined(table, [step.make(part, Trust()) for part in parts])
    for table in MADE:
        pd.testing.assert_frame_equal(in_order(made[table]), in_order(whole[table]), obj=table)


def of(frame, names):
    return frame[frame["round_id"].isin(names)].reset_index(drop=True) if "round_id" in frame else frame


def in_order(frame):
    """Rows by round, as the lake keeps them; a table over all rounds as it is."""
    return frame.sort_values("round_id", kind="stable", ignore_index=True) if "round_id" in frame else frame
