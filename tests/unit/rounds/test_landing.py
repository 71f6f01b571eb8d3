"""Which folders are rounds, and the mark that says one was touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import UnreadableError
from governance_pipeline.rounds.landing import fingerprint, landing_rounds, round_folder
from governance_pipeline.vocabulary import is_round_id


def test_a_landing_area_that_does_not_exist_holds_nothing(tmp_path):
    assert landing_rounds(tmp_path / "none") == ((), ())


def test_a_landing_area_that_is_a_file_is_an_error_and_not_empty(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableError, match="must be a readable folder"):
        landing_rounds(tmp_path / "file")


def test_rounds_are_sorted_and_files_beside_them_left_alone(tmp_path):
    for name in ("r-2", "r-10", "A.b_c"):
        (tmp_path / name).mkdir()
    (tmp_path / "README.md").write_text("")
    assert landing_rounds(tmp_path) == (("A.b_c", "r-10", "r-2"), ())


@pytest.mark.parametrize("name", ["a..b", ".hidden", "-dash", "a b", "ends.", "é", "x" * 81, "line\nbreak", "a|b"])
def test_a_folder_with_an_illegal_name_is_refused_with_the_rule(tmp_path, name):
    (tmp_path / name).mkdir()
    found = landing_rounds(tmp_path)
    assert found.rounds == ()
    [refused] = found.refused
    assert refused.reason.startswith("not a legal round id")
    assert "\n" not in refused.name


def test_a_link_to_a_folder_is_refused(tmp_path):
    (tmp_path / "r-1").mkdir()
    (tmp_path / "r-2").symlink_to(tmp_path / "r-1")
    found = landing_rounds(tmp_path)
    assert found.rounds == ("r-1",)
    assert found.refused[0].reason.startswith("a symbolic link")


def test_of_two_names_that_differ_only_in_case_the_first_is_taken(tmp_path):
    for name in ("Round", "round"):
        (tmp_path / name).mkdir()
    found = landing_rounds(tmp_path)
    assert found.rounds == ("Round",)
    assert found.refused == (("round", "differs only in case from round Round"),)


def test_a_name_in_use_is_kept_against_an_earlier_one_in_the_alphabet(tmp_path):
    for name in ("Round", "round"):
        (tmp_path / name).mkdir()
    assert landing_rounds(tmp_path, ["round"]).rounds == ("round",)


def test_a_known_round_whose_folder_is_gone_still_holds_its_name(tmp_path):
    (tmp_path / "ROUND").mkdir()
    assert landing_rounds(tmp_path, ["round"]).rounds == ()


@given(name=st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=60))
@settings(max_examples=60)
def test_any_folder_is_a_round_with_a_legal_id_or_refused_with_a_reason(tmp_path_factory, name):
    landing = tmp_path_factory.mktemp("landing")
    try:
        (landing / name).mkdir()
    except OSError:  # the file system has no such name, or it is . or ..
        return
    found = landing_rounds(landing)
    assert found.rounds == ((name,) if is_round_id(name) else ())
    assert len(found.rounds) + len(found.refused) == 1


def _touch(path: Path, text: str, at: int = 1_000_000_000) -> None:
    path.write_text(text)
    os.utime(path, (at, at))


def test_the_mark_stays_while_nothing_is_touched(tmp_path):
    (tmp_path / "logs").mkdir()
    _touch(tmp_path / "logs" / "a.jsonl", "one")
    assert fingerprint(tmp_path) == fingerprint(tmp_path)


def test_the_mark_changes_with_a_file_rewritten_with_the_same_size_and_time(tmp_path):
    """Trap of spec/ingest §4: only ctime tells."""
    _touch(tmp_path / "a.jsonl", "one")
    before = fingerprint(tmp_path)
    while fingerprint(tmp_path) == before:  # a coarse clock may need another write to move on
        _touch(tmp_path / "a.jsonl", "two")
    assert (tmp_path / "a.jsonl").stat().st_mtime == 1_000_000_000


@pytest.mark.parametrize("change", ["add", "remove", "rename", "replace"])
def test_the_mark_changes_with_every_change_of_the_folder(tmp_path, change):
    _touch(tmp_path / "a.jsonl", "one")
    before = fingerprint(tmp_path)
    if change == "add":
        (tmp_path / "b.jsonl").write_text("")
    elif change == "remove":
        (tmp_path / "a.jsonl").unlink()
    elif change == "rename":
        (tmp_path / "a.jsonl").rename(tmp_path / "b.jsonl")
    else:
        _touch(tmp_path / "aside", "one")
        (tmp_path / "aside").replace(tmp_path / "a.jsonl")
    assert fingerprint(tmp_path) != before


def test_a_file_name_that_is_not_utf8_has_a_mark_too(tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")).write_text("")
    assert len(fingerprint(tmp_path)) == 64


def test_a_folder_that_is_gone_has_no_mark(tmp_path):
    with pytest.raises(OSError, match="none"):
        fingerprint(tmp_path / "none")


def test_the_folder_of_a_round_is_known_where_rounds_lie_together_and_where_each_is_named(tmp_path):
    assert round_folder(None, "r-1") is None
    assert round_folder({"r-1": tmp_path}, "r-2") is None
    assert round_folder({"r-1": tmp_path}, "r-1") == tmp_path
    assert round_folder(tmp_path, "r-1") == tmp_path / "r-1"
