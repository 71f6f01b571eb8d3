"""`govern rebaseline`: a whole one from declare to resume, with a gated asset refused as FROZEN in between."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.framework.documents import schema_document
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.trust.reasons import ReasonCode, Refusal

UNIT = Path(__file__).parents[1]
SAMPLE = UNIT.parents[1] / "data" / "sample" / "rounds"


def load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, UNIT / "gate" / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


gate_world = load("gate_world")


class Desk:
    """A project, an approved gated round, and a command line."""

    def __init__(self, root: Path, capsys, monkeypatch) -> None:
        self.capsys, self.monkeypatch, self.root = capsys, monkeypatch, root
        self.now = gate_world.NOON + gate_world.HOUR
        self.world = gate_world.World.create(root / "gate")
        self.world.make_round()
        self.world.decide(self.world.request())
        self.keys = self.world.write_keys()
        lay_out(root / "project", plan_of("es"))
        shutil.copytree(SAMPLE / "atlas-0001", root / "landing" / "r-1")
        monkeypatch.setattr("governance_pipeline.cli.rebaseline.clock", self.clock)

    def clock(self):
        self.now += gate_world.timedelta(seconds=1)
        return self.now

    def __call__(self, *arguments: str, signs: str | None = None, lake: bool = False) -> int:
        given = [
            "rebaseline",
            *arguments,
            "--project",
            str(self.root / "project"),
            "--config",
            str(self.world.config_path),
        ]
        given += ["--key", str(self.keys / f"{signs}.pem")] if signs else []
        given += ["--lake", str(self.root / "gate" / "lake")] if lake else []
        self.capsys.readouterr()
        return run(given)

    def answer(self, *arguments: str, **how):
        assert self(*arguments, "--json", **how) == 0, self.capsys.readouterr().err
        document = json.loads(self.capsys.readouterr().out)
        jsonschema.validate(document, schema_document("rebaseline-status-v1"))
        return document

    def publishes(self) -> ReasonCode | None:
        """Ask the gated asset; gives why it is refused."""
        try:
            self.world.guard(now=self.clock())
        except Refusal as refusal:
            return refusal.code
        return None


@pytest.fixture
def desk(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    return Desk(tmp_path, capsys, monkeypatch)


def test_a_whole_rebaseline_by_commands_with_a_gated_asset_refused_in_between(desk):
    before = desk.answer("status", "--note", lake=True)
    assert (before["baseline_version"], before["is_frozen"], before["open"]) == ("1.0.0", False, None)
    desk.answer("declare", "--scope", "costs are in euro", signs="ana")
    assert desk.answer("freeze")["is_frozen"]
    assert desk.publishes() is ReasonCode.FROZEN
    measured = desk.answer("rederive", str(desk.root / "landing"))
    assert measured["open"]["numbers"]["rounds"] == "1"
    desk.answer("revalidate")
    desk.answer("reissue", "--nothing-because", "each rule was read and holds")
    recorded = desk.answer("record", "--cause", "nobody asked for the unit", "--lesson", "ask")
    assert desk.publishes() is ReasonCode.FROZEN
    digest = recorded["open"]["chain_sha256"][:8]
    ended = desk.answer("resume", "--version", "2.0.0", "--digest", digest, signs="ana", lake=True)
    assert (ended["baseline_version"], ended["is_frozen"], ended["open"]) == ("2.0.0", False, None)
    assert [step["step"] for step in ended["ended"][0]["steps"]] == [
        "declare", "freeze", "rederive", "revalidate", "reissue", "record", "resume",
    ]  # fmt: skip
    assert desk.publishes() is ReasonCode.DIGEST_MISMATCH  # approved under the old baseline
    desk.world.decide(desk.world.request(now=desk.clock()), now=desk.clock())
    assert desk.publishes() is None
    after = desk.answer("status", lake=True)
    assert (after["due"], after["edited_checkpoints"]) == ([], [])
    state = json.loads((desk.root / "project" / "03_state" / "current_state.json").read_text())
    assert state["baseline_version"] == "2.0.0"


def test_a_skipped_step_exits_4_and_says_what_comes_next(desk):
    assert desk("freeze") == 4
    assert "REBASELINE_NOT_DECLARED" in desk.capsys.readouterr().err
    desk("declare", "--scope", "costs are in euro", signs="ana")
    assert desk("reissue", "--nothing-because", "x") == 4
    assert "REBASELINE_STEP_SKIPPED: no step is skipped: next in rebaseline-" in desk.capsys.readouterr().err


def test_nobody_is_asked_to_confirm_a_resumption_that_is_not_due(desk):
    desk("declare", "--scope", "costs are in euro", signs="ana")
    desk.capsys.readouterr()
    assert desk("resume", "--version", "2.0.0", signs="ana") == 4
    said = desk.capsys.readouterr()
    assert "REBASELINE_STEP_SKIPPED" in said.err
    assert "digits of the digest" not in said.err


@pytest.mark.parametrize("version", ["9" * 5000 + ".0.0", "2.0", "02.0.0", "\u0662.0.0", "2.0.0\n"])
def test_a_version_of_another_spelling_is_a_usage_error(desk, version):
    assert desk("resume", "--version", version, signs="ana") == 2
    assert "is no baseline version" in desk.capsys.readouterr().err


def test_declaring_needs_a_key_of_an_approver(desk):
    assert desk("declare", "--scope", "costs are in euro") == 2
    assert desk("declare", "--scope", "costs are in euro", signs="dot") == 4
    assert desk("declare", "--scope", "costs are in euro", signs="mallory") == 4
    assert desk.answer("status", lake=True)["open"] is None


def test_resuming_needs_the_digest_that_was_shown(desk):
    desk("declare", "--scope", "costs are in euro", signs="ana")
    for arguments in (
        ["freeze"], ["rederive", str(desk.root / "landing")], ["revalidate"], ["reissue", "--nothing-because", "x"],
        ["record", "--cause", "a", "--lesson", "b"],
    ):  # fmt: skip
        assert desk(*arguments) == 0
    assert desk("resume", "--version", "2.0.0", "--digest", "00000000", signs="ana", lake=True) == 4
    assert "DIGEST_MISMATCH" in desk.capsys.readouterr().err
    assert desk.answer("status", lake=True)["is_frozen"]


@pytest.mark.parametrize("mark", ["sales", "sales=fine", "=obsolete=x", "sales=obsolete"])
def test_a_mark_is_an_asset_and_a_word(desk, mark):
    marks = ("--mark", mark, "--mark", mark)
    assert desk("revalidate", *marks) == 2


def test_a_folder_that_is_no_project_is_a_usage_error(desk, tmp_path):
    assert run(["rebaseline", "freeze", "--project", str(tmp_path), "--config", str(desk.world.config_path)]) == 2


def test_status_for_people_names_step_and_what_is_due(desk):
    desk("declare", "--scope", "costs are \x1b[31meuro", signs="ana")
    assert desk("status", lake=True) == 0
    out = desk.capsys.readouterr().out
    assert "next: freeze" in out
    assert "due: baseline_not_noted" in out
    assert "\x1b" not in out
