"""Claims about shapes: the table the validator uses and the JSON Schema shipped beside it say the same members."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from governance_pipeline.crosscheck import report_shape as shape
from governance_pipeline.crosscheck.report_shape import is_number, shape_violations
from governance_pipeline.strict.lexeme import Lexeme

SCHEMAS = resources.files("governance_pipeline.crosscheck") / "schemas"
SCHEMA = json.loads((SCHEMAS / "cross-check-report-v1.json").read_text("utf-8"))
MEMBERS = SCHEMA["properties"]
CHECK_SET = MEMBERS["check_set"]["properties"]
RECORD = SCHEMA["$defs"]["record"]
DESCRIBED = {
    "report": (shape.REPORT, SCHEMA),
    "check_set": (shape.CHECK_SET, MEMBERS["check_set"]),
    "policy": (shape.POLICY, CHECK_SET["epsilon_policy"]),
    "maxima": (shape.MAXIMA, CHECK_SET["epsilon_policy"]["properties"]["max"]),
    "source": (shape.SOURCE, CHECK_SET["sources"]["items"]),
    "field": (shape.FIELD, MEMBERS["fields"]["items"]),
    "record": (shape.RECORD, RECORD),
    "pointer": (shape.POINTER, RECORD["properties"]["declared_pointer"]),
    "escalation": (shape.ESCALATION, MEMBERS["escalations"]["items"]),
    "structural_tests": (shape.TESTS_SHAPE, MEMBERS["structural_tests"]),
    "validation": (shape.CLAIMS_SHAPE, MEMBERS["validation"]),
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_table_and_schema_require_the_same_members_and_allow_no_other(name):
    table, schema = DESCRIBED[name]
    assert set(table) == set(schema["properties"]) == set(schema["required"])
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("text", ["1.50", "1e3", "+1", "01", ".5", "1.", "-0", "0.0", "1E400", "", "NaN", "1\n"])
def test_a_number_that_is_not_canonical_is_none(text):
    assert not is_number(Lexeme(text))


@pytest.mark.parametrize("value", [0, -7, 2**63, Lexeme("0.5"), Lexeme("-10.005"), Lexeme("9" * 50)])
def test_a_canonical_number_is_one_whatever_its_size(value):
    assert is_number(value)


@pytest.mark.parametrize("value", [True, "1", 1.5, None, [1], {}])
def test_nothing_else_is_a_number(value):
    assert not is_number(value)


def test_a_missing_an_unknown_and_a_wrong_member_are_each_named():
    found = shape_violations({"schema": 1, "a/b": 2}, shape.POLICY, "/p")
    assert {str(violation) for violation in found} == {
        "missing_field /p/max",
        "unknown_field /p/a~1b",
        "bad_type /p/schema",
    }


@pytest.mark.parametrize("value", [None, [], "x"])
def test_what_is_no_object_is_one_bad_type(value):
    assert [str(v) for v in shape_violations(value, shape.POLICY, "/p")] == ["bad_type /p"]
