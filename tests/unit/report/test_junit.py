"""JUnit of verdicts: one case per check, nothing unknown looks passed, and any reader takes it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from governance_pipeline.report.junit import junit_xml

CODES = ("output-hash-mismatch", "cross-check-mismatch", "focused-check-failed")


def suites(made, *findings, **members):
    root = ET.fromstring(junit_xml(made.verdict_of(*findings, **members), CODES))
    return root, *root


@pytest.mark.parametrize(
    ("decision", "element"),
    [("block", "failure"), ("warn", "failure"), ("pause", "failure"), ("unknown", "error"), ("record", None),
     ("dismissed", None)],
)  # fmt: skip
def test_a_detector_with_a_finding_is_not_passed_unless_nothing_follows_from_it(made, decision, element):
    _, detectors, _ = suites(made, made.finding(decision=decision))
    [case] = [case for case in detectors.iter("testcase") if case.get("name") == "cross-check-mismatch"]
    assert [child.tag for child in case] == [element or "system-out"]
    if element:
        assert case[0].get("type") == decision


def test_the_worst_finding_of_a_detector_names_its_case(made):
    both = [made.finding(decision="warn"), made.finding(decision="unknown"), made.finding(decision="block")]
    _, detectors, _ = suites(made, *both)
    assert [f.get("type") for f in detectors.iter("failure")] == ["block"]
    assert len(detectors.find(".//failure").text.splitlines()) == 3


def test_a_check_that_did_not_run_is_skipped_with_its_reason(made):
    _, _, checks = suites(made)
    ran, skipped = checks.findall("testcase")
    assert (ran.get("name"), ran.find("skipped")) == ("log-accounted", None)
    assert skipped.find("skipped").get("message") == "check_not_run (required)"


def test_counts_are_those_of_the_cases_and_the_verdict_stays_a_word(made):
    root, detectors, checks = suites(
        made, made.finding(), made.finding("no-such-detector", "unknown"), status="unknown"
    )
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6", "failures": "1", "errors": "1", "skipped": "1",
    }  # fmt: skip
    assert [len(suite.findall("testcase")) for suite in (detectors, checks)] == [4, 2]
    assert detectors.find(".//property[@name='verdict']").get("value") == "unknown"


def test_a_dismissed_finding_is_told_with_name_and_reason(made):
    _, detectors, _ = suites(made, made.dismissed())
    assert "dismissed by ana" in detectors.find(".//system-out").text


def test_a_kept_parser_reads_the_same_counts(made):
    junitparser = pytest.importorskip("junitparser", reason="junitparser is not installed")
    text = junit_xml(
        made.verdict_of(made.finding(), made.dismissed(), made.finding("output-hash-mismatch", "unknown")), CODES
    )
    read = junitparser.JUnitXml.fromstring(text.encode())
    assert (read.tests, read.failures, read.errors, read.skipped) == (5, 1, 1, 1)
    assert [case.is_skipped for suite in read for case in suite].count(True) == 1
