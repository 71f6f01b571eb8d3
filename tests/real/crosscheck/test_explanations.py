"""Which class of explanation holds for the mismatches of real public logs, and for those found by hand."""

from __future__ import annotations

import csv
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.crosscheck.explanations import EXPLANATION_TABLES, explanations
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.ingest.round import read_files
from governance_pipeline.pipeline import joined
from governance_pipeline.storage.content import ContentStore

SHARED = Path(__file__).parents[3].parent / "shared"
REAL = SHARED / "data" / "real"
FOLDERS = sorted(path.name for path in REAL.iterdir() if path.is_dir()) if REAL.is_dir() else []

HELD = {
    "aider_leaderboard": {"other_denominator": 4, "none_holds": 3},
    "atif": {"scope": 3},
    "claude_code_entire": {
        "scope": 9,
        "other_definition": 5,
        "other_definition + scope": 4,
        "stale": 20,
        "none_holds": 26,
    },
    "codex_rollout": {"not_measured": 6},
    "inspect_ai": {"other_definition": 1, "none_holds": 15},
    "langfuse_trace": {"unit": 12, "none_holds": 1},
    "mini_swe_agent": {"off_by_one_call": 3},
    "openhands_index": {"other_denominator": 20, "null_as_zero": 2, "none_holds": 35},
    "reviewer_verdicts": {"other_definition": 2},
    "swe_agent": {"not_measured": 6, "off_by_one_call + other_definition": 2},
    "swebench_experiments": {"none_holds": 1},
    "tau2_bench": {"none_holds": 8},
}
"""Folder -> the explanations that hold (all of one mismatch together) -> mismatches."""

pytestmark = pytest.mark.skipif(not FOLDERS, reason="no real logs beside the checkout (../shared/data/real)")


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    """Folder -> its mismatches: declared text -> what holds, sorted and joined."""
    return {name: _explained(name, ContentStore(tmp_path_factory.mktemp(name))) for name in FOLDERS}


def _explained(name, store):
    read = [
        read_files([file.found() for file in planned.files], planned.round_id, store)
        for planned in plan_import([REAL / name])
    ]
    tables = {table: joined(table, [one.frame(table) for one in read]) for table in EXPLANATION_TABLES[1:]}
    tables["audit_cross_checks"] = cross_checks(*tables.values())
    rows = explanations(tables)
    held = rows[rows["holds"].fillna(value=False)].groupby(["round_id", "record_id"])["hypothesis"]
    classes = held.agg(lambda found: " + ".join(sorted(set(found)))).to_dict()
    wrong = tables["audit_cross_checks"].query("status == 'mismatch'")
    return [(row.declared_raw, classes[row.round_id, row.record_id]) for row in wrong.itertuples()]


def test_each_mismatch_of_each_format_has_the_explanation_that_was_found_for_it(explained):
    found = {name: dict(Counter(said for _, said in rows)) for name, rows in explained.items() if rows}
    assert found == HELD


BY_HAND = {
    "aider": ("aider_leaderboard", {"other_denominator": 4, "none_holds": 3}),
    "atif": ("atif", {"scope": 3}),
    "mini_swe_agent": ("mini_swe_agent", {"off_by_one_call": 3}),
}
"""Format of the list by hand -> folder, and what holds for its rows that are numbers of one file."""


def _number(text):
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_what_was_found_by_hand_is_explained_as_it_was_by_hand(explained, name):
    folder, expected = BY_HAND[name]
    with (SHARED / "research" / "mismatches.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["format"] == name]
    classes = {_number(raw): said for raw, said in explained[folder]}
    found = Counter(classes[number] for row in rows if (number := _number(row["declared"])) in classes)
    assert dict(found) == expected
