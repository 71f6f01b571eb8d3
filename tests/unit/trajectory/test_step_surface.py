"""Rows of `features_step_surface`: unhappy steps first, then deltas, mismatches, and independence of chunks."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from governance_pipeline.contracts.registry import validate
from governance_pipeline.errors import UsageError
from governance_pipeline.ingest.round import read_round
from governance_pipeline.pipeline import joined
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.step_surface import STEP_TABLES, step_surface

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "rounds"
CHUNKED = ("atlas-0009", "atlas-0003", "billing-0012", "parser-0009")


def rows(tables) -> list[dict]:
    frame = step_surface({name: tables[name] for name in STEP_TABLES})
    return list(rows_of(validate("features_step_surface", frame)))


def test_a_round_without_events_gives_no_row_and_no_error(one_round):
    assert rows(one_round([])) == []
    assert rows(one_round(None)) == []


def test_an_event_of_a_round_nobody_knows_is_refused(one_round):
    tables = one_round([{"step": 1, "F": 0}])
    with pytest.raises(UsageError, match=r"core_rounds has no row of \['r-1'\]"):
        step_surface({**tables, "core_rounds": tables["core_rounds"].iloc[:0]})


def test_a_contested_step_has_one_row_without_terms_and_keeps_its_evidence(one_round, file):
    tables = one_round(
        [{"step": 1, "run_id": "x", "files": [file("a")]}, {"step": 1, "files": [file("b")]}],
        evidence__jsonl=[{"step": 1, "criterion_id": "C1", "state": "proven"}],
    )
    (row,) = rows(tables)
    assert {row[name] for name in ("files_count", "churn_count", "modules_count", "public_count", "entropy_nats",
                                   "outside_scope_ratio", "surface_sum", "evidence_per_surface", "run_id")} == {None}  # fmt: skip
    assert (row["evidence_share"], row["is_repeated"], row["line"]) == (1, True, 1)
    assert set(json.loads(row["unknown"]).values()) == {"step_repeated"}
    assert json.loads(row["mismatches"]) == []


def test_deltas_stop_at_a_missing_step_and_at_an_unknown_value(one_round, file):
    changes = [{"step": n, "files": [file("src/a", n)]} for n in (1, 2, 4)] + [{"step": 5, "F": 1}, {"step": 6, "F": 0}]
    found = rows(one_round(changes))
    assert [row["surface_sum"] for row in found] == [3, 4, 6, None, 0]
    assert [row["surface_sum_delta"] for row in found] == [None, 1, None, None, None]
    assert [row["evidence_share_delta"] for row in found] == [None, 0, None, 0, 0]


def test_mismatches_are_shown_and_never_repaired(one_round, file):
    (row,) = rows(one_round([{"step": 1, "F": 3, "L": 1, "files": [file("src/a", 2)]}]))
    assert json.loads(row["mismatches"]) == [
        {"field": "F", "declared": "3", "computed": "1"},
        {"field": "L", "declared": "1", "computed": "2"},
    ]
    assert (row["files_count"], row["churn_count"]) == (3, 1)


def test_the_largest_numbers_an_event_may_carry_are_kept_and_added_up_finitely(one_round, file):
    most = 2**63 - 1
    first, second = rows(one_round([
        {"step": 1, "F": most, "L": most, "M": most, "P": most, "H": 1.7e308, "files": []},
        {"step": 2, "files": [file("src/a", most, most), file("src/b", most, 0)]},
    ]))  # fmt: skip
    assert (first["churn_count"], first["surface_sum"]) == (most, 1.7e308)
    assert (second["churn_count"], second["entropy_nats"]) == (None, 0)
    assert json.loads(second["unknown"]) == {"L": "churn_unknown"}


def test_a_row_says_where_its_step_stands(one_round):
    (row,) = rows(one_round([{"step": 7, "F": 0, "ts": "2026-01-02T03:04:05Z", "run_id": "x"}]))
    assert (row["step_index"], row["origin"], row["path"], row["line"], row["run_id"]) == (
        7,
        "native",
        "changes.jsonl",
        1,
        "x",
    )
    assert row["at"].isoformat() == "2026-01-02T03:04:05+00:00"


def test_rows_are_the_same_to_the_last_bit_however_rounds_are_cut_into_chunks(tmp_path):
    store = ContentStore(tmp_path)
    read = [read_round(SAMPLE / name, name, store).frames for name in CHUNKED]
    together = step_surface({table: joined(table, [frames[table] for frames in read]) for table in read[0]})
    alone = pd.concat([step_surface(frames) for frames in read], ignore_index=True)
    alone = alone.sort_values(["round_id", "step_index"], ignore_index=True)
    pd.testing.assert_frame_equal(together, alone, check_exact=True)
    assert len(together) > len(CHUNKED)
