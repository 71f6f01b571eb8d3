"""What is tried on a false number of a change event: each hypothesis where it holds, and where it must not."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.contracts.registry import validate
from governance_pipeline.crosscheck.explanations import explanations
from governance_pipeline.pipeline import TABLES, joined, run_in_memory
from governance_pipeline.rounds.change_checks import CHANGE_CHECKS
from governance_pipeline.trajectory.change_explanations import IDEAS, change_explanations
from governance_pipeline.trajectory.cross_checks import surface_cross_checks
from governance_pipeline.trajectory.frames import rows_of

FILES = [
    {"path": "src/api/a", "added": 30, "deleted": 4},
    {"path": "src/api/b", "added": 5, "deleted": 1},
    {"path": "docs/x/b", "added": 16, "deleted": 0},
    {"path": "docs/y/b", "added": 0, "deleted": 0},
    {"path": "lib/b", "added": 8, "deleted": 0},
    {"path": "lib/b", "added": 0, "deleted": 0},
]
"""Five files, one listed twice: F 5, L 64, M 3, P 2, H of 40, 16 and 8 lines 0.900256 nats."""


def tried(one_round, field, declared, files=FILES):
    tables = one_round([{"step": 1, field: declared, "files": files}])
    tables["audit_cross_checks"] = surface_cross_checks(tables)
    found = change_explanations(tables)
    assert explanations({**tables}).empty, "numbers of change events are explained once"
    return list(rows_of(validate("audit_explanations", found)))


@pytest.mark.parametrize(
    ("field", "declared", "reads"),
    [
        ("F", 6, "a file once for each time it is listed"),
        ("F", 3, "modules, not files"),
        ("F", 4, "only files with a changed line"),
        ("F", 0, "0 written although the event lists files: nobody measured it"),
        ("L", 59, "lines added only"),
        ("L", 5, "lines deleted only"),
        ("L", 54, "net lines: added less deleted"),
        ("L", 128, "each line counted twice"),
        ("M", 5, "files, not modules"),
        ("M", 4, "folders, not modules"),
        ("M", 6, "each module counted twice"),
        ("P", 5, "all files, not those of the boundary"),
        ("P", 3, "files outside the boundary"),
        ("P", 1, "modules of the boundary"),
        ("P", 4, "each file counted twice"),
        ("H", 1.298794940695398, "in bits, not in nats"),
        ("H", 0.9002560700610833 / 1.0986122886681098, "as a share of the largest possible value"),
        ("H", 0.9, "rounded to the decimals written"),
        ("H", 0.90025, "cut to the decimals written"),
        ("H", 0, "0 written although the event lists files: nobody measured it"),
    ],
)
def test_a_hypothesis_that_meets_the_number_is_named_and_all_that_were_tried_are_listed(
    one_round, field, declared, reads
):
    rows = tried(one_round, field, declared)
    assert [row["reads"] for row in rows] == [idea.reads for idea in IDEAS[field]]
    assert reads in [row["reads"] for row in rows if row["holds"]]
    assert all(row["value"] is not None for row in rows)


@pytest.mark.parametrize(("field", "declared"), [("F", 77), ("L", 77), ("M", 77), ("P", 77), ("H", 77)])
def test_a_number_nothing_meets_says_so_after_all_were_tried(one_round, field, declared):
    *all_tried, last = tried(one_round, field, declared)
    assert [row["holds"] for row in all_tried] == [False] * len(IDEAS[field])
    assert (last["hypothesis"], last["holds"], last["attempt_index"]) == ("none_holds", True, len(IDEAS[field]) + 1)


def test_what_unknown_lines_leave_unknown_is_unknown_and_holds_neither_way(one_round):
    rows = tried(one_round, "F", 9, [{"path": "src/a", "added": None, "deleted": None}])
    found = {row["reads"]: (row["value"], row["holds"], row["reason_code"]) for row in rows}
    assert found["only files with a changed line"] == (None, None, "component_missing_value")


@pytest.mark.parametrize("declared", [5, 99])
def test_an_explanation_moves_no_record_and_no_case(one_round, declared):
    tables = one_round([{"step": 1, "F": declared, "files": FILES}])
    before = surface_cross_checks(tables)
    tables["audit_cross_checks"] = before.copy(deep=True)
    change_explanations(tables)
    assert tables["audit_cross_checks"].equals(before)


def test_the_pipeline_explains_numbers_of_changes_and_of_logs_in_one_table(tmp_path):
    from governance_pipeline.ingest.round import read_round
    from governance_pipeline.storage.content import ContentStore

    folder = tmp_path / "r-1"
    folder.mkdir()
    (folder / "changes.jsonl").write_text(json.dumps({"step": 1, "F": 6, "files": FILES}) + "\n")
    made = run_in_memory([read_round(folder, "r-1", ContentStore(tmp_path / "lake"))])
    assert set(made["audit_explanations"]["check_id"]) == {"changes_f"}
    assert "audit_explanations" in TABLES
    assert joined("audit_explanations", [made["audit_explanations"]]).shape[0] == len(IDEAS["F"])


def test_every_number_that_is_checked_has_hypotheses():
    assert set(IDEAS) == set(CHANGE_CHECKS)
    assert all(len({idea.hypothesis for idea in ideas}) > 1 for ideas in IDEAS.values())
