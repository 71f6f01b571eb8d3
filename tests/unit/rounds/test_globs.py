"""Globs read as gitignore's, the last one that matches decides, and no glob can stall an audit."""

from __future__ import annotations

import random
import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

from governance_pipeline.errors import UsageError
from governance_pipeline.rounds.globs import Globs, glob_fault

BAD = {
    "": "names nothing",
    "!": "names nothing",
    "/": "names nothing",
    "!/": "names nothing",
    " a": "blank",
    "a ": "blank",
    "a\t": "blank",
    "a\\ ": "blank",
    "! ": "blank",
    "#a": "comment",
    "a//b": "//",
    "!//a": "//",
    "[ab": "never closed",
    "a/[": "never closed",
    "[]": "never closed",
    "[!]": "never closed",
    "[a\\]": "never closed",
    "[a-": "never closed",
    "[[:alpha:]": "never closed",
    "a\\": "lone backslash",
    "!a\\": "lone backslash",
    "a\\/": "lone backslash",
}


@pytest.mark.parametrize(("glob", "reason"), BAD.items())
def test_a_bad_glob_is_refused_with_its_reason(glob, reason):
    assert reason in (glob_fault(glob) or "")
    with pytest.raises(UsageError, match="is no glob"):
        Globs(["src/**", glob])


def test_a_refused_list_names_all_its_bad_globs():
    with pytest.raises(UsageError, match=r"\[a.*a//b"):
        Globs(["[a", "ok", "a//b"])


@pytest.mark.parametrize(
    "glob", ["!!a", "/!", "\\#a", "\\!a", "a b", "!#a", "[]]", "[[:nonsense:]]", "[z-a]", "a\\\\", "**", "!**"]
)
def test_what_gitignore_allows_is_allowed(glob):
    assert glob_fault(glob) is None


COVERED = [
    # a slash at the start or inside anchors at the root
    ("docs", "docs/x.md", "a/docs/x.md", "docs"),
    ("*.toml", "a.toml", "a/b/c.toml", "a.toml/x"),
    ("/docs", "docs/x.md", "docs"),
    ("src/a.py", "src/a.py", "src/a.py/b"),
    # a final slash means folders
    ("api/", "api/x", "a/api/x"),
    ("/api/", "api/x"),
    # ** crosses folders, also none
    ("src/**", "src/a", "src/a/b"),
    ("**/a", "a", "x/a", "x/y/a", "x/a/y"),
    ("a/**/b", "a/b", "a/x/b", "a/x/y/b"),
    ("a/**/", "a/x/f"),
    ("**", "a", "a/b"),
    ("**/", "a/b"),
    ("/**", "a", "a/b"),
    ("a/**/**/b", "a/b", "a/x/b"),
    # * ? and classes stay inside one name; a glob that matches a folder covers all below
    ("src/*", "src/a", "src/a/b.py"),
    ("a?c", "abc", "x/abc", "aéc"),
    ("a[xy]c", "axc"),
    ("a[!x]c", "ayc"),
    ("a[^x]c", "ayc"),
    ("a[]]c", "a]c"),
    ("a[\\]]c", "a]c"),
    ("a[b-d]c", "acc"),
    ("a[d-b-]c", "a-c", "adc"),
    ("a[[:digit:]_]c", "a1c", "a_c"),
    ("/a[b/]c", "abc"),
    ("*", "a", ".a", "a/b", "a\nb"),
    ("a**b", "ab", "axb"),
    # a backslash takes the next character as it is
    ("\\!a", "!a"),
    ("\\#a", "#a"),
    ("a\\*", "a*"),
    ("a\\b", "ab"),
    # spellings of the path
    ("src/*.py", "./src/a.py", "src//a.py", "x/../src/a.py"),
]
NOT_COVERED = [
    ("/docs", "a/docs/x.md"),
    ("src/a.py", "x/src/a.py"),
    ("api/", "api", "a/api"),
    ("src/**", "src", "x/src/a"),
    ("a/**/", "a/f"),
    ("**/", "a"),
    ("a?c", "a/c", "ac"),
    ("a[!x]c", "axc", "a/c"),
    ("/a[b/]c", "a/c", "x/abc"),
    ("a[z-b]c", "abc", "ayc"),
    ("a[[:nonsense:]]c", "anc", "a:c"),
    ("a**b", "a/b"),
    ("*.PY", "a.py"),
    ("a", "A"),
    ("a.b", "axb"),
    ("*.py", "a.py\n"),
    ("./a", "a"),
    ("*", "/a", "../a", "C:/a", ".", ""),
    ("**", "/a", "a/../../b"),
]


@pytest.mark.parametrize(("glob", "path"), [(glob, path) for glob, *paths in COVERED for path in paths])
def test_a_glob_covers(glob, path):
    assert Globs([glob]).match(path)


@pytest.mark.parametrize(("glob", "path"), [(glob, path) for glob, *paths in NOT_COVERED for path in paths])
def test_a_glob_does_not_cover(glob, path):
    assert not Globs([glob]).match(path)


@pytest.mark.parametrize(
    ("globs", "path", "covered"),
    [
        ([], "a", False),
        (["!a"], "a", False),
        (["!a"], "b", False),
        (["src/", "!src/gen/", "src/gen/keep.py"], "src/gen/x.py", False),
        (["src/", "!src/gen/", "src/gen/keep.py"], "src/gen/keep.py", True),
        (["!src/gen/", "src/"], "src/gen/x.py", True),
        (["**", "!src/gen", "src/gen/a/**", "!*.log"], "src/gen/a/b.log", False),
        (["!!a", "b"], "!a", False),
    ],
)
def test_the_last_glob_that_matches_decides_below_an_excluded_folder_too(globs, path, covered):
    assert Globs(globs).match(path) is covered


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 30 + "b", "a" * 5000),
        ("a*" * 30 + "b/", "a" * 5000),
        ("**/a/" * 20 + "b", "a/" * 2000 + "c"),
        ("**/*a*/" * 12 + "b", "aaa/" * 1000 + "c"),
        ("?*" * 30 + "b", "a" * 5000),
    ],
)
def test_a_glob_made_to_backtrack_ends_at_once(glob, path):
    """With a plain translation these take longer than anyone would wait."""
    assert not Globs([glob]).match(path)


@pytest.mark.parametrize("glob", ["[[:" * 80_000, "[" + "[:" * 100_000 + "a", "[" * 250_000])
def test_a_class_made_to_be_searched_again_and_again_is_refused_at_once(glob):
    assert "never closed" in (glob_fault(glob) or "")
    assert glob_fault(glob + "x]") is None


GLOBS = st.lists(st.sampled_from([*"ab/*?[]!^-\\# :", "**", "[a-b]", "[[:alpha:]]"]), max_size=12).map("".join)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "!", "-", "\n", "a]"]), min_size=1, max_size=4).map("/".join)


@settings(deadline=None)
@given(GLOBS | st.text(max_size=10), PATHS)
def test_a_glob_is_bad_or_can_be_asked(glob, path):
    if glob_fault(glob) is None:
        Globs([glob]).match(path)
    else:
        with pytest.raises(UsageError):
            Globs([glob])


@settings(deadline=None)
@given(GLOBS, PATHS)
def test_what_covers_a_folder_covers_all_below(glob, path):
    if glob_fault(glob) is None and Globs([glob]).match(path):
        assert Globs([glob]).match(path + "/below")


SIMPLE = st.lists(st.sampled_from(["a", "b", "*", "?", "/", ".", "**/", "/**"]), min_size=1, max_size=8).map("".join)


@settings(deadline=None)
@given(SIMPLE, PATHS.filter(lambda path: "\n" not in path))
def test_where_pathspec_reads_as_git_does_it_agrees(glob, path):
    """Left out: a final /* (pathspec stops at the first folder), a final `**/`, and stars beside other characters."""
    if glob_fault(glob) is None and not re.search(r"/\*$|\*\*/$|^\*$|\*{3}|[^/]\*\*|\*\*[^/]", glob):
        assert Globs([glob]).match(path) == bool(GitIgnoreBasicPattern(glob).match_file(path))


PIECES = [
    *[
        "a",
        "b",
        "*",
        "**",
        "?",
        "/",
        "/",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[]a]",
        "[!]a]",
        "[[:alpha:]]",
        "[a-]",
        "[c-a]",
    ],
    *[
        "[a/b]",
        "\\a",
        "\\*",
        "[\\]a]",
        "***",
        "-",
        "]",
        "!",
        "[[:foo:]]",
        "[[:upper:]a]",
        "[a-c-]",
        "[[:digit:]-a]",
        "{",
    ],
]
NAMES = ["a", "b", "ab", "abc", "-", "]", "*", "c", "ba", "!", "[a", "#", "a]", "A", "a-b", "{"]


def test_git_itself_agrees_glob_by_glob(tmp_path):
    """One glob at a time, where git's own rule on excluded folders plays no part."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    choose = random.Random(20260701)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    compared = 0
    while compared < 120:
        glob = "".join(choose.choice(PIECES) for _ in range(choose.randint(1, 5))) + choose.choice(["", "", "/"])
        # git skips a literal beginning before it looks for **, which its own documentation does not say.
        if glob[0] in "!#" or glob_fault(glob) or re.search(r"[^/*]\*\*|\*\*[^/*]", glob):
            continue
        paths = {"/".join(choose.choice(NAMES) for _ in range(choose.randint(1, 4))) for _ in range(25)}
        (tmp_path / ".gitignore").write_text(glob + "\n", "utf-8")
        command = ["git", "-C", tmp_path, "-c", "core.ignorecase=false", "check-ignore", "--no-index", "--stdin", "-z"]
        said = subprocess.run(command, input="\0".join(paths).encode(), capture_output=True, check=False).stdout
        assert {path for path in paths if Globs([glob]).match(path)} == {*said.decode().split("\0")} - {""}, glob
        compared += 1
