"""Golden cohorts through the command: every number worked out by hand comes out of `govern features conformal`."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run

CASES = Path(__file__).parent / "cases" / "conformal"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in CASES.glob("*.expected.json"))
SCHEMAS = resources.files("governance_pipeline.trajectory") / "schemas"


def schema(name: str) -> dict:
    return json.loads((SCHEMAS / name).read_text("utf-8"))


def differences(expected, found, where="") -> list[str]:
    """Name where an output is not what was expected; keys the expectation does not name are free."""
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [f"{where}/{key} is missing" for key in expected if key not in found]
        shared = [key for key in expected if key in found]
        return missing + [d for key in shared for d in differences(expected[key], found[key], f"{where}/{key}")]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [d for at, (one, other) in pairs for d in differences(one, other, f"{where}/{at}")]
    both_numbers = all(isinstance(n, int | float) and not isinstance(n, bool) for n in (expected, found))
    if both_numbers and abs(expected - found) <= 1e-12 * max(1, abs(expected), abs(found)):
        return []
    return [] if not both_numbers and expected == found else [f"{where}: {found!r}, not {expected!r}"]


def test_all_seven_cases_are_here():
    assert [name[:3] for name in NAMES] == [f"c{n:02}" for n in range(1, 8)]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_cohort_gives_what_was_worked_out_by_hand(name, capsys):
    given = CASES / f"{name}.json"
    expected = json.loads((CASES / f"{name}.expected.json").read_text("utf-8"))
    assert run(["features", "conformal", str(given), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert differences(expected, found) == []
    jsonschema.Draft202012Validator(schema("conformal-v1.json")).validate(found)
    jsonschema.Draft202012Validator(schema("conformal-input-v1.json")).validate(json.loads(given.read_text("utf-8")))


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_rounds_in_the_file_changes_nothing_but_the_default_targets(name, tmp_path, capsys):
    given = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    turned = tmp_path / "turned.json"
    turned.write_text(json.dumps({**given, "rounds": given["rounds"][::-1]}))
    assert [run(["features", "conformal", str(path), "--json"]) for path in (CASES / f"{name}.json", turned)] == [0, 0]
    one, other = capsys.readouterr().out.split("\n}\n")[:2]
    assert one == other
