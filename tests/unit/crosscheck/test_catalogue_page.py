"""The list and the page hold every built-in check, and what rests on an assumption says so."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import governance_pipeline.crosscheck
from governance_pipeline.cli.crosscheck import crosscheck
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.crosscheck.catalogue_page import UNSURE, list_document, markdown

ROOT = Path(__file__).parents[3]
SCHEMA = Path(governance_pipeline.crosscheck.__file__).parent / "schemas" / "crosscheck-list-v1.json"


def govern(*arguments):
    return CliRunner().invoke(crosscheck, ["list", *arguments])


def test_a_format_without_checks_is_refused_with_those_that_have_some():
    result = govern("--of", "nothing")
    assert result.exit_code == 2
    assert "codex_rollout" in result.stderr


def test_the_document_holds_every_check_once():
    document = json.loads(govern("--json").stdout)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    built_in = [entry.check.id for entry in catalogue().entries]
    changes = ["changes_f", "changes_l", "changes_m", "changes_p", "changes_h"]
    assert [check["check_id"] for check in document["checks"]] == [*built_in, *changes]
    assert len(document["not_checkable"]) == len(catalogue().not_checkable)


def test_one_format_gives_its_own_checks_only():
    formats = {check["format"] for check in json.loads(govern("--of", "swe_agent", "--json").stdout)["checks"]}
    assert formats == {"swe_agent"}


def test_numbers_of_change_events_are_checks_of_the_native_format():
    checks = json.loads(govern("--of", "native", "--json").stdout)["checks"]
    assert {check["field"] for check in checks} >= {"F", "L", "M", "P", "H"}


@pytest.mark.parametrize("check", list_document()["checks"], ids=lambda check: check["check_id"])
def test_every_check_is_a_line_of_the_page_with_its_evidence(check):
    [line] = [
        line for line in markdown().partition(f"## {check['format']}\n")[2].partition("\n## ")[0].splitlines()
        if line.startswith(f"| `{check['check_id']}` | `{check['field']}` | `{check['formula']}` |")
    ]  # fmt: skip
    assert f"**{check['evidence']}**" in line if check["evidence"] in UNSURE else f"| {check['evidence']} |" in line


def test_the_committed_page_is_the_catalogue():
    page = (ROOT / "docs" / "checks.md").read_text("utf-8")
    assert page == markdown(), "run: govern crosscheck list --markdown > docs/checks.md"


def test_the_terminal_page_names_checks_and_excuses():
    result = govern()
    assert result.exit_code == 0
    assert "codex_rollout" in result.stdout
    assert "why there is no check" in result.stdout
