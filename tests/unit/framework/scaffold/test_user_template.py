"""A user's own words are deployed; words that could not be meant are refused as a whole, with every fault named."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.errors import FaultyFileError, UsageError
from governance_pipeline.framework import folder
from governance_pipeline.framework.scaffold.honest_limit import PLACEHOLDER, honest_limit
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.template_files import template_bytes

POLICIES = "# Ours\n\n" + "".join(f"{n}. Our rule {n}.\n" for n in range(1, 13))
README = f"# Ours\n\n{PLACEHOLDER}\n\nOur text.\n"
REGISTRY_WITH_DATA = json.dumps({"assets": [{
    "name": "x", "canonical_path": "x", "last_verified_hash": "a" * 64, "last_verified_at": "2026-01-01T00:00:00Z",
    "superseded_versions": [],
}]})  # fmt: skip
ALLOWLIST = template_bytes("en", "agent_allowlist.md").decode()


def _faults(root) -> str:
    with pytest.raises(FaultyFileError) as caught:
        plan_of("en", template=root)
    return "\n".join(f"{fault.code}: {fault.message}" for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("00_governance/polices.md", POLICIES, "not_in_tree: 00_governance/polices.md"),
        ("notes/idea.md", "x", "not_in_tree: notes/idea.md"),
        ("run_orchestrator.py", "x", "program: run_orchestrator.py"),
        (folder.SAFETY_CHECKS, "x", "program: 00_governance/safety_checks.py"),
        (folder.POLICIES, "", "it is empty"),
        (folder.POLICIES, b"\xff", "byte 0 is not UTF-8"),
        (folder.POLICIES, f"{POLICIES}\0", "NUL"),
        (folder.POLICIES, POLICIES.replace("7. ", "8. "), "rules are not numbered 1 to 11"),
        (folder.POLICIES, "No rules at all.", "found none"),
        (folder.REBASELINE_PROTOCOL, "1. Only one.\n", "steps are not numbered 1 to 7"),
        (folder.REGISTRY, REGISTRY_WITH_DATA, "$.assets is 1 entries"),
        (folder.REGISTRY, "{}", "assets"),
        (folder.STATE, template_bytes(None, "current_state.json").replace(b"null", b'"me"', 1), "$.last_checkpoint"),
        (folder.PROMPT_REGISTRY, '{"version": "1.0.0", "agents": {}}', "agents"),
        (folder.PROMPT_REGISTRY, "{", "malformed_json"),
        (folder.ALLOWLIST, f"{ALLOWLIST}| worker | file_write | `*` | 2026-01-01 | 2026-01-02 | night |\n", "1 rows"),
        (folder.ALLOWLIST, "# no table\n", "there is no table"),
        (folder.INCIDENT_LOG, "# no table\n", "incident"),
        ("README.md", "# Ours\n", "needs the line"),
        ("README.md", f"# Ours\n\nfirst our text\n\n{PLACEHOLDER}\n", "must open it"),
        ("README.md", f"{PLACEHOLDER}\n{PLACEHOLDER}\n", "once"),
        ("README.md", f"see {PLACEHOLDER}\n", "needs the line"),
        (folder.REQUIREMENTS, f"{PLACEHOLDER}\n", "README.md only"),
    ],
)
def test_words_that_could_not_be_meant_are_refused_with_what_is_wrong(wording, path, text, said):
    assert said in _faults(wording(**{path: text}))


def test_every_fault_of_a_template_is_named_at_once(wording):
    said = _faults(wording(**{"a.md": "x", "b.md": "x", folder.POLICIES: "1. one\n"}))
    assert said.count("not_in_tree") == 2
    assert "rules" in said


def test_links_in_a_template_are_not_followed(wording, tmp_path):
    root = wording(**{folder.POLICIES: POLICIES})
    (tmp_path / "secret").write_text("secret")
    (root / "README.md").symlink_to(tmp_path / "secret")
    (root / "01_architecture").symlink_to(tmp_path)
    said = _faults(root)
    assert "symlink" in said
    assert "not_in_tree: 01_architecture" in said


def test_a_template_folder_that_is_not_there_or_empty_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="there is no template folder"):
        plan_of("en", template=tmp_path / "none")
    with pytest.raises(UsageError, match="holds no file of a governed project"):
        plan_of("en", template=tmp_path)


def test_own_words_are_deployed_and_what_is_missing_is_the_shipped_one(wording):
    own = {folder.POLICIES: POLICIES, "README.md": README, folder.STATE: template_bytes(None, "current_state.json")}
    root = wording(**own)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("x")
    plan, shipped = plan_of("es", template=root), plan_of("es")
    assert [file.path for file in plan.files if file.is_own_wording] == [p for p in _order(plan) if p in own]
    assert plan.file(folder.POLICIES).data.decode() == POLICIES
    limit = honest_limit("es", is_skeleton=False)
    assert plan.file("README.md").data.decode() == f"# Ours\n\n{limit}\n\nOur text.\n"
    assert plan.file(folder.ALLOWLIST) == shipped.file(folder.ALLOWLIST)


def _order(plan) -> list[str]:
    return [file.path for file in plan.files]
