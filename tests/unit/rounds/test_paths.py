"""Two spellings of a path are one file, and no spelling of a path outside looks inside."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.rounds.paths import is_outside, normal_form

SPELLINGS = st.lists(st.sampled_from(["a", "b.py", "..", ".", "", "C:", "...", "\\", "\n", "é"]), max_size=8).map(
    "/".join
)


@pytest.mark.parametrize(
    "path",
    [
        "/a",
        "/",
        "//a",
        "/../a",
        "..",
        "../a",
        "a/../../b",
        "a/..//../b",
        "./../a",
        "C:/x/a",
        "c:\\x\\a",
        "\\\\host\\a",
        "./C:/a",
    ],
)
def test_absolute_and_climbing_paths_are_outside(path):
    assert is_outside(path)


@pytest.mark.parametrize(
    "path", ["a", "./a", "a/..", ".", "", "a/../b", "..a", "...", "a..", "~/a", "C:a", "\\a", "a\\..\\..\\b"]
)
def test_other_paths_are_inside(path):
    assert not is_outside(path)


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src/x/../a.py", "src/a.py"),
        ("src//a.py", "src/a.py"),
        ("src/./a.py/", "src/a.py"),
        ("a/b/../../c", "c"),
        ("a/../../b", "../b"),
        ("../../b", "../../b"),
        ("../a/../b", "../b"),
        ("/../b", "/b"),
        ("//a/./b", "/a/b"),
        ("C:/a/../../b", "C:/b"),
        ("C:\\a\\b", "C:\\a\\b"),
        ("", "."),
        ("./", "."),
        ("a/..", "."),
        ("...", "..."),
        ("a\n/../b\n", "b\n"),
    ],
)
def test_normal_form_drops_dots_and_empty_names(path, normal):
    assert normal_form(path) == normal


@settings(deadline=None)
@given(SPELLINGS | st.text(max_size=12))
def test_normal_form_of_a_normal_form_is_itself(path):
    assert normal_form(normal_form(path)) == normal_form(path)


@settings(deadline=None)
@given(SPELLINGS)
def test_a_normal_form_inside_has_no_dots_and_no_empty_name(path):
    normal = normal_form(path)
    if normal != "." and not is_outside(path):
        assert not {"", ".", ".."} & set(normal.split("/"))


@settings(deadline=None)
@given(SPELLINGS)
def test_every_spelling_of_a_path_is_inside_or_outside_as_its_normal_form(path):
    assert is_outside(path) == is_outside(normal_form(path))
