"""Views for agents, parameters, imports and derived facts: what is written is what is recorded, and nothing is guessed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.confidence
from governance_pipeline.cli.main import run
from governance_pipeline.confidence.attribution import Doer
from governance_pipeline.confidence.event_rows import fact_row
from governance_pipeline.confidence.facts import Fact
from governance_pipeline.confidence.importing import imported_files
from governance_pipeline.confidence.lake_tables import EVENTS, INPUTS
from governance_pipeline.confidence.params import params_in_prompt
from governance_pipeline.contracts.registry import empty_frame, frame_of
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage.lake import Lake

SCHEMAS = Path(governance_pipeline.confidence.__file__).parent / "schemas"
RUNTIME = "claude-code/opus-4-6/high"


def checked(text: str) -> dict:
    """Hold a document to the schema it names."""
    found = json.loads(text)
    name = found["schema"].removeprefix("govern/").replace("/", "-")
    jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text())).validate(found)
    return found


@pytest.fixture
def govern(tmp_path, capsys, monkeypatch):
    """Run `govern confidence …` on an initialised place; gives exit code, stdout and stderr."""
    monkeypatch.setenv("GOVERN_CONFIDENCE", str(tmp_path / "confidence"))

    def _govern(*arguments):
        code = run(["confidence", *arguments])
        return code, *capsys.readouterr()

    assert _govern("init", "--agent", "ada", "--runtime", RUNTIME, "--user", "kim")[0] == 0
    return _govern


def test_exported_views_hold_what_is_recorded_without_notes_and_are_made_anew_each_time(govern, tmp_path):
    govern("rate", "error", "--pattern", "EXCUSE", "--note", "a private remark")
    govern("params", "--agent", "ada", "--set", "precision=80")
    code, out, _ = govern("export", str(tmp_path / "out"), "--json")
    files = [one["path"] for one in checked(out)["files"]]
    assert code == 0
    assert files == [
        "confidence.json", "confidence-log.jsonl", "confidence-propatterns.jsonl", "pool-index.json",
        "user-score.json", "agents/ada/confidence.json",
    ]  # fmt: skip
    whole = {name: (tmp_path / "out" / name).read_text() for name in files}
    documents = {name: checked(text) for name, text in whole.items() if name.endswith(".json")}
    assert "private" not in "".join(whole.values())
    agent = documents["agents/ada/confidence.json"]
    assert agent["antiPatterns"][0]["pattern_code"] == "EXCUSE"
    assert agent["params"] == {"precision": 80}
    assert agent["hubSync"]["status"] == "unregistered"
    assert json.loads(whole["confidence-log.jsonl"])["event_type"] == "error"
    assert whole["confidence-propatterns.jsonl"] == ""
    govern("export", str(tmp_path / "out"))
    assert {name: (tmp_path / "out" / name).read_text() for name in files} == whole


@pytest.mark.parametrize("given", ["precision", "precision=101", "precision=-1", "speed=3", "precision=1.5"])
def test_a_parameter_that_is_none_is_refused_and_changes_nothing(govern, given):
    code, _, err = govern("params", "--agent", "ada", "--set", given)
    assert (code, bool(err)) == (2, True)
    found = checked(govern("params", "--agent", "ada", "--json")[1])
    assert {row["value"] for row in found["parameters"]} == {None}


def test_parameters_are_of_somebody_registered_and_show_their_contract(govern):
    assert govern("params", "--set", "vision=3")[0] == 2
    assert govern("params", "--agent", "eve", "--set", "vision=3")[0] == 2
    found = checked(govern("params", "--user", "kim", "--set", "vision=90", "--lang", "es", "--json")[1])
    vision = next(row for row in found["parameters"] if row["name"] == "vision")
    assert (vision["value"], vision["range"], vision["contract"]) == (
        90, "high", "Propone hacia dónde debe ir el trabajo.",
    )  # fmt: skip
    assert len(govern("params")[1].splitlines()) == 9


def test_a_prompt_gives_only_what_it_states_in_a_line_of_its_own():
    text = "# You\n- **Precision**: 80 %\nHumor = 20\nautonomy: 10\nautonomy: 90\nvision: 300\nBe 50 % critical: always"
    assert params_in_prompt(text) == {"precision": 80, "humour": 20}


def test_init_reads_the_parameters_a_prompt_states_and_says_which(govern, tmp_path):
    prompt = tmp_path / "prompt.md"
    prompt.write_text("You are ada.\nPrecision: 80 %\nAutonomía: 30\n")
    names = ("--agent", "ada", "--runtime", RUNTIME, "--user", "kim")
    code, out, _ = govern("init", *names, "--prompt", str(prompt))
    assert (code, "precision 80 %, autonomy 30 %" in out) == (0, True)
    found = checked(govern("params", "--agent", "ada", "--json")[1])
    assert {row["name"]: row["value"] for row in found["parameters"] if row["value"] is not None} == {
        "precision": 80, "autonomy": 30,
    }  # fmt: skip
    prompt.write_bytes(b"\xff\xfe")
    assert govern("init", *names, "--prompt", str(prompt))[0] == 2


def derived(lake: Lake) -> None:
    doer = Doer("build", "eve", "bench/m-1/high", "s-1", None)
    place = {"path": "evidence.jsonl", "file_sha256": "a" * 64, "line": 2, "pointer": ""}
    members = {"event_type": "error", "domain": "TECH", "severity": "severe", "pattern_code": "HALLUCINATION"}
    fact = Fact("false_completion", "f" * 64, datetime(2026, 3, 2, 9, tzinfo=UTC), doer, members, place)
    lake.put(EVENTS, "r-1", frame_of(EVENTS, [fact_row("r-1", fact)]))


def test_derived_facts_are_recorded_once_and_only_of_agents_that_are_registered(govern, tmp_path):
    derived(Lake(tmp_path / "lake"))
    place = ("--lake", str(tmp_path / "lake"), "--json")
    refused = checked(govern("derive", *place)[1])
    assert [(one["round_id"], one["reason"]) for one in refused["left_out"]] == [("r-1", "unknown_subject")]
    assert checked(govern("derive", "--register", *place)[1])["recorded"] == 1
    assert checked(govern("derive", *place)[1])["known"] == 1


def test_facts_of_judged_rounds_nobody_has_looked_at_are_looked_for_first(govern, tmp_path):
    lake = Lake(tmp_path / "lake")
    derived(lake)
    for table in INPUTS:
        lake.put(table, "r-2", empty_frame(table))
    found = checked(govern("derive", "--register", "--lake", str(tmp_path / "lake"), "--json")[1])
    assert (found["recorded"], lake.rounds(EVENTS)) == (1, ["r-1", "r-2"])


def test_an_import_needs_a_ledger_before_anything_is_recorded_and_is_in_it_afterwards(govern, tmp_path, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "lee")
    folder = tmp_path / "rounds" / "r-1"
    folder.mkdir(parents=True)
    event = {
        "schema": "govern/confidence-event/v1", "event_id": "e1", "event_type": "correct",
        "ts": "2026-03-02T09:00:00Z", "day": "2026-03-02", "session_id": "s", "role": "user", "subject_id": "kim",
        "domain": "TECH",
    }  # fmt: skip
    (folder / "confidence.jsonl").write_text(json.dumps(event) + "\n")
    at = ("--round", "r-1", "--landing", str(tmp_path / "rounds"), "--ledger", str(tmp_path / "ledger.sqlite"))
    assert govern("import", *at)[0] == 3
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    found = checked(govern("import", *at, "--json")[1])
    assert (found["recorded"], found["left_out"], found["is_new_in_ledger"]) == (1, [], True)
    assert imported_files(ledger) == {found["file_sha256"]}
    assert govern("import")[0] == 2
    assert govern("import", "--round", "../x")[0] == 2
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    assert govern("import", *at)[0] == 2
