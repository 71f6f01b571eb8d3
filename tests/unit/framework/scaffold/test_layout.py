"""Every planted difference is found, named with its path and kind, and nothing else is; nothing in the folder is run."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.framework.folder import (
    ALLOWLIST,
    INCIDENT_LOG,
    POLICIES,
    PROMPT_REGISTRY,
    REBASELINE_PROTOCOL,
    REGISTRY,
    SAFETY_CHECKS,
    STATE,
)
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.layout import Deviation, matching_plan, verify_layout
from governance_pipeline.framework.scaffold.line_diff import line_diffs
from governance_pipeline.framework.scaffold.manifest import manifest
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.signatures import SIX, Variant

FILES = [file.path for file in manifest().files]
FOLDERS = [folder.path for folder in manifest().folders]
LEAVES = [path for path in FOLDERS if not any(other.startswith(f"{path}/") for other in FILES + FOLDERS)]


def _some_fast(values, every=5):
    """Give each value as a parameter; all but every fifth are long tests."""
    return [pytest.param(v, marks=() if n % every == 0 else pytest.mark.long) for n, v in enumerate(values)]


@pytest.fixture
def project(tmp_path):
    """Give a project as it was laid out in English."""
    root = tmp_path / "project"
    lay_out(root, plan_of("en"))
    return root


def _found(root, **asked) -> set[tuple[str, str]]:
    """Give path and kind of every difference, held to the plan the folder follows."""
    return {(d.path, str(d.deviation)) for d in verify_layout(root, matching_plan(root), **asked).differences}


def _remove(path):
    path.unlink()


def _flip(path):
    data = path.read_bytes()
    path.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])


def _append_blank(path):
    path.write_bytes(path.read_bytes() + b" ")


def _line_ends(path):
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _link(path):
    copy = path.with_name(f"{path.name}.copy")
    path.rename(copy)
    path.symlink_to(copy)


def _folder(path):
    path.unlink()
    path.mkdir()


def _pipe(path):
    path.unlink()
    os.mkfifo(path)


PLANTS = {
    _remove: "missing", _flip: "changed", _append_blank: "changed", _line_ends: "changed", _link: "wrong_kind",
    _folder: "wrong_kind", _pipe: "wrong_kind",
}  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("path", _some_fast(FILES))
def test_every_kind_of_difference_is_found_in_every_file(path, plant, project):
    plant(project / path)
    wanted = {(path, PLANTS[plant])} | ({(f"{path}.copy", "extra")} if plant is _link else set())
    found = _found(project)
    assert wanted <= found
    assert {p for p, _ in found} == {p for p, _ in wanted}


@pytest.mark.parametrize("path", _some_fast(LEAVES))
def test_every_missing_folder_and_one_that_is_a_file_is_found(path, project):
    for file in (project / path).iterdir():
        file.unlink()
    (project / path).rmdir()
    inside = {(file, "missing") for file in FILES if file.startswith(f"{path}/")}
    assert _found(project) == {(path, "missing")} | inside
    (project / path).write_text("x")
    assert _found(project) == {(path, "wrong_kind")} | inside


@pytest.mark.parametrize("folder", _some_fast(["", *FOLDERS]))
def test_an_extra_file_folder_or_link_is_found_in_every_folder(folder, project):
    place = project / folder
    (place / ".hidden").write_text("x")
    (place / "more").mkdir()
    (place / "more" / "inside").write_text("x")
    (place / "out").symlink_to("/")
    prefix = f"{folder}/" if folder else ""
    assert _found(project) == {(f"{prefix}{name}", "extra") for name in (".hidden", "more", "out")}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.dictionaries(st.sampled_from(FILES), st.binary(max_size=60), min_size=1, max_size=5))
def test_whatever_is_written_into_any_files_exactly_those_files_are_named(edits, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    plan = plan_of("en")
    lay_out(root, plan)
    for path, data in edits.items():
        (root / path).write_bytes(data)
    changed = [d for d in verify_layout(root, plan).differences if d.deviation is Deviation.CHANGED]
    assert {d.path for d in changed} == set(edits)
    assert all(d.expected_sha256 == plan.file(d.path).sha256 != d.found_sha256 for d in changed)


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("variant", [Variant.LIBRARY, Variant.SKELETON])
def test_what_was_laid_out_has_no_difference_and_says_which_safety_checks_it_has(language, variant, tmp_path):
    lay_out(tmp_path, plan_of(language, variant))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("x")
    plan = matching_plan(tmp_path)
    found = verify_layout(tmp_path, plan)
    assert (plan.language, found.variant, found.differences) == (language, variant, ())
    other = Variant.LIBRARY if variant is Variant.SKELETON else Variant.SKELETON
    assert _found(tmp_path, variant=other) == {(SAFETY_CHECKS, "variant")}


def test_a_file_in_the_other_language_is_a_difference(project):
    (project / POLICIES).write_bytes(plan_of("es").file(POLICIES).data)
    assert _found(project) == {(POLICIES, "changed")}
    held_to_spanish = verify_layout(project, matching_plan(project, "es")).differences
    shared = {file.path for file in manifest().files if file.is_shared}
    assert {d.path for d in held_to_spanish} == set(FILES) - shared - {POLICIES}


def test_a_registry_and_an_allowlist_with_data_are_no_templates(project):
    registry = {"assets": [{
        "name": "x", "canonical_path": "x", "last_verified_hash": "a" * 64, "last_verified_at": "2026-01-01T00:00:00Z",
        "superseded_versions": [],
    }]}  # fmt: skip
    (project / REGISTRY).write_text(json.dumps(registry))
    text = (project / ALLOWLIST).read_text()
    row = "|---|---|---|---|\n| worker | file_write | `*` | always |\n"
    (project / ALLOWLIST).write_text(text.replace("|---|---|---|---|\n", row, 1))
    assert _found(project) == {(path, kind) for path in (REGISTRY, ALLOWLIST) for kind in ("changed", "not_a_template")}
    assert _found(project, is_in_use=True) == set()


@pytest.mark.parametrize("name", SIX)
def test_a_safety_check_that_is_gone_or_has_other_parameters_is_named(name, project):
    path = project / SAFETY_CHECKS
    text = path.read_text()
    path.write_text(text.replace(f"def {name}(", f"def not_{name}("))
    layout = verify_layout(project, matching_plan(project))
    assert layout.variant is Variant.NEITHER
    assert [d.detail for d in layout.differences if d.deviation is Deviation.SIGNATURE] == [
        f"it defines no {name}({', '.join(SIX[name])})"
    ]
    path.write_text(text.replace(f"def {name}({SIX[name][0]}", f"def {name}(wrong"))
    (fault,) = [d.detail for d in verify_layout(project, matching_plan(project)).differences if "wrong" in d.detail]
    assert fault.startswith(f"{name}(wrong")


def test_safety_checks_are_read_and_never_run(project, tmp_path):
    mark = tmp_path / "ran"
    (project / SAFETY_CHECKS).write_text(f"open({str(mark)!r}, 'w')\n")
    (project / "run_orchestrator.py").write_text(f"open({str(mark)!r}, 'w')\n")
    assert len(_found(project)) == 3
    (project / SAFETY_CHECKS).write_text("def broken(:\n")
    assert (SAFETY_CHECKS, "signature") in _found(project)
    assert not mark.exists()


def test_a_protocol_without_its_steps_and_a_state_without_its_form_are_malformed(project):
    (project / REBASELINE_PROTOCOL).write_text("# Protocol\n")
    (project / STATE).write_text("{")
    (project / PROMPT_REGISTRY).write_text('{"version": "1.0.0", "agents": {}}')
    found = _found(project, is_in_use=True)
    assert {p for p, kind in found if kind == "malformed"} == {REBASELINE_PROTOCOL, STATE, PROMPT_REGISTRY}
    assert (REBASELINE_PROTOCOL, "changed") in found


def test_a_project_at_work_may_add_and_fill_in_but_not_touch_its_rules(project):
    (project / "04_agents/workers/own.py").write_text("x")
    (project / "src").mkdir()
    (project / "src/a.py").write_text("x")
    state = json.loads((project / STATE).read_text())
    (project / STATE).write_text(json.dumps({**state, "error_count": 3}))
    with (project / INCIDENT_LOG).open("a") as stream:
        stream.write("| 2026-11-30 | lost | x | y |\n")
    layout = verify_layout(project, matching_plan(project), is_in_use=True)
    assert (layout.differences, layout.changed_in_use) == ((), (INCIDENT_LOG, STATE))
    (project / "00_governance/more.md").write_text("x")
    (project / "03_state/canonical_registry.json.bak").write_text("x")
    (project / "04_agents/workers/out.py").symlink_to("/")
    with (project / POLICIES).open("a") as stream:
        stream.write("12. Anything goes.\n")
    assert _found(project, is_in_use=True) == {
        (POLICIES, "changed"), ("00_governance/more.md", "extra"), ("03_state/canonical_registry.json.bak", "extra"),
        ("04_agents/workers/out.py", "extra"),
    }  # fmt: skip


def test_own_wording_is_what_a_project_is_held_to(wording, tmp_path):
    text = "# Ours\n" + "".join(f"{n}. r\n" for n in range(1, 12))
    template = wording(**{POLICIES: text})
    root = tmp_path / "ours"
    lay_out(root, plan_of("es", template=template))
    assert verify_layout(root, matching_plan(root, template=template)).differences == ()
    assert _found(root) == {(POLICIES, "changed")}


def test_changed_lines_are_shown_with_their_line_ends(project):
    _line_ends(project / STATE)
    (project / POLICIES).write_bytes(b"\xff\n")
    lines = list(line_diffs(project, matching_plan(project)))
    assert f"--- template/{STATE}" in lines
    assert '+  "error_count": 0,\r' in lines
    assert "+\\xff" in lines
    assert f"--- template/{REGISTRY}" not in lines


def test_no_folder_is_a_usage_error_and_one_that_cannot_be_listed_is_unknown(project, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="there is no folder"):
        verify_layout(tmp_path / "none", plan_of("en"))
    real = os.scandir

    def refusing(path):
        if str(path).endswith("03_state"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(UnreadableError, match="03_state cannot be listed"):
        verify_layout(project, plan_of("en"))
