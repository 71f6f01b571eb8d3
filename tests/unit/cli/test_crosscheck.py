"""Claims about `govern crosscheck`: what is printed where, and what hostile text cannot do to a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from governance_pipeline.cli.crosscheck import crosscheck
from governance_pipeline.crosscheck import page

CHECKS = """\
schema: govern/checks/v1
epsilon_policy: {currency: "0.002"}
sources:
  d: {path: d.jsonl, key: id, role: declared}
  p: {path: p.jsonl, key: id, role: components}
checks:
  - id: total
    field: total
    declared: d.total
    recompute: sum(p.x)
    data_type: currency
    epsilon_reason: rounding
    escalate_to: owner
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "checks.yaml").write_text(CHECKS)
    (tmp_path / "d.jsonl").write_text('{"id":"A","total":110.00}\n{"id":"B","total":1}\n{"id":"C","total":2}\n')
    (tmp_path / "p.jsonl").write_text('{"id":"A","x":100}\n{"id":"B","x":1}\n')
    return tmp_path


def govern(*arguments: str | Path):
    return CliRunner().invoke(crosscheck, [str(argument) for argument in arguments])


def test_a_check_file_that_does_not_exist_is_a_usage_error(tmp_path):
    for command in ("run", "policy"):
        result = govern(command, tmp_path / "none.yaml")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "cannot be read" in result.stderr


@pytest.mark.parametrize("arguments", [("run",), ("policy",), ("run", "--out", "never")])
def test_a_refused_check_file_lists_every_fault_with_its_line(folder, arguments):
    path = folder / "checks.yaml"
    path.write_text(CHECKS.replace("currency\n", "money\n").replace("field:", "feld:"))
    result = govern(*arguments, path)
    assert (result.exit_code, result.stdout) == (2, "")
    lines = [line.removeprefix(f"{path}:").split(":")[:2] for line in result.stderr.splitlines()]
    assert lines == [["7", " missing_key"], ["8", " unknown_key"], ["11", " bad_value"]]
    found = json.loads(govern(*arguments, path, "--json").stdout)
    assert [(error["line"], error["code"]) for error in found["errors"]] == [
        (int(n), code.strip()) for n, code in lines
    ]
    assert not Path("never").exists()


def test_a_source_that_cannot_be_read_is_said_on_stderr(folder):
    (folder / "p.jsonl").unlink()
    result = govern("run", folder / "checks.yaml")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "5: source_unreadable: source p" in result.stderr


def test_the_page_shows_both_values_and_the_signed_difference(folder):
    result = govern("run", folder / "checks.yaml")
    assert result.exit_code == 1
    assert ["total", "A", "110", "100", "10", "0.002", "d.jsonl:1"] in [
        line.split() for line in result.stdout.splitlines()
    ]
    assert ["total", "components_missing", "1"] in [line.split() for line in result.stdout.splitlines()]
    assert "3 declared numbers: 1 match, 1 mismatch, 1 cannot be verified" in result.stdout
    assert result.stderr == ""


def test_the_page_is_cut_and_says_how_much_is_left(folder, monkeypatch):
    monkeypatch.setattr(page, "MAX_ROWS", 2)
    rows = "".join(f'{{"id":"{i}","total":1}}\n' for i in range(5))
    (folder / "d.jsonl").write_text(rows)
    (folder / "p.jsonl").write_text(rows.replace("total", "x").replace(":1}", ":9}"))
    result = govern("run", folder / "checks.yaml")
    assert "and 3 more" in result.stdout
    assert result.stdout.count("d.jsonl:") == 2


def test_hostile_text_reaches_the_terminal_escaped(folder):
    subject = json.dumps("[bold red]\x1b[31m\u202e[/x]")
    (folder / "d.jsonl").write_text(f'{{"id":{subject},"total":2}}\n')
    (folder / "p.jsonl").write_text(f'{{"id":{subject},"x":1}}\n')
    result = govern("run", folder / "checks.yaml")
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert "[bold red]\\x1b[31m\\u202e[/x]" in result.stdout


def test_out_writes_the_report_that_json_prints_and_says_where(folder):
    result = govern("run", folder / "checks.yaml", "--out", folder / "out", "--json")
    written = folder / "out" / "report.json"
    assert written.read_text("utf-8") == result.stdout
    assert result.stderr == f"written: {written}\n"
    assert json.loads(result.stdout)["schema"] == "govern/cross-check-report/v1"


def test_out_that_cannot_be_written_is_a_usage_error(folder):
    (folder / "out").write_text("x")
    assert govern("run", folder / "checks.yaml", "--out", folder / "out").exit_code == 2


def test_policy_prints_what_is_in_force(folder):
    shipped, tightened = govern("policy"), govern("policy", folder / "checks.yaml")
    assert ["currency", "0.01", "0.005"] in [line.split() for line in shipped.stdout.splitlines()]
    assert ["currency", "0.002", "0.002"] in [line.split() for line in tightened.stdout.splitlines()]
    document = json.loads(govern("policy", folder / "checks.yaml", "--json").stdout, parse_float=str)
    assert document["schema"] == "govern/crosscheck-policies/v1"
    epsilon = document["policies"][0]
    assert (epsilon["schema"], epsilon["is_tightened"]) == ("govern/epsilon-policy/v1", True)
    assert epsilon["document"]["max"]["currency"] == "0.002"
    assert (shipped.exit_code, tightened.exit_code) == (0, 0)


def test_progress_is_for_large_sources_on_a_terminal_only(folder, monkeypatch):
    monkeypatch.setattr("governance_pipeline.cli.check_files.PROGRESS_BYTES", 1)
    assert "reading" not in govern("run", folder / "checks.yaml").output


def test_no_text_of_a_source_steers_the_terminal_as_json(folder):
    (folder / "d.jsonl").write_text('{"id":"\u009b2J\u202e","total":1}\n', "utf-8")
    shown = govern("run", folder / "checks.yaml", "--json").stdout
    assert shown.isascii()
    assert "\x9b2J\u202e" in {record["subject_id"] for record in json.loads(shown)["records"]}


def test_each_policy_in_force_has_its_shipped_schema(folder):
    schemas = Path(page.__file__).parent / "schemas"
    whole = json.loads((schemas / "crosscheck-policies-v1.json").read_text())
    jsonschema.Draft202012Validator.check_schema(whole)
    for arguments in (("policy", "--json"), ("policy", folder / "checks.yaml", "--json")):
        printed = json.loads(govern(*arguments).stdout)
        jsonschema.validate(printed, whole)
        for entry in printed["policies"]:
            name = entry["schema"].removeprefix("govern/").replace("/", "-")
            jsonschema.validate(entry["document"], json.loads((schemas / f"{name}.json").read_text()))
    schema = json.loads((schemas / "epsilon-policy-v1.json").read_text())
    loosened = {"schema": schema["$id"], "max": {"integer": 1}}
    errors = jsonschema.Draft202012Validator(schema).iter_errors(loosened)
    assert {error.validator for error in errors} == {"required", "const"}


def test_policy_prints_every_policy_and_the_rubric_and_checklist_of_the_eight_claims():
    shown = govern("policy").stdout
    for name in ("mismatch-policy", "escalation-policy", "structural-test-policy", "cross-check-rubric"):
        assert f"govern/{name}/v1  (shipped, sha256 " in shown
    assert len([line for line in shown.splitlines() if line.startswith("      question: ")]) == 8


def test_a_copy_that_loosens_is_a_usage_error_that_says_in_what(tmp_path):
    tmp_path.chmod(0o700)
    (tmp_path / "escalation_policy.yaml").write_text("schema: govern/escalation-policy/v1\nmaker_may_resolve: true\n")
    (tmp_path / "escalation_policy.yaml").chmod(0o600)
    result = govern("policy", "--config", tmp_path / "gate.toml", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    said = " ".join(result.stderr.split())
    assert "does not tighten the shipped one: " in said
    assert "maker_may_resolve is unknown" in said


@pytest.mark.parametrize("command", ["run", "policy"])
def test_help_has_an_example(command):
    assert f"Example: govern crosscheck {command}" in govern(command, "--help").output
    assert "Example: govern crosscheck " in govern("--help").output
