"""Claims about the built-in checks over tables: unknown stays unknown, and nothing declared goes unasked."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import breaches, empty_frame
from governance_pipeline.crosscheck.builtin import cross_checks, not_checkable, unchecked
from governance_pipeline.vocabulary import UnknownReason


def unknown(reason: UnknownReason) -> list[tuple[str, str]]:
    return [("unverifiable", str(reason))]


DECLARED = [
    ("null", UnknownReason.DECLARED_MISSING),
    ('"1.25"', UnknownReason.DECLARED_NOT_A_NUMBER),
    ("true", UnknownReason.DECLARED_NOT_A_NUMBER),
    ("[1.25]", UnknownReason.DECLARED_NOT_A_NUMBER),
    ('{"usd": 1.25}', UnknownReason.DECLARED_NOT_A_NUMBER),
    ("NaN", UnknownReason.DECLARED_NOT_FINITE),
    ("-Infinity", UnknownReason.DECLARED_NOT_FINITE),
    ("1e40", UnknownReason.OVERFLOW),
    ("1e-31", UnknownReason.OVERFLOW),
]


@pytest.mark.parametrize(("value", "reason"), DECLARED)
def test_a_declared_value_that_is_no_usable_number_is_unverifiable_and_kept_as_written(tables, value, reason):
    checks = tables.declare(value).costs("1.25").checks()
    assert tables.outcomes() == unknown(reason)
    assert checks["declared"].isna().all()
    assert checks["mismatch"].isna().all()
    assert checks["computed"].tolist() == ["1.25"], "what the parts give is shown whatever was declared"


def test_a_fraction_declared_as_a_count_is_of_the_wrong_type_and_a_whole_lexeme_is_not(tables):
    tables.part(1, tool_called='"bash"').part(2, tool_called='"edit"').part(3, tool_called='"bash"')
    tables.declare("3.5", "step_count").declare("3.0", "tool_call_count")
    assert tables.outcomes() == [*unknown(UnknownReason.DECLARED_TYPE), ("match", None)]


COMPONENTS = [
    (None, UnknownReason.COMPONENT_MISSING_VALUE),
    ('"0.5"', UnknownReason.COMPONENT_NOT_A_NUMBER),
    ("{}", UnknownReason.COMPONENT_NOT_A_NUMBER),
    ("NaN", UnknownReason.COMPONENT_NOT_FINITE),
    ("Infinity", UnknownReason.COMPONENT_NOT_FINITE),
    ("1e40", UnknownReason.OVERFLOW),
]


@pytest.mark.parametrize(("value", "reason"), COMPONENTS)
def test_one_unusable_part_makes_the_sum_unknown_not_smaller(tables, value, reason):
    tables.declare("1.25").costs("1.25", value)
    assert tables.outcomes() == unknown(reason)
    assert tables.checks()["computed"].isna().all()
    assert tables.checks()["components_count"].tolist() == [2]


def test_parts_whose_sum_no_exact_number_can_hold_overflow(tables):
    tables.declare("1").costs("9e37", "9e37")
    assert tables.outcomes() == unknown(UnknownReason.OVERFLOW)


def test_no_parts_at_all_is_unknown_for_a_sum(tables):
    tables.declare("0")
    assert tables.outcomes() == unknown(UnknownReason.COMPONENTS_MISSING)
    assert tables.checks()["components_digest"].isna().all()


def test_no_parts_is_zero_only_where_the_catalogue_gives_a_reason_for_it(tables):
    where = {"format": "mini_swe_agent", "parts": {"*": ["logs/a.traj.json"]}}
    tables.declare("0", "api_calls", **where).declare("0", "instance_cost", **where)
    assert tables.outcomes() == [("match", None), *unknown(UnknownReason.COMPONENTS_MISSING)]


def test_zero_parts_do_not_match_a_number_above_zero(tables):
    tables.declare("1", "api_calls", format="mini_swe_agent", parts={"*": ["logs/a.traj.json"]})
    assert tables.outcomes() == [("mismatch", None)]
    assert tables.checks()["delta"].tolist() == ["1"]


def test_each_row_of_a_number_declared_twice_is_a_duplicate_even_when_both_are_right(tables):
    tables.declare("1.25").declare("1.25").costs("1.25")
    assert tables.outcomes() == unknown(UnknownReason.DUPLICATE_SUBJECT) * 2
    assert tables.checks()["record_id"].nunique() == 2
    assert tables.checks()["declared_line"].tolist() == [1, 2]


def test_the_same_field_of_two_subjects_or_two_formats_is_no_duplicate(tables):
    tables.declare("1.25").declare("2", subject="run-2").costs("1.25").part(1, "audit_log", "run-2", token_cost="2")
    tables.declare("7", format="openhands")
    assert tables.outcomes() == [("match", None), ("match", None)], "openhands has no field of that name to check"


def test_subjects_are_never_mixed(tables):
    tables.declare("1.25").part(1, "audit_log", "run-2", token_cost="1.25")
    assert tables.outcomes() == unknown(UnknownReason.COMPONENTS_MISSING)


def test_a_quarantined_record_in_a_file_of_one_source_touches_only_formulas_over_that_source(tables):
    tables.declare("1.25").declare("3", "lines_added").costs("1.25").part(1, "changes", added="3")
    tables.broken("changes.jsonl")
    found = dict(zip(tables.checks()["field"], tables.outcomes(), strict=True))
    assert found["total_cost_usd"] == ("match", None)
    assert found["lines_added"] == ("unverifiable", "components_incomplete")


def test_a_quarantined_record_of_any_file_that_may_hold_parts_touches_every_formula(tables):
    where = {"format": "mini_swe_agent", "parts": {"*": ["logs/a.traj.json", "logs/b.traj.json"]}}
    tables.declare("0", "api_calls", **where).declare("0", "instance_cost", **where).broken("logs/b.traj.json")
    assert tables.outcomes() == unknown(UnknownReason.COMPONENTS_INCOMPLETE) * 2


@pytest.mark.parametrize(
    "elsewhere",
    [{"path": "logs/other.jsonl"}, {"path": "logs/audit.jsonl", "round_id": "r-2"},
     {"path": "logs/audit.jsonl", "disposition": "duplicate"}],
    ids=["another file", "another round", "a repetition"],
)  # fmt: skip
def test_records_that_cannot_belong_to_a_number_leave_it_verifiable(tables, elsewhere):
    tables.declare("1.25").costs("1.25").broken(**elsewhere)
    assert tables.outcomes() == [("match", None)]


def test_the_first_reason_in_the_order_of_the_spec_wins(tables):
    tables.declare('"x"').declare("null").costs("NaN").broken("logs/audit.jsonl")
    assert tables.outcomes() == unknown(UnknownReason.DUPLICATE_SUBJECT) * 2


def test_a_number_with_two_independent_sources_has_a_record_for_each(tables):
    tables.declare("2", "api_calls", format="swe_agent", parts={"*": ["logs/a.traj"]})
    for source, column, rows in (("steps", "action", 2), ("messages", "role", 3)):
        for index in range(1, rows + 1):
            tables.part(index, source, **{column: '"x"'})
    for row in tables.rows["core_components"]:
        row["format"] = "swe_agent"
    checks = tables.checks()
    assert dict(zip(checks["check_id"], checks["status"], strict=True)) == {
        "swe_agent_api_calls_by_messages": "mismatch",
        "swe_agent_api_calls_by_steps": "match",
    }


def test_a_record_shows_both_values_the_difference_and_where_the_claim_stands(tables):
    tables.declare("0.25").costs("0.1", "0.095")
    row = plain_rows(tables.checks())[0]
    shown = {name: row[name] for name in ("declared", "computed", "delta", "epsilon", "status", "action", "unit")}
    assert shown == {"declared": "0.25", "computed": "0.195", "delta": "0.055", "epsilon": "0.005",
                     "status": "mismatch", "action": "escalate_to_human", "unit": "USD"}  # fmt: skip
    assert (row["declared_path"], row["declared_line"], row["declared_pointer"]) == ("declared.jsonl", 1, "/value")
    assert row["overwritten"] is False
    assert row["opened_at"] is None


def test_two_identical_files_of_one_round_keep_their_own_paths(tables):
    for name in ("a", "b"):
        where = {"format": "mini_swe_agent", "path": f"logs/{name}.json", "subject": f"logs/{name}.json", "line": None}
        tables.declare("0", "api_calls", parts={"*": [f"logs/{name}.json"]}, **where)
    checks = tables.checks()
    assert checks["declared_path"].tolist() == ["logs/a.json", "logs/b.json"]
    assert breaches("audit_cross_checks", checks).empty


def test_records_come_by_round_check_subject_and_line(tables):
    for subject in ("b", "a"):
        for field in ("step_count", "run_count"):
            tables.declare("1", field, subject)
    tables.declare("1", "step_count", "a", round_id="r-0")
    checks = tables.checks()
    keys = list(zip(checks["round_id"], checks["check_id"], checks["subject_id"], strict=True))
    assert keys == sorted(keys)
    assert keys[0][0] == "r-0"


def test_what_no_check_is_for_is_listed_with_its_reason_and_nothing_else_is(tables):
    tables.declare("1", "mystery").declare("1.25").declare("9", "subagent_duration_ms", format="claude_code")
    listed = not_checkable(tables.frame("core_declared"))
    assert listed["field"].tolist() == ["mystery", "subagent_duration_ms"]
    assert listed["reason"].str.len().min() > 10
    assert tables.checks()["field"].tolist() == ["total_cost_usd"]


def test_a_declared_value_nobody_checked_and_nobody_explained_is_found(tables):
    declared = tables.declare("1.25").declare("4", "new_total", format="openhands").frame("core_declared")
    assert unchecked(declared, tables.checks())["field"].tolist() == ["new_total"]


def test_a_format_the_catalogue_does_not_know_is_found_whatever_it_declares(tables):
    declared = tables.declare("1.25", format="tomorrow").frame("core_declared")
    assert unchecked(declared, tables.checks())["format"].tolist() == ["tomorrow"]


def test_a_record_that_is_missing_is_found_though_its_twin_is_there(tables):
    where = {"format": "swe_agent", "parts": {"*": ["logs/a.traj"]}}
    declared = tables.declare("2", "api_calls", **where).frame("core_declared")
    both = tables.checks()
    assert unchecked(declared, both).empty
    for kept in range(len(both)):
        assert len(unchecked(declared, both.iloc[[kept]])) == 1


def test_a_record_of_another_line_does_not_answer_for_a_value(tables):
    declared = tables.declare("1").declare("2").frame("core_declared")
    first = tables.checks().iloc[[0]]
    assert unchecked(declared, first)["line"].tolist() == [2]


def test_nothing_declared_leaves_nothing_to_check():
    nothing = empty_frame("core_declared")
    checks = cross_checks(nothing, empty_frame("core_components"), empty_frame("raw_quarantine"))
    assert checks.empty
    assert breaches("audit_cross_checks", checks).empty
    assert unchecked(nothing, checks).empty
    assert not_checkable(nothing).empty


@pytest.mark.parametrize("text", ["\x1b[31m", "\u202e1.25", "<script>", "[red]", "x" * 10_000, "a\x00b"])
def test_hostile_text_is_a_value_like_any_other(tables, text):
    tables.declare("1", text, text).declare("1.25", "total_cost_usd", text).part(
        1, "audit_log", text, token_cost="1.25"
    )
    checks = tables.checks()
    assert checks["subject_id"].tolist() == [text]
    assert checks["status"].tolist() == ["match"]
    assert breaches("audit_cross_checks", checks).empty


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_order_of_the_rows_changes_nothing(data, tables_of_one_round):
    tables = tables_of_one_round()
    for subject in ("a", "b", "c"):
        tables.declare("1.25", "total_cost_usd", subject).declare("1", "step_count", subject)
        tables.part(1, "audit_log", subject, token_cost="1.25").part(2, "audit_log", subject, token_cost="0")
    frames = [tables.frame(name) for name in ("core_declared", "core_components", "raw_quarantine")]
    shuffled = [frame.iloc[data.draw(st.permutations(range(len(frame))))].reset_index(drop=True) for frame in frames]
    pd.testing.assert_frame_equal(cross_checks(*frames), cross_checks(*shuffled))
