"""`govern authorize`: 0 only for what is allowed now, 4 for everything else, with the rule that decided."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.framework.documents import document_fault

if "registry_house" not in sys.modules:
    _place = Path(__file__).parents[1] / "framework" / "registry_house.py"
    _spec = importlib.util.spec_from_file_location("registry_house", _place)
    sys.modules["registry_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["registry_house"])
house_module = sys.modules["registry_house"]


@pytest.fixture
def house(tmp_path, monkeypatch):
    for module in ("authorize", "gate"):
        monkeypatch.setattr(f"governance_pipeline.cli.{module}.clock", lambda: house_module.NOON)
    monkeypatch.setattr("governance_pipeline.trust.config.default_config_path", lambda: tmp_path / "none.toml")
    monkeypatch.chdir(tmp_path)
    made = house_module.House(tmp_path)
    made.allow(
        "| worker | run_tests | * | safe |", "| worker | run_batch | night | 2026-11-01 | 2026-11-02 | a night |"
    )
    return made


def _ask(house, capsys, *arguments, project=True, gate=True):
    capsys.readouterr()
    place = ["--project", str(house.folder.root)] if project else []
    place += ["--lake", str(house.world.lake.root)]
    place += ["--config", str(house.world.config_path)] if gate else []
    code = run(["authorize", *arguments, "--agent", "worker", "--json", *place])
    out = capsys.readouterr().out
    document = json.loads(out) if out else None
    assert document is None or document_fault("authorize-v1", document) is None
    return code, document


def test_only_what_is_allowed_now_exits_with_nothing(house, capsys):
    code, answer = _ask(house, capsys, "run_tests")
    assert (code, answer["answer"], answer["rule"]) == (0, "allowed", "standing_permission")
    assert [(row["line"], row["standing"]) for row in answer["inactive"]] == [(9, "expired")]
    assert _ask(house, capsys, "run_batch", "--scope", "night")[0] == 4


def test_a_critical_action_is_asked_about_approved_and_used(house, capsys):
    house.file("exports/old.csv", "old")
    words = ("delete_exports", "--scope", "exports/old.csv")
    assert _ask(house, capsys, *words)[0] == 4
    code, answer = _ask(house, capsys, *words, "--ask", "--why", "the month is over")
    assert (code, answer["answer"], answer["code"]) == (4, "needs_approval", "MISSING")
    sign = ["--key", str(house.world.write_keys() / "ana.pem"), "--reason", "read"]
    sign += ["--digest", house.world.history().requests[-1].subject_sha256[:8]]
    place = ["--lake", str(house.world.lake.root), "--config", str(house.world.config_path)]
    assert run(["gate", "approve", answer["request_id"], *sign, *place]) == 0
    code, answer = _ask(house, capsys, *words, "--run", "run-1")
    assert (code, answer["rule"], len(answer["decision_ids"])) == (0, "approved", 1)
    assert _ask(house, capsys, *words, "--run", "run-2")[0] == 4


def test_without_a_gate_what_is_critical_is_refused_and_the_rest_is_not(house, capsys):
    code, answer = _ask(house, capsys, "delete_exports", "--scope", "x", gate=False)
    assert (code, answer["answer"], answer["rule"]) == (4, "refused", "no_gate")
    assert _ask(house, capsys, "run_tests", gate=False)[0] == 0


def test_the_corpus_of_a_lake_needs_no_project_and_everything_else_does(house, capsys):
    code, answer = _ask(house, capsys, "reprocess_corpus", project=False)
    assert (code, answer["critical"], answer["code"]) == (4, "reprocess_corpus", "MISSING")
    assert _ask(house, capsys, "run_tests", project=False) == (2, None)
