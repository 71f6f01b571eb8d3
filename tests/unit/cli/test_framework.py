"""`govern framework`: the coverage of a folder or of the installation, and the scripts as bytes."""

from __future__ import annotations

import hashlib
import json

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.framework import coverage
from governance_pipeline.framework.documents import schema_document
from governance_pipeline.framework.scaffold.batch_script import batch_script
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.shell_script import shell_script
from governance_pipeline.framework.scaffold.signatures import Variant


def _document(capsysbinary, schema, *arguments):
    code = run([*map(str, arguments), "--json"])
    answer = json.loads(capsysbinary.readouterr().out)
    jsonschema.Draft202012Validator(schema_document(schema)).validate(answer)
    return code, answer


def test_a_promised_check_that_is_not_there_is_exit_1(capsysbinary, monkeypatch):
    words = {"en": "a rule", "es": "una regla"}
    check = {"check": "governance_pipeline.nowhere:f", "called_at": words, "test": "tests/x.py::test_x"}
    monkeypatch.setattr(
        coverage, "_entries", lambda: ({"rule": "policy-1", "label": words, **words, "enforced_by": [check]},)
    )
    code, answer = _document(capsysbinary, "framework-coverage-v1", "framework", "coverage")
    assert (code, answer["rules"][0]["missing"]) == (1, ["governance_pipeline.nowhere:f"])
    assert run(["framework", "coverage"]) == 1
    assert b"not in this installation: governance_pipeline.nowhere:f" in capsysbinary.readouterr().out


def test_coverage_lists_every_rule_with_check_and_test(capsysbinary):
    code, answer = _document(capsysbinary, "framework-coverage-v1", "framework", "coverage", "--lang", "es")
    assert (code, answer["language"], answer["safety_checks"]) == (0, "es", None)
    assert run(["framework", "coverage"]) == 0
    out = capsysbinary.readouterr().out.decode()
    for rule in answer["rules"]:
        assert f"{rule['rule_id']:<13} " in out
        assert all(f"check    {check['name']}\n" in out for check in rule["checks"])


def test_coverage_of_a_folder_says_which_safety_checks_it_has(capsysbinary, tmp_path, monkeypatch):
    run(["init", str(tmp_path), "--skeleton"])
    capsysbinary.readouterr()
    monkeypatch.setenv("GOVERN_PROJECT", str(tmp_path))
    code, answer = _document(capsysbinary, "framework-coverage-v1", "framework", "coverage")
    assert (code, answer["safety_checks"]) == (0, "skeleton")


def test_coverage_of_a_folder_that_is_none_is_exit_2(capsysbinary, tmp_path):
    assert run(["framework", "coverage", "--project", str(tmp_path)]) == 2
    assert b"is no governed project" in capsysbinary.readouterr().err


@pytest.mark.parametrize(("kind", "write"), [("sh", shell_script), ("bat", batch_script)])
def test_a_script_is_printed_byte_for_byte(kind, write, capsysbinary):
    assert run(["framework", "script", kind, "--lang", "es", "--skeleton"]) == 0
    data = capsysbinary.readouterr().out
    assert data == write(plan_of("es", Variant.SKELETON))
    arguments = ("framework", "script", kind, "--lang", "es", "--skeleton")
    code, answer = _document(capsysbinary, "framework-script-v1", *arguments)
    assert (code, answer["name"]) == (0, f"setup_agent_project.{kind}")
    assert answer["text"].encode() == data
    assert answer["sha256"] == hashlib.sha256(data).hexdigest()


def test_a_script_of_a_template_that_cannot_be_used_is_exit_2(capsysbinary, tmp_path):
    assert run(["framework", "script", "sh", "--template", str(tmp_path)]) == 2
    assert b"holds no file of a governed project" in capsysbinary.readouterr().err
