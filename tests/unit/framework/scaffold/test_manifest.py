"""The tree as data is the tree that was promised, in an order in which it can be made."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

from governance_pipeline.framework import folder as places
from governance_pipeline.framework.scaffold.manifest import manifest
from governance_pipeline.framework.scaffold.signatures import TEMPLATES
from governance_pipeline.framework.scaffold.template_files import LANGUAGES

PROMISED = [
    "00_governance/policies.md", "00_governance/safety_checks.py", "00_governance/agent_allowlist.md",
    "00_governance/re_baseline_protocol.md", "00_governance/audit_logs/incident_log.md",
    "01_architecture/system_design.md", "01_architecture/data_flow.md", "02_specs/requirements.md",
    "02_specs/prompt_registry.json", "03_state/current_state.json", "03_state/canonical_registry.json",
    "03_state/history/", "03_state/checkpoints/", "03_state/locks/", "04_agents/orchestrator/",
    "04_agents/workers/", "04_agents/validators/", "05_skills/core_tools/", "05_skills/custom_actions/",
    "06_design/outputs/", ".env.example", "README.md", "run_orchestrator.py",
]  # fmt: skip


def test_the_tree_holds_what_was_promised_and_nothing_else():
    entries = manifest()
    promised_files = {path for path in PROMISED if not path.endswith("/")}
    promised_folders = {path.rstrip("/") for path in PROMISED if path.endswith("/")}
    for path in promised_files | promised_folders:
        promised_folders |= {path.rsplit("/", n)[0] for n in range(1, path.count("/") + 1)}
    assert {file.path for file in entries.files} == promised_files
    assert {folder.path for folder in entries.folders} == promised_folders


def test_every_path_the_rest_of_the_package_uses_is_in_the_tree():
    entries = manifest()
    made = {file.path for file in entries.files} | {folder.path for folder in entries.folders}
    used = {value for name, value in vars(places).items() if name.isupper() and isinstance(value, str)}
    assert used - made == {places.AUDIT_TRAIL}  # the first entry makes it


def test_a_folder_comes_after_the_folder_it_is_in():
    seen = {""}
    for folder in manifest().folders:
        assert folder.path.rpartition("/")[0] in seen
        seen.add(folder.path)
    assert len(seen) == len(manifest().folders) + 1


def test_every_template_is_there_and_none_lies_about_unused():
    root = resources.files("governance_pipeline.framework") / "templates"
    entries = manifest().files
    shared = {entry.template for entry in entries if entry.is_shared} | set(TEMPLATES.values())
    assert {file.name for file in (root / "shared").iterdir()} == shared
    for language in LANGUAGES:
        assert {f.name for f in (root / language).iterdir()} == {e.template for e in entries if not e.is_shared}


def test_everything_that_is_laid_out_is_in_the_wheel():
    root = Path(__file__).parents[4]
    package = root / "governance_pipeline"
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["governance_pipeline"]
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    needed = [p for p in (package / "framework").rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")]
    assert len(needed) > len(manifest().files)
    assert [path for path in needed if path not in packed] == []
