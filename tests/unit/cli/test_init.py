"""`govern init` and `govern verify-layout`: exit codes, documents, and what a person reads."""

from __future__ import annotations

import json
import os

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.framework.documents import schema_document
from governance_pipeline.framework.folder import POLICIES, SAFETY_CHECKS


@pytest.fixture
def govern(capsys):
    """Run a command; gives exit code, stdout and stderr."""

    def _govern(*arguments):
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return _govern


@pytest.fixture
def document(govern):
    """Run a command with --json; gives exit code and document, held to its shipped schema."""

    def _document(schema, *arguments):
        code, out, _ = govern(*arguments, "--json")
        answer = json.loads(out)
        jsonschema.Draft202012Validator(schema_document(schema)).validate(answer)
        return code, answer

    return _document


def test_something_in_the_way_is_exit_2_and_named(govern, tmp_path):
    (tmp_path / "README.md").mkdir()
    code, out, err = govern("init", tmp_path)
    assert (code, out) == (2, "")
    assert "README.md is a folder, not a file" in err
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_a_template_that_cannot_be_used_is_exit_2_and_makes_nothing(govern, tmp_path):
    (tmp_path / "wording").mkdir()
    (tmp_path / "wording" / "polices.md").write_text("x")
    code, _, err = govern("init", tmp_path / "new", "--template", tmp_path / "wording")
    assert code == 2
    assert "polices.md is no file of a governed project" in err
    assert not (tmp_path / "new").exists()


def test_laid_out_edited_and_upgraded_in_both_languages(govern, document, tmp_path):
    for language in ("en", "es"):
        root = tmp_path / language
        code, made = document("framework-init-v1", "init", root, "--lang", language)
        assert (code, made["language"], len(made["added_files"])) == (0, language, 14)
        assert govern("verify-layout", root)[0] == 0
        (root / POLICIES).write_text("ours")
        (root / "README.md").unlink()
        code, again = document("framework-init-v1", "init", root, "--lang", language)
        assert (again["added_files"], again["differing"]) == (["README.md"], [POLICIES])
        assert (root / POLICIES).read_text() == "ours"
        code, out, _ = govern("verify-layout", root)
        assert code == 1
        assert f"changed         {POLICIES}" in out
        assert "malformed" in out
        assert f"with the {language} template" in out


def test_a_dry_run_says_so_and_makes_nothing(govern, tmp_path):
    code, out, _ = govern("init", tmp_path / "new", "--dry-run")
    assert code == 0
    assert "would be added folder 00_governance" in out
    assert not (tmp_path / "new").exists()


def test_a_name_that_begins_with_a_dash_is_a_folder_after_two_dashes(govern, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert govern("init", "--", "-rf")[0] == 0
    assert govern("verify-layout", "--", "-rf")[0] == 0
    assert (tmp_path / "-rf" / POLICIES).is_file()


def test_a_name_that_a_terminal_would_obey_is_printed_escaped(govern, tmp_path):
    _, out, _ = govern("init", tmp_path / "a\x1b[31m")
    assert "\x1b" not in out
    (tmp_path / "a\x1b[31m" / "b\x1b]0;x\x07").write_text("x")
    _, out, _ = govern("verify-layout", tmp_path / "a\x1b[31m")
    assert "\x1b" not in out


def test_names_that_are_no_utf8_are_printed_and_listed(document, govern, tmp_path):
    root = tmp_path / os.fsdecode(b"a\xff")
    assert govern("init", root)[0] == 0
    (root / os.fsdecode(b"b\xfe")).write_text("x")
    code, out, _ = govern("verify-layout", root)
    assert (code, "extra" in out) == (1, True)
    assert document("framework-layout-v1", "verify-layout", root)[0] == 1


def test_the_skeleton_is_said_by_both_commands(govern, document, tmp_path):
    _, out, _ = govern("init", tmp_path, "--skeleton")
    assert "is a skeleton" in out
    code, out, _ = govern("verify-layout", tmp_path)
    assert (code, out.splitlines()[0]) == (
        0,
        "safety_checks.py is the skeleton: signatures only, it enforces nothing",
    )
    code, found = document("framework-layout-v1", "verify-layout", tmp_path, "--safety-checks", "library")
    assert (code, found["safety_checks"]) == (1, "skeleton")
    assert [(d["path"], d["deviation"]) for d in found["differences"]] == [(SAFETY_CHECKS, "variant")]


def test_the_changed_lines_are_shown_when_they_are_asked_for(govern, tmp_path):
    govern("init", tmp_path)
    with (tmp_path / POLICIES).open("a") as stream:
        stream.write("12. Ours.\n")
    assert "+12. Ours." not in govern("verify-layout", tmp_path)[1]
    assert "\n+12. Ours.\n" in govern("verify-layout", tmp_path, "--diff")[1]
    assert govern("verify-layout", tmp_path, "--diff", "--json")[0] == 2


def test_a_project_at_work_passes_with_in_use_only(document, tmp_path, govern):
    govern("init", tmp_path)
    (tmp_path / "src").mkdir()
    code, found = document("framework-layout-v1", "verify-layout", tmp_path)
    assert (code, [d["deviation"] for d in found["differences"]]) == (1, ["extra"])
    code, found = document("framework-layout-v1", "verify-layout", tmp_path, "--in-use")
    assert (code, found["is_as_laid_out"]) == (0, True)


def test_no_folder_is_exit_2(govern, tmp_path):
    code, _, err = govern("verify-layout", tmp_path / "none")
    assert code == 2
    assert "there is no folder" in err
