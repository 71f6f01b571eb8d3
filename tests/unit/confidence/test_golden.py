"""Golden event files through the command: every score worked out by hand comes out, byte for byte."""

from __future__ import annotations

import json
import random
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name.removesuffix(".expected.json") for path in CASES.glob("*.expected.json"))
SCHEMA = json.loads(
    (resources.files("governance_pipeline.confidence") / "schemas" / "confidence-replay-v1.json").read_text("utf-8")
)


def test_all_thirty_eight_cases_are_here():
    assert len(NAMES) == 38


@pytest.mark.parametrize("name", NAMES)
def test_a_replay_gives_the_expected_bytes(name, capsysbinary):
    assert run(["confidence", "replay", str(CASES / f"{name}.events.jsonl"), "--json"]) == 0
    out = capsysbinary.readouterr().out
    assert out == (CASES / f"{name}.expected.json").read_bytes()
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(out))


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_lines_plays_no_part(name, tmp_path, capsysbinary):
    lines = (CASES / f"{name}.events.jsonl").read_bytes().splitlines()
    for seed in range(3):
        random.Random(seed).shuffle(lines)
        shuffled = tmp_path / "shuffled.jsonl"
        shuffled.write_bytes(b"\n".join(lines))
        assert run(["confidence", "replay", str(shuffled), "--json"]) == 0
        assert capsysbinary.readouterr().out == (CASES / f"{name}.expected.json").read_bytes()


def test_a_summary_leaves_out_events_and_days_and_nothing_else(capsys):
    run(["confidence", "replay", str(CASES / "mixed_a.events.jsonl"), "--json", "--summary"])
    summary = json.loads(capsys.readouterr().out)
    whole = json.loads((CASES / "mixed_a.expected.json").read_text())
    assert summary == {name: value for name, value in whole.items() if name not in ("events", "days")}
    jsonschema.Draft202012Validator(SCHEMA).validate(summary)
