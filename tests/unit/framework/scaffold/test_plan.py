"""The shipped words say in both languages what the seed asks for, and the README opens with what is not enforced."""

from __future__ import annotations

import json
import re

import pytest

from governance_pipeline.framework import documents, folder
from governance_pipeline.framework.coverage import covered_rules
from governance_pipeline.framework.critical_actions import critical_list
from governance_pipeline.framework.scaffold.content_rules import form_faults, template_faults
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.signatures import Variant


def _text(plan, path: str) -> str:
    return plan.file(path).data.decode("utf-8")


def _rules(plan, path: str) -> dict[int, str]:
    """Number -> text of each numbered item of a file."""
    cut = re.split(r"^(\d+)\. ", _text(plan, path).partition("\n## ")[0], flags=re.MULTILINE)
    return {int(number): text for number, text in zip(cut[1::2], cut[2::2], strict=True)}


def test_the_eleven_rules_mean_the_same_files_in_both_languages():
    english, spanish = (_rules(plan_of(language), folder.POLICIES) for language in ("en", "es"))
    assert list(english) == list(spanish) == list(range(1, 12))
    for number, text in english.items():
        assert re.findall(r"`[^`]+`", text) == re.findall(r"`[^`]+`", spanish[number]), number


def test_the_seven_steps_name_the_same_commands_in_both_languages():
    english, spanish = (_rules(plan_of(language), folder.REBASELINE_PROTOCOL) for language in ("en", "es"))
    verbs = ["declare", "freeze", "rederive", "revalidate", "reissue", "record", "resume"]
    for steps in (english, spanish):
        assert [re.search(r"govern rebaseline (\w+)", steps[n])[1] for n in range(1, 8)] == verbs


def test_state_and_registry_start_as_the_seed_says(plan):
    assert json.loads(_text(plan, folder.REGISTRY)) == {"assets": []}
    assert json.loads(_text(plan, folder.STATE)) == {
        "project_status": "initialized", "current_phase": "setup", "active_agent": "none", "last_checkpoint": None,
        "pending_hitl_approval": None, "error_count": 0, "baseline_version": "1.0.0", "last_re_baseline_at": None,
    }  # fmt: skip


def test_each_agent_may_do_alone_what_the_seed_lists_and_the_rest_waits(plan):
    registry = documents.parsed_document("p", plan.file(folder.PROMPT_REGISTRY).data, documents.PROMPT_REGISTRY)
    assert registry["version"] == "1.0.0"
    agents = registry["agents"]
    assert {name: agent["allowed_tools"] for name, agent in agents.items()} == {
        "orchestrator": ["planner", "delegator"],
        "worker": ["file_writer", "code_generator"],
        "validator": ["linter", "policy_checker", "hash_verifier", "primary_key_diff"],
    }
    for agent in agents.values():
        assert agent["needs_checkpoint"]
        assert not set(agent["needs_checkpoint"]) & set(agent["allowed_tools"])
        assert set(agent["needs_checkpoint"]) <= {entry.name for entry in critical_list()}
        assert "needs_checkpoint" in agent["system_prompt"]


def test_the_validator_is_told_to_refute_and_never_to_certify_its_own_task():
    english, spanish = (
        json.loads(_text(plan_of(language), folder.PROMPT_REGISTRY))["agents"]["validator"]["system_prompt"]
        for language in ("en", "es")
    )
    for words in ("try to refute", "not to confirm", "never certify a task"):
        assert words in english
    for words in ("intentar refutar", "no confirmarlo", "Nunca certificas una tarea"):
        assert words in spanish


def test_every_file_keeps_its_own_rules_and_ends_with_a_line_feed(plan):
    for file in plan.files:
        assert [*form_faults(file.path, file.data), *template_faults(file.path, file.data)] == []
        assert file.data == file.data.rstrip() + b"\n"
        assert not set(file.data) & set(b"\r\0\t")


def test_the_readme_opens_with_every_rule_and_its_state_before_anything_else(plan):
    opening = _text(plan, "README.md").partition("\n## ")[0]
    assert opening.splitlines()[2].startswith("**")
    for rule in covered_rules(plan.language):
        assert f"- {rule.label}: {rule.title}" in opening
    assert "`00_governance/re_baseline_protocol.md`" in opening.splitlines()[-1] + opening.splitlines()[-2]


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_skeleton_says_in_its_readme_that_its_rules_are_convention(language):
    opening = _text(plan_of(language, Variant.SKELETON), "README.md").partition("\n## ")[0]
    library = _text(plan_of(language), "README.md").partition("\n## ")[0]
    assert {"en": "is a skeleton", "es": "es aquí un esqueleto"}[language] in opening
    assert {"en": "is a skeleton", "es": "es aquí un esqueleto"}[language] not in library
