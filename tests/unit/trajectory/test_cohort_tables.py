"""Cohort tables: rows depend on which rounds there are, not on their order, and a baseline is never edited."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from governance_pipeline.contracts.registry import frame_of, validate
from governance_pipeline.errors import StorageError
from governance_pipeline.trajectory.cohort_tables import COMPARED, VECTOR, cohort_baselines, conformal
from governance_pipeline.trajectory.drifting import drifting_cohorts
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION
from governance_pipeline.trajectory.frames import rows_of

START = datetime(2026, 1, 1, tzinfo=UTC)


def tables(values: dict[str, float | None], **columns) -> dict[str, pd.DataFrame]:
    """Make both input tables: round id -> AUS; each round ends a day after the one before."""
    rounds, features = [], []
    for day, (round_id, value) in enumerate(values.items()):
        given = {name: column.get(round_id) for name, column in columns.items()}
        rounds.append({
            "round_id": round_id, "contract_state": "valid", "contract_sha256": "a" * 64, "runs_count": 0,
            "cohort": "c", "ended_at": START + timedelta(days=day), **given,
        })  # fmt: skip
        features.append({
            "round_id": round_id, "origin": "native", "contract_state": "valid", "steps_count": 1, "step_gaps": "[]",
            "repeated_steps": "[]", "aus_known_steps_count": 1, "quarantined_changes_count": 0,
            "quarantined_evidence_count": 0, "opaque_steps_count": 0, "feature_version": FEATURE_VERSION,
            "epsilon": EPSILON, **dict.fromkeys(VECTOR, value),
        })  # fmt: skip
    return {"core_rounds": frame_of("core_rounds", rounds), "features_round": frame_of("features_round", features)}


def shuffled(given: dict[str, pd.DataFrame], seed: int) -> dict[str, pd.DataFrame]:
    order = random.Random(seed).sample(range(len(given["core_rounds"])), len(given["core_rounds"]))
    turned = list(reversed(order))
    return {
        "core_rounds": given["core_rounds"].iloc[order].reset_index(drop=True),
        "features_round": given["features_round"].iloc[turned].reset_index(drop=True),
    }


def baseline_ids(given) -> list[str]:
    return list(dict.fromkeys(cohort_baselines(given)["baseline_id"]))


TWENTY = {f"r-{number:02d}": float(number * 13 % 20) for number in range(20)}


def test_features_of_other_formulas_are_not_mixed_into_a_cohort():
    given = tables(TWENTY)
    given["features_round"].loc[3, "epsilon"] = 2e-6
    for make in (cohort_baselines, conformal):
        with pytest.raises(StorageError, match="not comparable"):
            make(given)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_rounds_changes_no_row(seed):
    given = tables(TWENTY)
    pd.testing.assert_frame_equal(cohort_baselines(shuffled(given, seed)), cohort_baselines(given))
    pd.testing.assert_frame_equal(conformal(shuffled(given, seed)), conformal(given))


def test_both_tables_keep_their_contracts_with_every_kind_of_unknown():
    given = tables({**TWENTY, "no-value": None, "no-time": 1.0, "no-cohort": 2.0},
                   ended_at=dict.fromkeys(TWENTY, START), cohort=dict.fromkeys([*TWENTY, "no-time", "no-value"], "c"))  # fmt: skip
    rows = list(rows_of(validate("features_conformal", conformal(given))))
    assert {row["reason"] for row in rows if row["round_id"] == "no-cohort"} == {"no_cohort"}
    assert {row["reason"] for row in rows if row["round_id"] == "no-time"} == {"no_time"}
    assert len(rows) == 23 * (len(COMPARED) + 1)
    validate("features_cohort_baseline", cohort_baselines(given))


def test_rounds_that_ended_at_the_same_time_are_not_each_others_reference():
    given = tables({"a": 1.0, "b": 2.0, "c": 3.0}, ended_at={"a": START, "b": START, "c": START + timedelta(1)})
    of = {(row["round_id"], row["feature"]): row for row in rows_of(conformal(given))}
    assert [of[name, "aus_round"]["known_count"] for name in "abc"] == [0, 0, 2]
    chain = list(rows_of(cohort_baselines(given)))[:: len(COMPARED)]
    assert [json.loads(row["added_round_ids"]) for row in chain] == [["a", "b"], ["c"]]
    assert [row["reason"] for row in chain] == ["first", "rounds_added"]
    assert chain[1]["supersedes_baseline_id"] == chain[0]["baseline_id"] == of["c", "max_z"]["baseline_id"]
    assert of["a", "aus_round"]["baseline_id"] is None


def test_a_later_round_edits_no_baseline_and_a_late_one_gives_all_after_it_another_name():
    names = list(TWENTY)
    whole = tables(TWENTY)
    without = {name: frame[frame["round_id"] != names[10]].reset_index(drop=True) for name, frame in whole.items()}
    before, after = baseline_ids(without), baseline_ids(whole)
    assert before[:10] == after[:10]
    assert not set(before[10:]) & set(after)
    first = {name: frame.iloc[:10].reset_index(drop=True) for name, frame in whole.items()}
    pd.testing.assert_frame_equal(cohort_baselines(first), cohort_baselines(whole).iloc[: 10 * len(COMPARED)])


def test_a_value_that_was_measured_again_gives_another_baseline():
    assert baseline_ids(tables(TWENTY))[5] != baseline_ids(tables({**TWENTY, "r-05": 99.0}))[5]


def test_each_round_is_a_batch_of_its_own():
    rows = list(rows_of(conformal(tables(TWENTY))))
    alone = {name: frame.iloc[:20] for name, frame in tables(TWENTY).items()}
    assert list(rows_of(conformal(alone))) == rows
    assert {row["batch_count"] for row in rows if row["round_id"] == "r-19"} == {5}
    assert {row["reason"] for row in rows if row["round_id"] == "r-18"} == {"too_few", "value_unknown"}


def test_baseline_versions_are_cohorts_of_their_own():
    versions = dict.fromkeys(list(TWENTY)[10:], "v2")
    rows = {(r["round_id"], r["feature"]): r for r in rows_of(conformal(tables(TWENTY, baseline_version=versions)))}
    assert rows["r-10", "aus_round"]["known_count"] == 0
    assert rows["r-19", "aus_round"]["known_count"] == 9


def test_a_cohort_that_drifts_is_named_and_raises_nothing():
    drift = {f"r-{number:03d}": float(number) for number in range(60)}
    given = tables(drift)
    last = [row for row in rows_of(conformal(given)) if row["round_id"] == "r-059" and row["feature"] == "aus_round"]
    assert (last[0]["reason"], last[0]["at_least_count"], last[0]["p_adjusted"]) == ("exchangeability_suspect", 0, None)
    found = drifting_cohorts(cohort_baselines(given))
    assert set(found["feature"]) == set(VECTOR)
    assert drifting_cohorts(cohort_baselines(tables(TWENTY))).empty
