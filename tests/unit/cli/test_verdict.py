"""The verdict commands over a lake, a landing folder and a single round folder: documents and exit codes as promised."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from governance_pipeline.cli.main import run
from governance_pipeline.cli.verdict import verdict
from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.pipeline import TABLES
from governance_pipeline.verdict.document_schema import document_fault
from governance_pipeline.workspace import Workspace

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "rounds"
ROUNDS = ("parser-0003", "parser-0004", "parser-0006", "billing-0008")
"""A clean round, its child with a false total, one that is not proven, one with a false hash."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A landing folder of four sample rounds and the lake made from it; tests that change it copy it."""
    root = tmp_path_factory.mktemp("verdict")
    for name in ROUNDS:
        shutil.copytree(SAMPLE / name, root / "landing" / name)
    Workspace(root / "landing", root / "lake").make(TABLES, ROUNDS)
    return root


@pytest.fixture
def govern(made, tmp_path, monkeypatch):
    """Run `govern verdict …` on the lake; gives exit code and document."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOVERN_LAKE", str(made / "lake"))
    monkeypatch.setenv("GOVERN_LANDING", str(tmp_path / "absent"))

    def _govern(*arguments):
        result = CliRunner().invoke(verdict, list(arguments), standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        return result.return_value, json.loads(result.stdout)

    return _govern


def show(govern, name, *options):
    return govern("show", str(name), "--format", "json", *options)[1]


def first_finding(govern, name):
    return show(govern, name)["new_findings"][0]


@pytest.mark.parametrize("arguments", [
    ["show", "no-such-round"], ["show", "../parser-0004"], ["show", "\x1b[2J"], ["check", "--finding", "00000000"],
    ["check", "--finding", "short"], ["check", "--finding", "1", "--round", "a"], ["check"], ["show"],
    ["check", "--finding", "g" * 64], ["show", "parser-0004", "--format", "pdf"],
])  # fmt: skip
def test_what_is_not_there_or_not_asked_rightly_exits_2_without_output(made, tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    places = ["--lake", str(made / "lake"), "--landing", str(tmp_path / "absent")]
    assert run(["verdict", *arguments, *places]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "\x1b" not in captured.err


def test_a_lake_without_the_inputs_of_a_round_exits_3(made, tmp_path, capsys):
    shutil.copytree(made / "lake", tmp_path / "lake")
    shutil.rmtree(tmp_path / "lake" / "audit_cross_checks")
    assert run(["verdict", "show", "parser-0004", "--lake", str(tmp_path / "lake")]) == 3
    assert "audit_cross_checks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "status", "code", "strict"),
    [("parser-0003", "pass", 0, 0), ("parser-0004", "warn", 0, 1), ("parser-0006", "unknown", 3, 3),
     ("billing-0008", "block", 1, 1)],
)  # fmt: skip
def test_check_exits_as_the_verdict_says_and_show_exits_0(govern, name, status, code, strict):
    shown, document = govern("show", name, "--format", "json")
    assert (shown, document["status"]) == (0, status)
    assert document_fault("verdict-v1.json", document) is None
    assert govern("check", "--round", name, "--json")[0] == code
    assert govern("check", "--round", name, "--json", "--fail-on", "warn")[0] == strict
    assert govern("check", "--round", name, "--json", "--fail-on", "never")[0] == 0


def test_lake_landing_and_folder_give_the_same_document_but_for_its_duration(govern, made):
    name = "parser-0004"
    stored = show(govern, name)
    for place in (
        [name, "--lake", "absent", "--landing", str(made / "landing")],
        [made / "landing" / name, "--lake", "absent"],
    ):
        assert show(govern, *place) | {"duration_ms": 0} == stored | {"duration_ms": 0}
    assert isinstance(stored["duration_ms"], int)


@pytest.mark.parametrize(
    ("name", "code", "exits"),
    [("parser-0004", "cross-check-mismatch", 0), ("billing-0008", "output-hash-mismatch", 1),
     ("parser-0006", "focused-check-failed", 0)],
)  # fmt: skip
def test_the_command_a_finding_names_finds_it_again_and_exits_as_it_says(govern, name, code, exits):
    finding = first_finding(govern, name)
    assert finding["code"] == code
    *_, verb, option, id_ = finding["reproduce"].split()
    found, document = govern(verb, option, id_, "--json")
    assert found == exits
    assert (document["round_id"], document["is_reproduced"]) == (name, True)
    assert document["finding"] == finding
    assert document_fault("verdict-check-v1.json", document) is None


def test_the_command_the_document_names_makes_it_again(govern):
    document = show(govern, "parser-0004")
    again = govern(*document["reproduce"].split()[2:], "--json")[1]
    assert again | {"duration_ms": 0} == document | {"duration_ms": 0}


def test_eight_digits_of_a_finding_are_enough(govern):
    finding = first_finding(govern, "parser-0004")
    assert govern("check", "--finding", finding["finding_id"][:8], "--json")[1]["finding"] == finding


def test_a_finding_is_found_in_a_landing_folder_and_in_a_single_folder(govern, made):
    finding = first_finding(govern, "parser-0004")
    short = finding["finding_id"][:12]
    for place in (
        ["--lake", "absent", "--landing", str(made / "landing")],
        ["--folder", str(made / "landing" / "parser-0004")],
    ):
        assert govern("check", "--finding", short, "--json", *place)[1]["finding"] == finding


def test_a_stored_finding_its_inputs_no_longer_give_is_shown_and_exits_3(govern, made, tmp_path):
    shutil.copytree(made / "landing", tmp_path / "landing")
    workspace = Workspace(tmp_path / "landing", tmp_path / "lake")
    workspace.make(TABLES, ["parser-0003", "parser-0004"])
    finding = first_finding(govern, "parser-0004")
    workspace.lake.put("audit_cross_checks", "parser-0004", empty_frame("audit_cross_checks"))
    code, document = govern("check", "--finding", finding["finding_id"], "--json", "--lake", str(tmp_path / "lake"))
    assert (code, document["is_reproduced"]) == (3, False)
    assert document["finding"]["code"] == "cross-check-mismatch"


def test_findings_are_found_in_a_lake_that_holds_no_verdicts_yet(govern, made, tmp_path):
    shutil.copytree(made / "lake", tmp_path / "lake")
    for table in ("verdict_findings", "verdict_rounds"):
        shutil.rmtree(tmp_path / "lake" / table)
    finding = first_finding(govern, "billing-0008")
    code, document = govern("check", "--finding", finding["finding_id"], "--json", "--lake", str(tmp_path / "lake"))
    assert (code, document["finding"]) == (1, finding)


def test_a_person_reads_status_findings_checks_and_the_way_to_see_it_again(govern, capsys):
    assert run(["verdict", "show", "parser-0004"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("parser-0004: warn")
    for text in ("cross-check-mismatch", "declared 0.25, computed 0.195934", "verified: ", "left out: ", "reproduce: "):
        assert text in page
    assert run(["verdict", "check", "--finding", first_finding(govern, "parser-0004")["finding_id"]]) == 0
    assert "found again" in capsys.readouterr().out


def test_text_of_a_round_cannot_reach_the_terminal_unescaped(made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "landing" / "r-1"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "x\x1b]0;owned\x07[red].txt").write_text("nothing")
    assert run(["verdict", "show", "r-1", "--landing", str(tmp_path / "landing")]) == 0
    page = capsys.readouterr().out
    assert "\x1b" not in page
    assert "[red]" in page


def test_nothing_is_written_by_show_and_check(govern, made):
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*")}
    finding = first_finding(govern, "parser-0004")
    govern("check", "--finding", finding["finding_id"], "--json")
    show(govern, made / "landing" / "parser-0004", "--lake", "absent")
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*")} == before
