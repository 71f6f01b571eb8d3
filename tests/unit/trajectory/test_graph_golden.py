"""Golden graphs through the command: every number that was worked out by hand comes out of `govern features graph`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.trajectory import graph_document

CASES = Path(__file__).parent / "cases" / "graph"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in CASES.glob("*.expected.json"))
SCHEMA = json.loads((Path(graph_document.__file__).parent / "schemas" / "graph-v1.json").read_text("utf-8"))
TOLERANCE = {"pagerank": 1e-9}


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
    tolerance = TOLERANCE.get(where.rpartition("/")[2], 1e-12)
    if both_numbers and abs(expected - found) <= tolerance * max(1, abs(expected), abs(found)):
        return []
    return [] if not both_numbers and expected == found else [f"{where}: {found!r}, not {expected!r}"]


def test_all_seven_cases_are_here():
    assert [name[:3] for name in NAMES] == [f"g{n:02}" for n in range(1, 8)]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_graph_gives_what_was_worked_out_by_hand_and_a_reason_for_each_unknown(name, capsys):
    expected = json.loads((CASES / f"{name}.expected.json").read_text("utf-8"))
    assert run(["features", "graph", str(CASES / f"{name}.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert differences(expected, found) == []
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    for step in found["steps"]:
        assert set(step["unknown"]) == {term for term in "YDC" if step[term] is None}


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_golden_graph_names_each_step(name, capsys):
    assert run(["features", "graph", str(CASES / f"{name}.json")]) == 0
    assert "objective set" in capsys.readouterr().out
