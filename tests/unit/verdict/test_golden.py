"""Golden cases of the decision table, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from governance_pipeline.cli.verdict import verdict
from governance_pipeline.verdict.document_schema import document_fault

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in CASES.glob("*.expected.json"))
EXIT = {"pass": 0, "warn": 0, "block": 1, "unknown": 3}


def differences(expected, found, place=""):
    """What the expected file decides and the output does not say; keys it does not name are free."""
    if isinstance(expected, dict):
        wrong = [f"{place}/{key} is missing" for key in expected if key not in found]
        return wrong + [d for k in expected if k in found for d in differences(expected[k], found[k], f"{place}/{k}")]
    if isinstance(expected, list):
        if len(expected) != len(found):
            return [f"{place}: {len(found)} entries, expected {len(expected)}"]
        pairs = enumerate(zip(expected, found, strict=True))
        return [d for i, (want, have) in pairs for d in differences(want, have, f"{place}/{i}")]
    return [] if type(expected) is type(found) and expected == found else [f"{place}: {found!r}, expected {expected!r}"]


def test_all_sixteen_cases_are_here():
    assert [name[:3] for name in NAMES] == [f"v{n:02}" for n in range(1, 17)]


@pytest.mark.parametrize("name", NAMES)
def test_the_output_says_what_the_case_decides_and_the_exit_code_is_that_of_its_status(name):
    expected = json.loads((CASES / f"{name}.expected.json").read_text("utf-8"))
    result = CliRunner().invoke(verdict, ["decide", str(CASES / f"{name}.json"), "--json"], standalone_mode=False)
    found = json.loads(result.stdout)
    assert differences(expected, found) == []
    assert result.return_value == EXIT[expected["status"]]
    assert document_fault("decision-v1.json", found) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_person_reads_the_same_status(name):
    expected = json.loads((CASES / f"{name}.expected.json").read_text("utf-8"))
    result = CliRunner().invoke(verdict, ["decide", str(CASES / f"{name}.json")], standalone_mode=False)
    assert result.stdout.startswith(expected["status"])
    assert result.return_value == EXIT[expected["status"]]
