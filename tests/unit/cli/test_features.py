"""The features commands: documents on stdout, exit codes and refusals as promised."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from governance_pipeline.cli import features
from governance_pipeline.cli.main import run
from governance_pipeline.trajectory.formulas import formulas_text

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "rounds"


@pytest.fixture
def govern(capsys, tmp_path, monkeypatch):
    """Run `govern features …` in an empty folder; gives (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def _govern(*arguments):
        code = run(["features", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return _govern


@pytest.fixture
def round_dir(tmp_path):
    folder = tmp_path / "data" / "rounds" / "r-1"
    folder.mkdir(parents=True)
    (folder / "changes.jsonl").write_text('{"step": 1, "F": 0}\n')
    return folder


@pytest.mark.parametrize("command", ["compute", "explain"])
@pytest.mark.parametrize("name", ["missing", "a file", "bad id", "link", "r-1."])
def test_a_folder_that_is_no_round_is_refused_with_nothing_on_stdout(govern, tmp_path, round_dir, command, name):
    if name == "a file":
        (tmp_path / name).write_text("{}")
    elif name == "link":
        (tmp_path / name).symlink_to(round_dir)
    elif name != "missing":
        (tmp_path / name).mkdir()
    code, out, err = govern(command, tmp_path / name, "--json")
    assert (code, out) == (2, "")
    assert "is no" in err


@pytest.mark.parametrize("arguments", [(), ("data/rounds/r-1", "--all")])
def test_compute_wants_one_round_or_all_of_them(govern, round_dir, arguments):
    code, out, err = govern("compute", *arguments)
    assert (code, out) == (2, "")
    assert "either ROUND_DIR or --all" in err


def test_all_of_an_empty_landing_folder_is_a_usage_error(govern):
    code, out, err = govern("compute", "--all")
    assert (code, out) == (2, "")
    assert "holds no round" in err


def test_a_folder_without_anything_is_a_round_without_steps(govern, tmp_path):
    (tmp_path / "r-9").mkdir()
    code, out, _ = govern("compute", "r-9", "--json")
    document = json.loads(out)
    assert (code, document["steps"], document["round"]["aus_reason"]) == (0, [], "no_steps")


def test_the_current_folder_and_a_trailing_slash_name_the_round_too(govern, round_dir, monkeypatch):
    assert json.loads(govern("compute", "data/rounds/r-1/", "--json")[1])["round_id"] == "r-1"
    monkeypatch.chdir(round_dir)
    assert json.loads(govern("compute", ".", "--json")[1])["round_id"] == "r-1"


def test_all_rounds_give_one_document_and_each_part_is_that_of_the_round_alone(govern, round_dir, monkeypatch):
    for name in ("parser-0009", "atlas-0009"):
        shutil.copytree(SAMPLE / name, round_dir.parent / name)
    monkeypatch.setattr(features, "ROUNDS_AT_ONCE", 2)
    code, out, _ = govern("compute", "--all", "--json")
    document = json.loads(out)
    assert (code, document["schema"]) == (0, "govern/features-list/v1")
    assert [of["round_id"] for of in document["rounds"]] == ["atlas-0009", "parser-0009", "r-1"]
    for of in document["rounds"]:
        assert of == json.loads(govern("compute", round_dir.parent / of["round_id"], "--json")[1])


def test_folders_of_the_landing_area_that_are_no_rounds_are_named(govern, round_dir):
    (round_dir.parent / "bad id").mkdir()
    code, out, err = govern("compute", "--all", "--json")
    assert (code, len(json.loads(out)["rounds"])) == (0, 1)
    assert "no round: bad id" in err


def test_explain_takes_an_id_of_the_landing_folder_or_a_folder(govern, round_dir):
    by_id = govern("explain", "r-1", "--json")
    assert by_id == govern("explain", round_dir, "--json")
    assert json.loads(by_id[1])["schema"] == "govern/features-explain/v1"


def test_no_path_of_a_change_steers_the_terminal(govern, round_dir):
    change = {"step": 1, "files": [{"path": "\x9b2J\u202e/a.py", "added": 1, "deleted": 0}]}
    (round_dir / "changes.jsonl").write_text(json.dumps(change, ensure_ascii=False) + "\n", "utf-8")
    code, out, _ = govern("explain", "r-1", "--json")
    assert (code, out.isascii(), "u202e" in out) == (0, True, True)


def test_pages_are_printed_without_json(govern, round_dir):
    assert "AUS" in govern("compute", round_dir)[1]
    assert "nothing changed" in govern("explain", "r-1")[1]
    assert "trajectory-features-v1" in govern("formulas")[1]


def test_formulas_prints_the_text_that_travels_with_the_data(govern):
    assert govern("formulas", "--json") == (0, formulas_text(), "")


def test_nothing_is_left_in_the_round_folder_or_beside_it(govern, round_dir, tmp_path):
    govern("compute", round_dir, "--json")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["changes.jsonl", "data", "r-1", "rounds"]
