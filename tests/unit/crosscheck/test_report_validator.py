"""Claims about the validator: each way a report can be wrong has its code, and no hostile document makes it stumble."""

from __future__ import annotations

import copy
import json
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.report_validator import report_violations
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme

SHIPPED = resources.files("governance_pipeline.crosscheck") / "shipped_reports"
INVOICES = parse_json((SHIPPED / "valid" / "invoices.json").read_bytes())
RATES = parse_json((SHIPPED / "valid" / "rates.json").read_bytes())
MISMATCH, MATCH, MISSING, NEGATIVE = range(4)
"""Places of the four records of `INVOICES`: 110 against 100, 10.005 against 10, no components, 90 against 100."""


def codes(document) -> set[str]:
    return {violation.code for violation in report_violations(document)}


def changed(path: str, value, document=INVOICES):
    """Return a copy with one member set; the path is an RFC 6901 pointer."""
    document = copy.deepcopy(document)
    *parents, last = path.strip("/").split("/")
    target = document
    for part in parents:
        target = target[int(part) if isinstance(target, list) else part]
    target[int(last) if isinstance(target, list) else last] = value
    return document


@pytest.mark.parametrize("name", ["invoices", "counts", "rates"])
def test_a_sound_report_has_no_violation(name):
    assert report_violations(parse_json((SHIPPED / "valid" / f"{name}.json").read_bytes())) == []


@pytest.mark.parametrize("place", [MISMATCH, MATCH, MISSING, NEGATIVE])
def test_a_record_taken_out_with_its_case_and_its_share_of_the_counts_is_missed(place):
    report = copy.deepcopy(INVOICES)
    gone = report["records"].pop(place)
    report["escalations"] = [case for case in report["escalations"] if case["record_id"] != gone["record_id"]]
    for counts in (report["check_set"], *report["fields"]):
        counts["records"] -= 1
        counts[gone["status"]] -= 1
    [found] = [violation for violation in report_violations(report) if violation.code == "count_wrong"]
    assert found.where == "/check_set/sources/0/rows"


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("/check_set/sources/0/role", "judge", "bad_type"),
        ("/check_set/sources/0/quarantined", 99, "count_wrong"),
        ("/check_set/sources/0/rows", 99, "count_wrong"),
        ("/check_set/sources/0/name", "zzz", "order_wrong"),
        ("/check_set/epsilon_policy/schema", "govern/epsilon-policy/v2", "schema_wrong"),
        ("/check_set/epsilon_policy/max/integer", 1, "epsilon_not_allowed"),
        ("/check_set/epsilon_policy/max/currency", -1, "epsilon_not_allowed"),
        ("/check_set/epsilon_policy/max/currency", Lexeme("0.004"), "epsilon_not_allowed"),
        ("/fields/0/components", ["lines.price"], "field_wrong"),
        ("/fields/0/components", [], "field_wrong"),
        ("/fields/0/declared", "lines.total", "field_wrong"),
        ("/fields/0/declared", "nobody.total", "field_wrong"),
        ("/fields/0/formula", "lines.amount", "field_wrong"),
        ("/fields/0/formula", "sum(invoices.total)", "field_wrong"),
        ("/fields/0/no_components", "zero", "field_wrong"),
        ("/fields/0/epsilon_relative", Lexeme("0.0000000001"), "epsilon_not_allowed"),
        ("/fields/0/epsilon", -1, "epsilon_not_allowed"),
        ("/fields/0/can_fail", False, "structural_test_false"),
        ("/fields/0/independent", False, "structural_test_false"),
        ("/fields/0/independent", False, "validation_wrong"),
        ("/fields/0/check_id", "", "bad_type"),
        ("/records/0/check_id", "nobody", "field_wrong"),
        ("/records/0/declared_pointer/file", "0" * 64, "field_wrong"),
        ("/records/0/declared_pointer/pointer", "/other", "field_wrong"),
        ("/records/0/declared_pointer/line", 9, "digest_wrong"),
        ("/records/0/declared_pointer", {}, "missing_field"),
        ("/records/0/subject_id", "Z", "digest_wrong"),
        ("/records/0/components_digest", None, "digest_wrong"),
        ("/records/0/components_count", 0, "digest_wrong"),
        ("/records/0/declared", 111, "declared_altered"),
        ("/records/0/declared_raw", "110.01", "declared_altered"),
        ("/records/0/declared_raw", None, "declared_altered"),
        ("/records/0/declared_raw", "a hundred and ten", "declared_altered"),
        ("/records/0/computed", 99, "delta_wrong"),
        ("/records/0/delta", None, "delta_wrong"),
        ("/records/0/epsilon", None, "epsilon_wrong"),
        ("/records/0/epsilon", -1, "epsilon_not_allowed"),
        ("/records/0/epsilon_reason", "because", "field_wrong"),
        ("/records/0/epsilon_reason", "\u200b\u2800", "epsilon_reason_blank"),
        ("/fields/0/epsilon_reason", "\u200b\u2800", "epsilon_reason_blank"),
        ("/records/0/declared", None, "value_hidden"),
        ("/records/0/reason_code", "components_missing", "reason_code_wrong"),
        ("/records/0/opened_at", "2026-01-01", "bad_type"),
        ("/records/0/overwritten", 0, "bad_type"),
        ("/records/0/declared", Lexeme("-0"), "bad_type"),
        ("/records/2/reason_code", None, "reason_code_wrong"),
        ("/records/2/reason_code", "declared_missing", "reason_code_wrong"),
        ("/records/2/reason_code", "declared_not_finite", "reason_code_wrong"),
        ("/records/2/reason_code", "declared_quarantined", "reason_code_wrong"),
        ("/records/2/reason_code", "declared_type", "reason_code_wrong"),
        ("/records/2/reason_code", "division_by_zero", "reason_code_wrong"),
        ("/records/2/reason_code", "components_incomplete", "reason_code_wrong"),
        ("/records/2/reason_code", "component_not_a_number", "reason_code_wrong"),
        ("/records/2/reason_code", "duplicate_subject", "reason_code_wrong"),
        ("/records/2/delta", 0, "delta_wrong"),
        ("/records/2/mismatch", False, "flag_wrong"),
        ("/records/3/delta", 10, "delta_wrong"),
        ("/records/3/action", "accept", "action_wrong"),
        ("/escalations/0/case_id", "case-1", "field_wrong"),
        ("/escalations/0/computed", 101, "field_wrong"),
        ("/escalations/0/computed", None, "value_hidden"),
        ("/escalations/0/reason", "components_missing", "field_wrong"),
        ("/escalations/0/state", "resolved", "bad_type"),
        ("/escalations/0/record_id", "0" * 64, "escalation_extra"),
        ("/escalations/0/record_id", "0" * 64, "escalation_missing"),
        ("/escalations/0", None, "bad_type"),
        ("/structural_tests/silent_overwrite_rejected", None, "bad_type"),
        ("/validation/more", True, "unknown_field"),
        ("/guardian", "maybe", "bad_type"),
        ("/records", {}, "bad_type"),
        ("/fields", None, "bad_type"),
    ],
)
def test_each_change_of_a_sound_report_is_found(path, value, code):
    assert code in codes(changed(path, value))


def test_no_member_of_a_report_can_go_missing_unnoticed():
    def walk(value, place):
        if isinstance(value, dict):
            for name in value:
                yield [*place, name]
                yield from walk(value[name], [*place, name])
        elif isinstance(value, list) and value:
            yield from walk(value[0], [*place, 0])

    for place in walk(INVOICES, []):
        document = copy.deepcopy(INVOICES)
        target = document
        for part in place[:-1]:
            target = target[part]
        del target[place[-1]]
        assert "missing_field" in codes(document), place


def test_a_case_twice_is_one_too_many():
    document = copy.deepcopy(INVOICES)
    document["escalations"].insert(1, document["escalations"][0])
    assert "escalation_extra" in codes(document)


def test_cases_out_of_order_are_found():
    document = copy.deepcopy(INVOICES)
    document["escalations"].reverse()
    assert "order_wrong" in codes(document)


def test_a_value_where_a_source_is_incomplete_cannot_be_known():
    document = copy.deepcopy(INVOICES)
    for source in document["check_set"]["sources"]:
        if source["role"] == "components":
            source["quarantined"] = 1
    assert "reason_code_wrong" in codes(document)


def test_a_report_without_a_record_bears_out_no_verifiable_field():
    document = copy.deepcopy(INVOICES)
    document["records"], document["escalations"] = [], []
    document["check_set"]["sources"][0]["rows"] = 0
    for place in (document["check_set"], document["fields"][0]):
        place.update(dict.fromkeys(("records", "match", "mismatch", "unverifiable"), 0))
    found = {str(violation) for violation in report_violations(document)}
    assert found == {"validation_wrong /validation/fields_verifiable"}


def test_a_float_with_a_relative_term_is_held_to_its_own_epsilon():
    assert codes(changed("/records/1/epsilon", Lexeme("0.0000001"), RATES)) >= {"epsilon_wrong"}
    assert codes(changed("/records/1/epsilon", Lexeme("0.01"), RATES)) >= {"epsilon_not_allowed"}


def test_each_violation_says_where_it_is():
    [violation] = [v for v in report_violations(changed("/records/1/delta", 1)) if v.code == "delta_wrong"]
    assert str(violation) == "delta_wrong /records/1/delta"
    assert violation.where == "/records/1/delta"


@pytest.mark.parametrize("document", [None, [], "x", 1, {}, {"schema": 1}, Lexeme("1.5")])
def test_what_is_no_report_is_refused_whatever_it_is(document):
    assert report_violations(document)


PLACES = [
    "/check_set", "/check_set/sources", "/check_set/sources/0", "/check_set/sources/0/name", "/check_set/epsilon_policy",
    "/check_set/epsilon_policy/max", "/fields", "/fields/0", "/fields/0/check_id", "/fields/0/formula",
    "/fields/0/components", "/fields/0/declared", "/fields/0/records", "/fields/0/data_type", "/fields/0/epsilon",
    "/records/0", "/records/0/record_id", "/records/0/check_id", "/records/0/subject_id", "/records/0/declared",
    "/records/0/declared_raw", "/records/0/declared_pointer", "/records/0/status", "/records/0/reason_code",
    "/records/0/epsilon", "/records/0/computed", "/records/0/action", "/escalations", "/escalations/0",
    "/escalations/0/record_id", "/structural_tests", "/validation", "/validation/fields_verifiable", "/guardian",
]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.text(max_size=5) | st.sampled_from(["mismatch", "percent"])
    | st.just(Lexeme("1e999999999")) | st.just(Lexeme("9" * 400)) | st.just(Lexeme("0.1")),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=6,
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(PLACES), VALUES)
def test_no_value_anywhere_makes_the_validator_stumble(path, value):
    document = changed(path, value)
    is_same = json.dumps(document) == json.dumps(INVOICES)
    assert bool(report_violations(document)) != is_same
