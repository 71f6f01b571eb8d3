"""Facts of goal substitution from the tables: a lower bound counts where it decides, and nowhere else."""

from __future__ import annotations

import pytest

from governance_pipeline.verdict.controls import control_view
from governance_pipeline.verdict.detectors.goal_substitution import DETECTOR, goal_facts

ROUND = {"contributes_to": '["KR1"]', "scope_include": '["src/**"]', "scope_non_goals": '["docs/**"]'}
STEP = {"files_count": 2, "churn_count": 12}
FILES = [{"file_path": "src/a.py"}, {"change_index": 2, "file_path": "docs/b.md"}]


def facts(*, steps=(STEP,), files=FILES, changes=({"has_files": True},), summary=None, **rows):
    return goal_facts(
        control_view(
            {
                "core_rounds": [ROUND],
                "core_changes": list(changes),
                "core_file_changes": list(files),
                "features_step_surface": list(steps),
                "features_round": [summary or {}],
                **rows,
            }
        )
    )


def test_without_features_nothing_is_known_of_the_surface():
    known = facts(features_round=[], features_step_surface=[])
    assert (known.files, known.churn, known.files_outside_scope) == (None, None, None)


def test_a_whole_round_gives_exact_counts():
    known = facts()
    assert (known.files, known.churn, known.files_outside_scope, known.files_in_non_goals) == (2, 12, 1, 1)


@pytest.mark.parametrize(
    "summary", [{"step_gaps": "[[2, 2]]"}, {"quarantined_changes_count": 1}], ids=["gap", "quarantined"]
)
def test_a_missing_event_leaves_small_counts_unknown_and_keeps_what_was_seen(summary):
    known = facts(summary=summary)
    assert (known.files, known.churn) == (None, None)
    assert (known.files_outside_scope, known.files_in_non_goals) == (1, 1)


def test_a_missing_event_cannot_take_back_a_surface_that_is_material_already():
    known = facts(steps=[{"files_count": 12, "churn_count": 500}], summary={"step_gaps": "[[2, 2]]"})
    assert (known.files, known.churn) == (12, 500)


def test_files_nobody_listed_leave_the_deviation_unknown_unless_one_was_seen():
    unlisted = ({"has_files": True}, {"has_files": False, "files_count": 3, "step_index": 2, "line": 2})
    inside = [{"file_path": "src/a.py"}]
    steps = (STEP, {"step_index": 2, "files_count": 3, "churn_count": 1})
    assert facts(steps=steps, changes=unlisted, files=inside).files_outside_scope is None
    assert facts(steps=steps, changes=unlisted).files_outside_scope == 1


def test_an_event_that_changed_no_file_needs_no_list():
    silent = ({"has_files": True}, {"has_files": False, "files_count": 0, "step_index": 2, "line": 2})
    steps = (STEP, {"step_index": 2, "files_count": 0, "churn_count": 0})
    assert facts(steps=steps, changes=silent).files == 2


def test_the_files_of_a_repeated_step_are_not_taken_for_changed():
    known = facts(steps=[{"is_repeated": True, "unknown": '{"F": "step_repeated"}'}])
    assert (known.files, known.churn, known.files_outside_scope) == (None, None, None)


def test_two_spellings_of_a_path_are_one_file():
    known = facts(files=[{"file_path": "src/a.py"}, {"change_index": 2, "file_path": "./src/x/../a.py"}],
                  steps=[{"files_count": 1, "churn_count": 3}])  # fmt: skip
    assert (known.files, known.files_outside_scope) == (1, 0)


@pytest.mark.parametrize(("opaque", "files"), [(0, 1), (1, None)])
def test_edits_in_logs_are_all_there_is_only_without_steps_nobody_can_see_into(opaque, files):
    known = facts(
        files=[{"file_path": "src/a.py", "origin": "log", "run_id": "r1"}, {"file_path": "docs/native.md"}],
        steps=[{"origin": "log", "files_count": 1, "churn_count": None}],
        summary={"origin": "log", "opaque_steps_count": opaque},
    )
    assert (known.files, known.churn) == (files, None)


@pytest.mark.parametrize(
    ("column", "fact"), [("scope_include", "files_outside_scope"), ("scope_non_goals", "files_in_non_goals")]
)
def test_a_list_the_contract_does_not_have_is_unknown_and_an_empty_one_is_known(column, fact):
    assert getattr(facts(core_rounds=[{**ROUND, column: None}]), fact) is None
    assert getattr(facts(core_rounds=[{**ROUND, column: "[]"}]), fact) == (2 if column == "scope_include" else 0)


@pytest.mark.parametrize(
    ("evidence", "count"),
    [
        ([], 0),
        ([{"state": "refuted"}], 0),
        ([{"state": "unproven"}], 0),
        ([{"state": "unproven", "strength": 0.0}], 0),
        ([{"state": "unproven", "strength": 0.25}], 1),
        ([{"state": "proven"}], 1),
        ([{"state": "proven", "criterion_id": "C2"}], 0),
    ],
)
def test_evidence_is_counted_per_key_result_by_last_state(evidence, count):
    criteria = [{"criterion_id": "C1", "key_result_id": "KR1"}, {"criterion_id": "C2", "key_result_id": "KR2"}]
    assert facts(core_criteria=criteria, core_evidence=evidence).evidence == {"KR1": count}


def test_a_lost_line_of_evidence_leaves_the_count_unknown():
    lost = [{"path": "evidence.jsonl", "line": 2}]
    assert facts(core_criteria=[{"key_result_id": "KR1"}], raw_quarantine=lost).evidence == {"KR1": None}
    assert facts(raw_quarantine=lost).evidence == {"KR1": None}


def test_what_fires_says_the_numbers_behind_it():
    (hit,) = DETECTOR.detect(control_view(DETECTOR.fires_on))
    assert hit.factors | {"evidence": {"KR1": 0}, "files": 2, "churn": 12, "material_files": 2} == hit.factors
    assert "2 files" in hit.message


def test_under_the_shipped_policy_a_substituted_goal_is_recorded_and_the_round_can_pass(judge):
    quiet = {**DETECTOR.fires_on, "core_rounds": [{**ROUND, "material_files_count": 2}], "core_criteria": []}
    document = judge(quiet)
    assert [(f["code"], f["severity"], f["decision"]) for f in document["new_findings"]] == [
        ("goal-substitution", "observe", "record")
    ]
    assert document["status"] == "pass"


def test_a_contract_that_asks_for_a_warning_gets_one(judge):
    findings = judge(DETECTOR.fires_on)["new_findings"]
    assert [(f["severity"], f["decision"]) for f in findings if f["code"] == "goal-substitution"] == [
        ("warning", "warn")
    ]
