"""setup_agent_project.sh, run: the same tree as `govern init`, byte for byte, and the same refusals."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from governance_pipeline.framework.folder import POLICIES
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.manifest import manifest
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.shell_script import quoted, shell_script
from governance_pipeline.framework.scaffold.signatures import Variant

SHELLS = [name for name in ("sh", "dash", "bash", "busybox") if shutil.which(name)]
FILES = [file.path for file in manifest().files]


def _some_fast(values, every=5):
    """Give each value as a parameter; all but every fifth are long tests."""
    return [pytest.param(v, marks=() if n % every == 0 else pytest.mark.long) for n, v in enumerate(values)]


@pytest.fixture
def script(tmp_path):
    """Run the script of a plan in a folder; gives what was said and how it ended."""

    def _script(plan, *arguments, shell="sh", cwd=None, **more):
        path = tmp_path / "setup_agent_project.sh"
        path.write_bytes(shell_script(plan))
        path.chmod(0o644)
        command = [shell, *(["sh"] if shell == "busybox" else []), str(path), *arguments]
        environment = {"PATH": os.environ["PATH"], "CDPATH": "/tmp:/", "HOME": str(tmp_path)}
        return subprocess.run(command, cwd=cwd, capture_output=True, env=environment, check=False, **more)

    return _script


@pytest.mark.parametrize("shell", _some_fast(SHELLS))
@pytest.mark.parametrize("variant", [Variant.LIBRARY, Variant.SKELETON])
@pytest.mark.parametrize("language", ["en", "es"])
def test_the_script_gives_the_tree_of_govern_init(language, variant, shell, script, tmp_path, tree_of):
    plan = plan_of(language, variant)
    lay_out(tmp_path / "python", plan)
    done = script(plan, str(tmp_path / "shell"), shell=shell)
    assert (done.returncode, done.stderr) == (0, b"")
    assert tree_of(tmp_path / "shell") == tree_of(tmp_path / "python")
    modes = [{p.name: p.stat().st_mode for p in (tmp_path / n).rglob("*")} for n in ("shell", "python")]
    assert modes[0] == modes[1]


def test_every_hostile_name_of_a_folder_gets_the_same_tree(hostile_name, script, tmp_path, tree_of, tree_of_plan):
    plan = plan_of("es")
    inside = tmp_path / "inside"
    inside.mkdir()
    done = script(plan, hostile_name, cwd=inside)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [path.name for path in inside.iterdir()] == [hostile_name]
    assert tree_of(inside / hostile_name) == tree_of_plan(plan)


def test_own_wording_with_hostile_bytes_is_written_as_it_is(wording, script, tmp_path, tree_of, tree_of_plan):
    hostile = (
        "'$(id)' `id` \\ \\n %s \"$HOME\" !! é\r\n\tGOVERN_END_OF_FILE\nGOVERN_END_OF_FILE\nGOVERN_END_OF_FILE_\n-n"
    )
    plan = plan_of(
        "en", template=wording(**{"01_architecture/data_flow.md": hostile, "02_specs/requirements.md": "one line"})
    )
    for shell in SHELLS:
        assert script(plan, str(tmp_path / shell), shell=shell).returncode == 0
        assert tree_of(tmp_path / shell) == tree_of_plan(plan)


def test_what_is_there_is_kept_and_what_is_missing_added(script, tmp_path, plan, tree_of, tree_of_plan):
    root = tmp_path / "project"
    lay_out(root, plan)
    (root / POLICIES).write_bytes(b"edited")
    (root / "README.md").write_bytes(b"")
    (root / "run_orchestrator.py").unlink()
    (root / "04_agents/workers").rmdir()
    done = script(plan, str(root))
    assert done.returncode == 0
    assert b"kept    00_governance/policies.md\n" in done.stdout
    assert re.findall(rb"^added +(.*)$", done.stdout, re.MULTILINE) == [b"run_orchestrator.py"]
    assert tree_of(root) == tree_of_plan(plan) | {POLICIES: b"edited", "README.md": b""}


@pytest.mark.parametrize("path", _some_fast(["00_governance", *FILES, "03_state/locks"], 8))
@pytest.mark.parametrize("kind", ["link", "dangling", "other"])
def test_what_stands_in_the_way_is_refused_before_anything_is_written(path, kind, script, tmp_path, tree_of):
    root, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    (root / path).parent.mkdir(parents=True)
    if kind == "other":
        (root / path).mkdir() if path in FILES else (root / path).write_text("x")
    else:
        (root / path).symlink_to(outside if kind == "link" else tmp_path / "nowhere")
    before = tree_of(root)
    done = script(plan_of("en"), str(root))
    assert done.returncode == 2
    assert f"{path} is not a".encode() in done.stderr
    assert tree_of(root) == before
    assert tree_of(outside) == {}


@pytest.mark.parametrize("arguments", [(), ("",), ("a", "b")])
def test_anything_but_one_folder_is_refused(arguments, script, tmp_path, plan):
    assert script(plan, *arguments, cwd=tmp_path).returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["setup_agent_project.sh"]


def test_a_file_or_a_dangling_link_as_target_is_refused(script, tmp_path, plan):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("file", "dangling"):
        assert script(plan, str(tmp_path / name)).returncode == 2
    assert not (tmp_path / "nowhere").exists()


def test_a_link_to_a_folder_as_target_is_that_folder(script, tmp_path, plan, tree_of, tree_of_plan):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert script(plan, "link", cwd=tmp_path).returncode == 0
    assert tree_of(tmp_path / "real") == tree_of_plan(plan)


def test_a_folder_that_may_not_be_written_to_ends_with_three_and_stays_empty(anybodys_folder, plan, tree_of):
    folder, user = anybodys_folder
    text = shell_script(plan).decode()
    for target in (folder, folder / "below"):
        more = {"user": user, "group": user, "extra_groups": []} if os.getuid() == 0 else {}
        done = subprocess.run(["sh", "-c", text, "sh", str(target)], capture_output=True, cwd="/", check=False, **more)
        assert done.returncode == 3
        assert b"cannot be made" in done.stderr
    assert tree_of(folder) == {}


def test_a_full_disk_leaves_no_half_file_under_a_name(script, tmp_path, plan, tree_of, tree_of_plan):
    limited = ["sh", "-c", 'ulimit -f 1; exec sh "$0" "$1"', str(tmp_path / "s.sh"), str(tmp_path / "project")]
    (tmp_path / "s.sh").write_bytes(shell_script(plan))
    done = subprocess.run(limited, capture_output=True, check=False)
    assert done.returncode != 0
    wanted = tree_of_plan(plan)
    found = {path: data for path, data in tree_of(tmp_path / "project").items() if ".tmp-" not in path}
    assert found.items() <= wanted.items()
    lay_out(tmp_path / "project", plan)
    assert tree_of(tmp_path / "project") == wanted


def test_texts_are_quoted_for_the_shell():
    hostile = "a'b\"c$d`e\\f\ng"
    assert subprocess.run(["sh", "-c", f"printf %s {quoted(hostile)}"], capture_output=True, check=True).stdout == (
        hostile.encode()
    )
