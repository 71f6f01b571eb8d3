"""Rows of `features_round`: what forbids AUS and E is said, and every round has its row."""

from __future__ import annotations

import pytest

from governance_pipeline.contracts.registry import validate
from governance_pipeline.errors import StorageError
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.round_features import ROUND_TABLES, round_features
from governance_pipeline.trajectory.step_surface import step_surface


def rows(tables) -> list[dict]:
    tables = {**tables, "features_step_surface": step_surface(tables)}
    frame = round_features({name: tables[name] for name in ROUND_TABLES})
    return list(rows_of(validate("features_round", frame)))


def test_steps_of_other_formulas_are_refused(one_round):
    tables = one_round([{"step": 1, "F": 0}])
    steps = step_surface(tables).assign(epsilon=1e-3).astype({"epsilon": "Float64"})
    with pytest.raises(StorageError, match=r"epsilon 0\.001, this program computes .* make the table again"):
        round_features({**tables, "features_step_surface": steps})


def test_a_round_without_steps_has_a_row_that_says_so(one_round):
    (row,) = rows(one_round(None, None))
    assert (row["steps_count"], row["last_step_index"], row["aus_round"], row["aus_reason"]) == (
        0,
        None,
        None,
        "no_steps",
    )
    assert (row["origin"], row["contract_state"], row["module_rule"]) == ("log", "absent", "dir:2")
    assert (row["required_count"], row["evidence_share"], row["evidence_reason"]) == (None, None, "no_contract")


def test_quarantined_lines_are_counted_apart_and_forbid_what_they_may_have_said(one_round):
    (row,) = rows(one_round([{"step": 1, "F": 0}, {"step": 0}, {"step": 2}], evidence__jsonl=[{"step": 0}]))
    assert (row["quarantined_changes_count"], row["quarantined_evidence_count"]) == (2, 1)
    assert (row["aus_reason"], row["aus_known_steps_count"]) == ("changes_quarantined", 1)
    assert (row["required_count"], row["proven_required_count"], row["evidence_reason"]) == (
        1,
        None,
        "evidence_quarantined",
    )


def test_gaps_and_repetitions_are_listed(one_round, file):
    line = {"step": 2, "files": [file("src/a")]}
    (row,) = rows(one_round([line, line, {"step": 6, "F": 0}]))
    assert (row["step_gaps"], row["repeated_steps"], row["aus_reason"]) == ("[[1, 1], [3, 5]]", "[2]", "step_gap")
    assert (row["steps_count"], row["last_step_index"], row["aus_known_steps_count"]) == (2, 6, 2)


def test_aus_is_the_sum_over_steps_and_idle_steps_add_nothing(one_round, file):
    changes = [
        {"step": 1, "files": [file("src/a", 100)]},
        {"step": 2, "files": []},
        {"step": 3, "files": [file("src/a", 0, 100)]},
    ]
    (row,) = rows(one_round(changes))
    assert (row["aus_round"], row["aus_reason"], row["aus_known_steps_count"]) == (204, None, 3)


def test_every_round_has_its_own_row_in_the_order_of_core_rounds(tables):
    found = rows(tables({"r-b": {"changes.jsonl": [{"step": 1, "F": 0}]}, "r-a": {"logs/x.txt": "?"}}))
    assert [(row["round_id"], row["steps_count"], row["origin"]) for row in found] == [
        ("r-b", 1, "native"),
        ("r-a", 0, "log"),
    ]
