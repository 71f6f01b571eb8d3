"""An import copies, never moves, never overwrites; what lies there can be checked against what was read."""

from __future__ import annotations

import os
import stat
from dataclasses import replace

import pandas as pd
import pytest

from governance_pipeline.errors import UnreadableError
from governance_pipeline.ingest.importing import import_round, preview_round, verify_round
from governance_pipeline.ingest.planning import plan_import


def session(text="hi"):
    return [{"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": text}}]


@pytest.fixture
def source(write_files, tmp_path):
    return write_files(tmp_path / "source", {"s.jsonl": session(), "s/extra.json": "{}"})


def _import(source, landing):
    (planned,) = plan_import([source])
    return import_round(planned, landing)


def _bytes(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_other_bytes_are_never_overwritten_and_nothing_of_the_round_is_copied(source, tmp_path):
    landing = tmp_path / "landing"
    _import(source, landing)
    before = _bytes(landing)
    (source / "s.jsonl").write_text('{"type": "user", "sessionId": "s", "uuid": "v", "message": {"content": "new"}}\n')
    (source / "s" / "another.json").write_text("[]")
    result = _import(source, landing)
    assert [conflict.path for conflict in result.conflicts] == ["logs/s.jsonl"]
    assert "is not overwritten" in result.conflicts[0].message
    assert result.copied == ()
    assert _bytes(landing) == before


def test_a_source_that_changed_since_it_was_planned_is_not_imported(source, tmp_path):
    (planned,) = plan_import([source])
    with (source / "s.jsonl").open("a") as stream:
        stream.write("\n")
    result = import_round(planned, tmp_path / "landing")
    assert [conflict.path for conflict in result.conflicts] == ["logs/s.jsonl"]
    assert not (tmp_path / "landing" / "s").exists()
    assert not (tmp_path / "landing" / ".importing").exists()


def test_a_source_that_became_a_link_is_not_imported(source, tmp_path):
    (planned,) = plan_import([source])
    (source / "s.jsonl").rename(tmp_path / "moved")
    (source / "s.jsonl").symlink_to(tmp_path / "moved")
    assert "symlink" in import_round(planned, tmp_path / "landing").conflicts[0].message


def test_a_round_folder_that_is_a_link_is_not_written_through(source, tmp_path):
    landing = tmp_path / "landing"
    landing.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (landing / "s").symlink_to(tmp_path / "elsewhere")
    assert _import(source, landing).conflicts
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_round_id_that_differs_only_in_case_is_a_conflict(source, tmp_path):
    (tmp_path / "landing" / "S").mkdir(parents=True)
    (conflict,) = _import(source, tmp_path / "landing").conflicts
    assert "differs only in case from round S" in conflict.message


def _nothing_there(source, landing):
    return None


def _the_same_there(source, landing):
    _import(source, landing)


def _other_bytes_there(source, landing):
    _import(source, landing)
    (source / "s.jsonl").write_text('{"type": "user", "sessionId": "s", "uuid": "v", "message": {"content": "new"}}\n')


def _less_there(source, landing):
    _import(source, landing)
    (source / "s" / "late.json").write_text("[1]")


def _another_case_there(source, landing):
    (landing / "S").mkdir(parents=True)


def _a_link_there(source, landing):
    landing.mkdir()
    (landing / "s").symlink_to(source)


@pytest.mark.parametrize(
    "before",
    [_nothing_there, _the_same_there, _other_bytes_there, _less_there, _another_case_there, _a_link_there],
)
def test_a_preview_says_what_the_import_then_does_and_writes_nothing(source, tmp_path, before):
    landing = tmp_path / "landing"
    before(source, landing)
    (planned,) = plan_import([source])
    was = sorted(tmp_path.rglob("*"))
    expected = preview_round(planned, landing)
    assert sorted(tmp_path.rglob("*")) == was
    assert import_round(planned, landing) == expected


def test_sources_keep_their_bytes_and_the_copy_has_them(source, tmp_path):
    before = _bytes(source)
    result = _import(source, tmp_path / "landing")
    assert result.copied == ("logs/s.jsonl", "logs/s/extra.json")
    assert _bytes(source) == before
    assert _bytes(tmp_path / "landing" / "s" / "logs") == before
    assert sorted(path.name for path in (tmp_path / "landing").iterdir()) == [".importing.lock", "s"]
    assert stat.S_IMODE((tmp_path / "landing" / "s" / "logs" / "s.jsonl").stat().st_mode) == 0o600


def test_the_same_bytes_again_change_nothing(source, tmp_path):
    landing = tmp_path / "landing"
    _import(source, landing)
    before = {path: path.stat().st_mtime_ns for path in (landing / "s").rglob("*")}
    result = _import(source, landing)
    assert (result.copied, result.unchanged) == ((), ("logs/s.jsonl", "logs/s/extra.json"))
    assert {path: path.stat().st_mtime_ns for path in (landing / "s").rglob("*")} == before


def test_a_log_the_round_has_under_another_name_is_unchanged(source, tmp_path):
    landing = tmp_path / "landing"
    _import(source, landing)
    (source / "s.jsonl").rename(source / "renamed.jsonl")
    (planned,) = [p for p in plan_import([source]) if p.round_id == "s"]
    result = import_round(planned, landing)
    assert (result.copied, result.conflicts) == ((), ())


def test_a_new_native_file_is_added_even_when_its_bytes_lie_there_under_another_name(write_files, tmp_path):
    folder = write_files(tmp_path / "r-1", {"changes.jsonl": ""})
    landing = tmp_path / "landing"
    _import(folder, landing)
    (folder / "evidence.jsonl").write_text("")
    assert _import(folder, landing).copied == ("evidence.jsonl",)
    assert _bytes(landing / "r-1") == {"changes.jsonl": b"", "evidence.jsonl": b""}


def test_new_files_are_added_to_a_round_that_exists(source, tmp_path):
    landing = tmp_path / "landing"
    _import(source, landing)
    (source / "s" / "subagents").mkdir()
    (source / "s" / "subagents" / "late.json").write_text("[1]")
    result = _import(source, landing)
    assert result.copied == ("logs/s/subagents/late.json",)
    assert (landing / "s" / "logs" / "s" / "subagents" / "late.json").stat().st_nlink == 1


def test_what_cannot_be_copied_is_left_out_with_its_reason(source, tmp_path):
    (source / "s" / "link").symlink_to("extra.json")
    result = _import(source, tmp_path / "landing")
    assert result.left_out == (("logs/s/link", "symlink"),)
    assert not os.path.lexists(tmp_path / "landing" / "s" / "logs" / "s" / "link")


def test_a_round_of_nothing_that_can_be_copied_makes_no_folder(source, tmp_path):
    (planned,) = plan_import([source])
    refused = replace(planned, files=tuple(replace(file, reason="symlink") for file in planned.files))
    assert len(import_round(refused, tmp_path / "landing").left_out) == 2
    assert not (tmp_path / "landing" / "s").exists()


def test_verification_names_what_changed_is_missing_or_new(read, tmp_path):
    recorded = read({"a": "1", "b": "2", "c": "3"}).frame("raw_log_files")
    folder = tmp_path / "rounds" / "r-1"
    (folder / "a").write_text("9")
    (folder / "b").unlink()
    (folder / "d").write_text("4")
    states = verify_round(folder, recorded)
    assert dict(zip(states["path"], states["state"], strict=True)) == {
        "a": "changed",
        "b": "missing",
        "c": "same",
        "d": "new",
    }
    assert states[states["path"] == "b"]["found"].isna().all()


def test_a_file_replaced_by_a_link_to_the_same_bytes_has_changed(read, tmp_path):
    recorded = read({"a": "1"}).frame("raw_log_files")
    folder = tmp_path / "rounds" / "r-1"
    (folder / "a").rename(tmp_path / "moved")
    (folder / "a").symlink_to(tmp_path / "moved")
    assert verify_round(folder, recorded)["state"].tolist() == ["changed"]


def test_a_folder_that_is_gone_cannot_be_verified(tmp_path):
    with pytest.raises(UnreadableError):
        verify_round(tmp_path / "gone", pd.DataFrame({"path": [], "file_sha256": []}))
