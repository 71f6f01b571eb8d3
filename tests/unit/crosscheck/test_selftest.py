"""Claims about the shipped reports: each is judged as it must be, and they show every violation code there is."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest

from governance_pipeline.crosscheck.report_file import file_violations, text_violations, violations_document
from governance_pipeline.crosscheck.selftest import SelftestResult, selftest_document, selftest_results
from governance_pipeline.errors import UnreadableError

PACKAGE = resources.files("governance_pipeline.crosscheck")
RESULTS = list(selftest_results())


def schema(name: str):
    return json.loads((PACKAGE / "schemas" / f"{name}.json").read_text("utf-8"))


CODES = set(schema("crosscheck-validation-v1")["properties"]["violations"]["items"]["properties"]["code"]["enum"])


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.report)
def test_each_shipped_report_is_judged_as_it_must_be(result):
    assert result.passed, result


def test_the_shipped_reports_show_every_violation_code():
    assert {code for result in RESULTS for code in result.expected} == CODES
    assert {code for result in RESULTS for code in result.found} == CODES


def test_every_shipped_report_is_listed_and_nothing_else():
    folder = PACKAGE / "shipped_reports"
    files = {f"{kind.name}/{file.name}" for kind in folder.iterdir() if kind.is_dir() for file in kind.iterdir()}
    assert {result.report for result in RESULTS} == files


@pytest.mark.parametrize(
    ("expected", "found"), [([], ["bad_type"]), (["bad_type"], []), (["bad_type"], ["delta_wrong"])]
)
def test_a_report_that_is_not_judged_so_fails(expected, found):
    assert not SelftestResult("r", expected, found).passed


def test_the_documents_keep_their_schemas():
    jsonschema.validate(selftest_document(RESULTS), schema("crosscheck-selftest-v1"))
    found = text_violations(b"{}", "r.json")
    jsonschema.validate(violations_document(found), schema("crosscheck-validation-v1"))
    assert {violation.code for violation in found} == {"missing_field"}


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff", b'{"a":1,"a":2}', b'{"a":NaN}', b"{} {}", b"[" * 99 + b"]" * 99, b'{"a":"\\ud800"}']
)
def test_what_is_not_json_cannot_be_judged(data, tmp_path):
    with pytest.raises(UnreadableError, match="no JSON report"):
        text_violations(data, "r.json")
    (tmp_path / "r.json").write_bytes(data)
    with pytest.raises(UnreadableError):
        file_violations(tmp_path / "r.json")


def test_a_report_that_cannot_be_opened_is_said_so(tmp_path):
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(UnreadableError):
            file_violations(path)
