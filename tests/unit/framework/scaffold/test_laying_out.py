"""Laying out adds what is missing and never writes to what is there, whatever stands in the way and whenever it dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import FaultyFileError, StorageError, UsageError
from governance_pipeline.framework.folder import POLICIES, REGISTRY, STATE
from governance_pipeline.framework.scaffold import placing
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.manifest import manifest
from governance_pipeline.framework.scaffold.plan import plan_of
from governance_pipeline.framework.scaffold.template_files import template_bytes

FILES = [file.path for file in manifest().files]
FOLDERS = [folder.path for folder in manifest().folders]


def _some_fast(values, every=5):
    """Give each value as a parameter; all but every fifth are long tests."""
    return [pytest.param(v, marks=() if n % every == 0 else pytest.mark.long) for n, v in enumerate(values)]


@pytest.mark.parametrize("path", _some_fast(FILES + FOLDERS))
def test_a_link_in_the_way_is_refused_and_nothing_is_written_before_or_through_it(path, tmp_path, tree_of):
    plan, root, outside = plan_of("en"), tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    place = root / path
    place.parent.mkdir(parents=True)
    place.symlink_to(outside)
    before = tree_of(tmp_path)
    with pytest.raises(FaultyFileError, match="a symbolic link"):
        lay_out(root, plan)
    assert tree_of(tmp_path) == before


@pytest.mark.parametrize("path", _some_fast(FILES))
def test_a_folder_or_a_pipe_where_a_file_belongs_is_refused_whole(path, tmp_path):
    plan = plan_of("en")
    (tmp_path / path).mkdir(parents=True)
    os.mkfifo(tmp_path / "06_design")
    before = sorted(tree_of_names(tmp_path))
    with pytest.raises(FaultyFileError) as caught:
        lay_out(tmp_path, plan)
    assert {fault.message.split(";")[0] for fault in caught.value.faults} == {
        f"{path} is a folder, not a file",
        "06_design is a special file, not a folder",
    }
    assert sorted(tree_of_names(tmp_path)) == before


def tree_of_names(root):
    return [path.relative_to(root).as_posix() for path in root.rglob("*")]


@pytest.mark.parametrize("path", _some_fast(FOLDERS))
def test_a_file_where_a_folder_belongs_is_refused(path, tmp_path):
    plan = plan_of("en")
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("mine")
    with pytest.raises(FaultyFileError, match=f"{path} is a file, not a folder"):
        lay_out(tmp_path, plan)
    assert (tmp_path / path).read_text() == "mine"


def test_a_target_that_is_a_file_or_a_dangling_link_is_a_usage_error(tmp_path, plan):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("file", "dangling", "file/below"):
        with pytest.raises(UsageError, match="is no folder"):
            lay_out(tmp_path / name, plan)
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_may_not_be_written_to_is_a_storage_error(anybodys_folder, plan, tree_of):
    folder, user = anybodys_folder
    assert _as_user(user, lambda: lay_out(folder, plan)) == "StorageError"
    assert _as_user(user, lambda: lay_out(folder / "below", plan)) == "StorageError"
    assert tree_of(folder) == {}


def _as_user(user: int, act) -> str:
    """Run something as another user, in a process of its own; gives the name of the error it raises."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([]) if os.getuid() == 0 else None
            os.setuid(user)
            act()
        except BaseException as error:  # noqa: BLE001 - handed to the parent
            os.write(writer, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        name = stream.read().decode()
    os.waitpid(child, 0)
    return name


def test_every_hostile_name_of_a_folder_gets_the_same_tree(hostile_name, tmp_path, tree_of, tree_of_plan):
    plan = plan_of("es")
    done = lay_out(tmp_path / hostile_name, plan)
    assert tree_of(tmp_path) == {hostile_name: None} | {
        f"{hostile_name}/{path}": data for path, data in tree_of_plan(plan).items()
    }
    assert (done.added_folders, done.added_files, done.same, done.differing) == (tuple(FOLDERS), tuple(FILES), (), ())


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.dictionaries(st.sampled_from(FILES), st.binary(max_size=40)),
    removed=st.sets(st.sampled_from(FILES)),
    languages=st.tuples(st.sampled_from(["en", "es"]), st.sampled_from(["en", "es"])),
)
def test_an_upgrade_loses_no_edit_and_adds_only_what_is_missing(edits, removed, languages, tmp_path_factory, tree_of):
    root = tmp_path_factory.mktemp("project")
    before, after = (plan_of(language) for language in languages)
    lay_out(root, before)
    (root / "05_skills/core_tools/own.py").write_text("mine")
    for path, data in edits.items():
        (root / path).write_bytes(data)
    for path in removed:
        (root / path).unlink()
    held = tree_of(root)
    done = lay_out(root, after)
    assert tree_of(root) == held | {path: after.file(path).data for path in removed}
    assert set(done.added_files) == removed
    kept = [path for path in FILES if path not in removed]
    assert list(done.same) == [path for path in kept if held[path] == after.file(path).data]
    assert list(done.differing) == [path for path in kept if held[path] != after.file(path).data]


def test_a_changed_template_overwrites_nothing_and_lists_what_differs(wording, tmp_path, tree_of):
    text = template_bytes("en", "policies.md")
    root = tmp_path / "project"
    lay_out(root, plan_of("en", template=wording(**{POLICIES: text})))
    (root / STATE).write_text("edited here")
    held = tree_of(root)
    (root / "01_architecture/data_flow.md").unlink()
    done = lay_out(root, plan_of("en", template=wording(**{POLICIES: text + b"12. A new rule of ours.\n"})))
    assert done.differing == (POLICIES, STATE)
    assert done.added_files == ("01_architecture/data_flow.md",)
    assert tree_of(root) == held


def test_a_second_call_changes_nothing(tmp_path, plan, tree_of):
    lay_out(tmp_path, plan)
    held = tree_of(tmp_path)
    done = lay_out(tmp_path, plan)
    assert done.same == tuple(FILES)
    assert (done.added_folders, done.added_files, done.differing) == ((), (), ())
    assert tree_of(tmp_path) == held


def test_a_dry_run_says_what_a_run_then_does_and_writes_nothing(tmp_path, plan, tree_of):
    root = tmp_path / "project"
    assert lay_out(root, plan, is_dry_run=True).added_files == tuple(FILES)
    assert not root.exists()
    (root / "03_state").mkdir(parents=True)
    (root / REGISTRY).write_text("{}")
    held = tree_of(root)
    said = lay_out(root, plan, is_dry_run=True)
    assert tree_of(root) == held
    assert lay_out(root, plan) == said


@pytest.mark.parametrize("step", _some_fast(range(2 * len(FILES)), 7))
@pytest.mark.parametrize("call", ["link", "fsync"])
def test_a_kill_at_any_step_leaves_whole_files_and_the_next_call_finishes(
    call, step, tmp_path, tree_of, tree_of_plan, monkeypatch
):
    plan = plan_of("en")
    child = os.fork()
    if child == 0:
        _die_at(call, step)
        lay_out(tmp_path, plan)
        os._exit(0)
    assert os.waitpid(child, 0)[1] in (0, signal.SIGKILL)
    wanted = tree_of_plan(plan)
    found = tree_of(tmp_path)
    assert {path: data for path, data in found.items() if placing.TEMPORARY not in path}.items() <= wanted.items()
    lay_out(tmp_path, plan)
    assert tree_of(tmp_path) == wanted


def _die_at(name: str, step: int) -> None:
    real, calls = getattr(os, name), iter(range(10_000))

    def dying(*arguments, **more):
        if next(calls) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **more)

    setattr(placing.os, name, dying)


def test_a_file_that_comes_up_meanwhile_is_kept(tmp_path, plan, monkeypatch):
    real = placing.make_file

    def overtaken(root, path, data):
        if path == POLICIES:
            (tmp_path / POLICIES).write_text("somebody was first")
        real(root, path, data)

    monkeypatch.setattr(placing, "make_file", overtaken)
    assert lay_out(tmp_path, plan).differing == (POLICIES,)
    assert (tmp_path / POLICIES).read_text() == "somebody was first"


def test_a_folder_that_becomes_a_link_meanwhile_is_not_written_through(tmp_path, plan, monkeypatch, tree_of):
    root, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    real = placing.make_file

    def swapped(descriptor, path, data):
        if path == POLICIES:
            (root / "00_governance").rename(tmp_path / "moved")
            (root / "00_governance").symlink_to(outside)
        real(descriptor, path, data)

    monkeypatch.setattr(placing, "make_file", swapped)
    with pytest.raises(StorageError):
        lay_out(root, plan)
    assert tree_of(outside) == {}


def test_the_bytes_of_a_file_are_on_the_disk_before_its_name_and_the_name_before_the_next_file(
    tmp_path, plan, monkeypatch
):
    calls = []
    real = os.link
    monkeypatch.setattr(os, "fsync", lambda fd: calls.append("file" if Path(f"/proc/self/fd/{fd}").is_file() else "-"))
    monkeypatch.setattr(os, "link", lambda *names, **more: (calls.append("name"), real(*names, **more)))
    lay_out(tmp_path, plan)
    assert calls == ["-"] * len(FOLDERS) + ["file", "name", "-"] * len(FILES)


def test_without_hard_links_files_are_made_all_the_same_and_none_is_overwritten(
    tmp_path, plan, monkeypatch, tree_of, tree_of_plan
):
    def no_links(*_arguments, **_more):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(placing.os, "link", no_links)
    (tmp_path / "00_governance").mkdir()
    (tmp_path / POLICIES).write_text("mine")
    lay_out(tmp_path, plan)
    assert tree_of(tmp_path) == tree_of_plan(plan) | {POLICIES: b"mine"}


def test_files_and_folders_follow_the_umask_of_the_team(tmp_path, plan):
    before = os.umask(0o002)
    try:
        lay_out(tmp_path / "project", plan)
    finally:
        os.umask(before)
    assert (tmp_path / "project" / POLICIES).stat().st_mode & 0o777 == 0o664
    assert (tmp_path / "project/03_state/locks").stat().st_mode & 0o777 == 0o775
