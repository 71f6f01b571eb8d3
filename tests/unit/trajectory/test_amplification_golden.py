"""Golden inputs through the command: every number worked out by hand comes out of `govern features amplification`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.trajectory import amplification_document

CASES = Path(__file__).parent / "cases" / "amplification"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in CASES.glob("*.expected.json"))
SCHEMAS = Path(amplification_document.__file__).parent / "schemas"


def differences(expected, found, where="") -> list[str]:
    """Name where an output is not what was expected; keys the expectation does not name are free."""
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [f"{where}/{key} is missing" for key in expected if key not in found]
        return missing + [
            d for key in expected if key in found for d in differences(expected[key], found[key], f"{where}/{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [d for at, (one, other) in pairs for d in differences(one, other, f"{where}/{at}")]
    both_numbers = all(isinstance(n, int | float) and not isinstance(n, bool) for n in (expected, found))
    if both_numbers and abs(expected - found) <= 1e-12 * max(1, abs(expected), abs(found)):
        return []
    same = type(expected) is type(found) and expected == found
    return [] if not both_numbers and same else [f"{where}: {found!r}, not {expected!r}"]


def test_all_three_cases_are_here():
    assert [name[:3] for name in NAMES] == ["a01", "a02", "a03"]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_input_gives_what_was_worked_out_by_hand_and_a_reason_for_each_unknown(name, capsys):
    expected = json.loads((CASES / f"{name}.expected.json").read_text("utf-8"))
    assert run(["features", "amplification", str(CASES / f"{name}.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert differences(expected, found) == []
    schema = json.loads((SCHEMAS / "amplification-v1.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(found)
    for unit, wanted in zip(found["units"], expected["units"], strict=True):
        assert (unit["signals"] is None) == (not unit["touched"])
        first_three = dict(list((unit["signals"] or {}).items())[:3])
        assert set(unit["unknown"]) == {signal for signal, value in first_three.items() if value is None}
        assert unit["unknown"] == wanted.get("unknown", unit["unknown"])
