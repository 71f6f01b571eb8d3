"""Golden rounds through the command: every number that was worked out by hand comes out of `govern features compute`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.trajectory import documents

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in CASES.glob("*.expected.json"))
SCHEMA = json.loads((Path(documents.__file__).parent / "schemas" / "features-v1.json").read_text("utf-8"))


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
    return [] if not both_numbers and expected == found else [f"{where}: {found!r}, not {expected!r}"]


def test_all_twenty_cases_are_here():
    assert [name[:3] for name in NAMES] == [f"f{n:02}" for n in range(1, 21)]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_round_gives_what_was_worked_out_by_hand_and_a_reason_for_each_unknown(name, capsys):
    expected = json.loads((CASES / f"{name}.expected.json").read_text("utf-8"))
    assert run(["features", "compute", str(CASES / name), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert differences(expected, found) == []
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    for step, wanted in zip(found["steps"], expected.get("steps", found["steps"]), strict=True):
        assert set(step["unknown"]) == {term for term in "FLMPDHE" if step[term] is None}
        assert step["unknown"] == wanted.get("unknown", step["unknown"])
