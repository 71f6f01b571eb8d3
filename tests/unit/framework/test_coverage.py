"""Every rule names code that is there and a test that runs, or says that it is convention; a promise is never a check."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.contracts.audit_coverage import AuditCoverage
from governance_pipeline.contracts.rules import structure_breaches, value_breaches
from governance_pipeline.framework import coverage
from governance_pipeline.framework.coverage import State, coverage_document, covered_rules, rows
from governance_pipeline.framework.documents import schema_document
from governance_pipeline.framework.folder import SAFETY_CHECKS, GovernedFolder
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.signatures import Variant

ROOT = Path(__file__).parents[3]
NAMED = sorted({check.test for rule in covered_rules() for check in rule.checks})


def _entries(monkeypatch, *entries):
    monkeypatch.setattr(coverage, "_entries", lambda: entries)


def _entry(**more):
    words = {"en": "a rule", "es": "una regla"}
    return {"rule": "policy-1", "label": words, **words, **more}


def _check(name: str, **more):
    return {"check": name, "called_at": {"en": "now", "es": "ya"}, "test": "tests/unit/test_x.py::test_x", **more}


@pytest.mark.parametrize(
    "name",
    [
        "governance_pipeline.nowhere:check",
        "governance_pipeline.errors:nothing",
        "governance_pipeline.framework.folder:STATE",
    ],
)
def test_a_check_that_is_not_there_enforces_nothing_and_is_named_as_missing(name, monkeypatch):
    _entries(monkeypatch, _entry(enforced_by=[_check(name)]))
    (rule,) = covered_rules()
    assert (rule.state, rule.checks, rule.missing) == (State.CONVENTION_ONLY, (), (name,))
    assert name in rule.convention


def test_a_check_that_needs_the_folders_safety_checks_holds_only_where_they_call_the_library(monkeypatch):
    always, through = _check("governance_pipeline.errors:Fault"), _check("governance_pipeline.errors:UsageError")
    through["needs_safety_checks"] = True
    _entries(monkeypatch, _entry(enforced_by=[through]), _entry(rule="policy-2", enforced_by=[always, through]))
    assert [rule.state for rule in covered_rules()] == [State.ENFORCED, State.ENFORCED]
    without = covered_rules("es", has_safety_checks=False)
    assert [rule.state for rule in without] == [State.CONVENTION_ONLY, State.PARTLY]
    assert all("no llama aquí" in rule.convention for rule in without)


def test_what_is_left_to_convention_makes_a_rule_enforced_in_part_only(monkeypatch):
    left = {"en": "the rest", "es": "el resto"}
    check = _check("governance_pipeline.errors:Fault")
    _entries(monkeypatch, _entry(enforced_by=[check], convention=left), _entry(convention=left))
    assert [(rule.state, rule.convention) for rule in covered_rules("es")] == [
        (State.PARTLY, "el resto"),
        (State.CONVENTION_ONLY, "el resto"),
    ]


def test_the_eleven_rules_are_listed_once_each_and_none_says_nothing():
    listed = [rule.rule_id for rule in covered_rules()]
    assert [name for name in listed if name.startswith("policy-")] == [f"policy-{n}" for n in range(1, 12)]
    assert len(set(listed)) == len(listed)
    assert all(rule.checks or rule.convention for rule in covered_rules())
    assert all(re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name) for name in listed)


def test_every_promised_check_is_there():
    assert [rule.missing for rule in covered_rules() if rule.missing] == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_both_languages_say_something_of_every_rule_and_check(language):
    other = covered_rules({"en": "es", "es": "en"}[language])
    for rule, translated in zip(covered_rules(language), other, strict=True):
        assert rule.title != translated.title
        assert (rule.convention is None) == (translated.convention is None)
        assert all(a.called_at != b.called_at for a, b in zip(rule.checks, translated.checks, strict=True))


def test_every_named_test_is_a_function_of_a_test_file():
    """Read from the text, in no time; the long test below asks pytest itself."""
    for name in NAMED:
        path, function = name.split("::")
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
        assert len(found) == 1, name
        assert not [d for d in found[0].decorator_list if re.search(r"long|skip|xfail", ast.unparse(d))], name


@pytest.mark.long
def test_every_named_test_is_collected_and_not_marked_long():
    """Asked of pytest itself: a misspelled or deleted test makes it fail."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:randomly", "-n", "0", "-m", "not long"]
    done = subprocess.run([*command, *NAMED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    collected = {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}
    assert collected == set(NAMED)


def test_the_table_keeps_its_contract_and_follows_the_folder(tmp_path):
    lay_out(tmp_path, plan_of("en", Variant.SKELETON))
    frame = rows(GovernedFolder(tmp_path))
    assert structure_breaches(AuditCoverage, frame) + value_breaches(AuditCoverage, frame) == []
    assert list(dict.fromkeys(frame["rule_id"])) == [rule.rule_id for rule in covered_rules()]
    assert frame.loc[frame["check_name"].isna(), "state"].eq("convention_only").all()
    skeleton = {rule.rule_id: str(rule.state) for rule in covered_rules(has_safety_checks=False)}
    assert dict(zip(frame["rule_id"], frame["state"], strict=True)) == skeleton
    (tmp_path / SAFETY_CHECKS).write_bytes(plan_of("en").file(SAFETY_CHECKS).data)
    library = {rule.rule_id: str(rule.state) for rule in covered_rules()}
    frame = rows(GovernedFolder(tmp_path))
    assert dict(zip(frame["rule_id"], frame["state"], strict=True)) == library


@pytest.mark.parametrize("variant", [None, *Variant])
def test_the_document_keeps_its_schema(variant):
    document = json.loads(json.dumps(coverage_document("es", variant)))
    jsonschema.Draft202012Validator(schema_document("framework-coverage-v1")).validate(document)
    assert sum(document["counts"].values()) == len(document["rules"])
