"""Claims about `govern crosscheck prove`, `validate` and `selftest`: what is printed, and the exit codes."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.crosscheck.mutation import MutationProof

PACKAGE = resources.files("governance_pipeline.crosscheck")
REPORTS = Path(str(PACKAGE / "shipped_reports"))
CASES = Path(__file__).parents[1] / "crosscheck" / "cases"
EXPECTED = json.loads((REPORTS / "expected.json").read_text("utf-8"))


@pytest.fixture
def govern(capsys):
    """Return a function that runs a command and gives exit code, stdout and stderr."""

    def call(*arguments: object):
        code = run(["crosscheck", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def schema(name: str):
    return json.loads((PACKAGE / "schemas" / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("report", EXPECTED)
def test_each_golden_report_is_judged_with_its_codes_and_exit_code(govern, report):
    code, out, _ = govern("validate", REPORTS / report)
    assert set(EXPECTED[report]) <= {line.split()[0] for line in out.splitlines()}
    assert code == (1 if EXPECTED[report] else 0)
    assert bool(out) == bool(EXPECTED[report])


def test_a_violation_is_one_line_of_code_and_place_and_the_same_as_json(govern):
    report = REPORTS / "invalid" / "delta_sign_lost.json"
    _, out, err = govern("validate", report)
    assert out.splitlines()[0] == "delta_wrong /records/3/delta"
    assert err.endswith("3 violations\n")
    code, text, _ = govern("validate", report, "--json")
    document = json.loads(text)
    jsonschema.validate(document, schema("crosscheck-validation-v1"))
    assert [f"{v['code']} {v['where']}" for v in document["violations"]] == out.splitlines()
    assert code == 1


@pytest.mark.parametrize("text", ["", "{", "not json", '{"a":1,"a":1}'])
def test_a_report_that_is_not_json_cannot_be_analyzed(govern, tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    assert govern("validate", tmp_path / "r.json")[:2] == (3, "")
    assert govern("validate", tmp_path / "none.json")[0] == 3
    assert govern("validate")[0] == 2


def test_no_name_in_a_report_steers_the_terminal(govern, tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({"\x1b[31m\u202e": 1}))
    code, out, _ = govern("validate", tmp_path / "r.json")
    assert code == 1
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_the_selftest_passes_offline_and_says_what_it_tried(govern):
    code, out, err = govern("selftest")
    assert (code, len(out.splitlines())) == (0, len(EXPECTED))
    assert f"{len(EXPECTED)} reports, 0 not judged" in err
    code, text, _ = govern("selftest", "--json")
    jsonschema.validate(json.loads(text), schema("crosscheck-selftest-v1"))
    assert code == 0


def test_a_validator_that_lets_an_invalid_report_pass_fails_the_selftest(govern, monkeypatch):
    monkeypatch.setattr("governance_pipeline.crosscheck.selftest.text_violations", lambda *_: [])
    code, out, _ = govern("selftest")
    assert code == 1
    assert out.count("FAILED invalid/") == sum(map(bool, EXPECTED.values()))


def test_the_whole_catalogue_is_killed_by_its_mutants(govern):
    for arguments in ((), ("--catalogue",)):
        code, text, _ = govern("prove", *arguments, "--json")
        document = json.loads(text)
        jsonschema.validate(document, schema("crosscheck-proof-v1"))
        assert [check["check_id"] for check in document["checks"] if not check["can_fail"]] == []
        assert (code, len(document["checks"]) > 50) == (0, True)


def test_a_check_of_the_catalogue_that_cannot_fail_is_refused(govern, monkeypatch):
    proof = MutationProof("built_in", 8, 8, components_moved=False)
    monkeypatch.setattr("governance_pipeline.auditing.catalogue_proofs", lambda _only: [proof])
    code, out, _ = govern("prove")
    assert code == 4
    assert "check_cannot_fail built_in" in out
    assert "1 cannot fail" in out


def test_a_check_file_is_proved_whole_and_a_check_that_cannot_fail_is_named(govern):
    code, text, _ = govern("prove", CASES / "30_check_that_cannot_fail" / "checks.yaml", "--json")
    assert code == 4
    assert json.loads(text)["checks"] == [
        {"check_id": "n", "records": 1, "declared_flipped": 1, "components_moved": False, "can_fail": False},
        {"check_id": "sound", "records": 1, "declared_flipped": 1, "components_moved": True, "can_fail": True},
    ]
    code, out, _ = govern("prove", CASES / "03_sign_is_kept" / "checks.yaml")
    assert code == 0
    assert "0 cannot fail" in out


def test_a_refused_file_an_unreadable_source_and_two_wishes_are_told_apart(govern, tmp_path):
    (tmp_path / "checks.yaml").write_text("schema: govern/checks/v9\n")
    assert govern("prove", tmp_path / "checks.yaml")[0] == 2
    assert govern("prove", tmp_path / "none.yaml")[0] == 2
    assert govern("prove", CASES / "35_source_cannot_be_read" / "checks.yaml")[0] == 3
    code, _, err = govern("prove", CASES / "03_sign_is_kept" / "checks.yaml", "--catalogue")
    assert code == 2
    assert "not both" in err
