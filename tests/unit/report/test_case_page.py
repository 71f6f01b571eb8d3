"""The page of one case: everything there is to judge it by, in text and HTML the same, and nothing excused."""

from __future__ import annotations

import copy

import pytest

from governance_pipeline.report.audit_summary import verdict
from governance_pipeline.report.case_page import by_record, case_page, case_rows, explained_line, page_lines
from governance_pipeline.report.html import audit_html
from governance_pipeline.report.texts import LANGUAGES, words

EN = words("en")


@pytest.fixture
def record(document):
    return copy.deepcopy(next(r for r in document["cross_checks"] if r["field"] == "total_cost_usd"))


def tried(hypothesis="unit", holds=False, value="50", **more):
    return {"round_id": "r", "record_id": "0" * 64, "attempt_index": 1, "hypothesis": hypothesis, "holds": holds,
            "value": value, "delta": "1", "reads": "in cents", "formula": "100 * (sum(a.b))", "rows_read": "all 5 rows",
            "reason_code": None} | more  # fmt: skip


NONE = tried("none_holds", True, None, formula=None, rows_read=None, reads="nothing meets it")
MEANING = {"evidence": "code", "semantics": "adds every cost"}


def text(record, explanations=(), meaning=MEANING, texts=EN):
    return "\n".join(page_lines(case_page(record, explanations, meaning, texts), texts))


def test_a_page_has_both_values_delta_epsilon_formula_place_evidence_and_who_decides(record):
    shown = text(record)
    for part in ("9.5 USD", "(9.5)", "0.5 USD", " 9\n", "0.005", record["epsilon_reason"], "sum(audit_log.token_cost)",
                 "5 component rows", "declared.jsonl:2 /value", record["declared_pointer"]["file"], "code",
                 "adds every cost", record["escalate_to"]):  # fmt: skip
        assert part in shown, part


def test_a_meaning_that_is_not_established_is_said_to_be_so(record):
    assert "assumed (not established)" in text(record, meaning={"evidence": "assumed", "semantics": "a guess"})
    assert "to_be_confirmed (not established)" in text(record, meaning=MEANING | {"evidence": "to_be_confirmed"})
    assert "not established" not in text(record)
    assert "not in the catalogue" in text(record, meaning=None)


def test_every_explanation_is_listed_with_its_value_and_whether_it_meets_the_number(record):
    listed = [tried(), tried("scope", True, "9.5"), tried("stale", None, None, reason_code="component_missing_value")]
    shown = text(record, listed)
    assert "unit               50, does not meet it  in cents: 100 * (sum(a.b)), all 5 rows" in shown
    assert "scope              9.5, meets the declared number" in shown
    assert "stale              unknown (component_missing_value), unknown whether it meets it" in shown
    assert "excuses nothing" in shown


def test_a_record_without_explanations_lists_none_and_an_unknown_one_its_reason(record):
    record |= {"computed": None, "delta": None, "reason_code": "components_missing", "unit": None}
    record["declared_pointer"] |= {"line": None}
    shown = text(record)
    assert "explanations" not in shown
    assert "components_missing" in shown
    assert "declared.jsonl /value" in shown


def test_one_line_names_what_holds_or_that_nothing_does():
    assert explained_line([], EN) == ""
    assert explained_line([tried(), NONE], EN) == "no explanation holds; 1 tried: unit"
    assert explained_line([NONE], EN) == "no explanation holds; 0 tried"
    assert (
        explained_line([tried(), tried("scope", True, "9.5")], EN) == "meets the declared number: scope (9.5); 2 tried"
    )
    assert explained_line([tried("unit", None)], EN) == "no explanation holds; 1 tried: unit", "unknown is not held"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_html_file_has_the_page_of_each_mismatch(document, language):
    texts = words(language)
    html = audit_html(document, texts, verdict(document, "warn"), language)
    mismatches = [r for r in document["cross_checks"] if r["status"] == "mismatch"]
    assert html.count(texts["no_excuse"]) == len(mismatches)
    assert html.count(f"<dt>{texts['evidence']}</dt>") == len(mismatches)
    assert "100 * (sum(audit_log.token_cost))" in html


def test_a_case_in_a_list_says_what_was_tried(everything):
    cases, checks = everything["audit_escalations"], everything["audit_cross_checks"]
    rows = case_rows(cases, checks, everything["audit_explanations"])
    assert len(rows) == len(cases)
    false = rows[rows["field"] == "total_cost_usd"].iloc[0]
    assert (false["declared"], false["computed"], false["delta"], false["where"]) == (
        "9.5",
        "0.5",
        "9",
        "declared.jsonl:2 /value",
    )
    assert false["explanations"].startswith("no explanation holds; 5 tried: unit, duplicate_events, stale")
    assert set(rows.loc[rows["reason"] != "mismatch", "explanations"]) == {""}
    assert list(case_rows(cases.iloc[:0], checks, everything["audit_explanations"]).columns) == list(rows.columns)


def test_explanations_are_grouped_by_round_and_record(document):
    grouped = by_record(document["explanations"])
    assert set(grouped) == {
        (r["round_id"], r["record_id"]) for r in document["cross_checks"] if r["status"] == "mismatch"
    }
    for rows in grouped.values():
        assert [row["attempt_index"] for row in rows] == list(range(1, len(rows) + 1))
