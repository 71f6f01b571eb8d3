"""Y from contents: a class counts for its own, layout for nothing, and what cannot be read whole is unknown."""

from __future__ import annotations

import pytest

from governance_pipeline.trajectory.commit_changes import CommitReader
from governance_pipeline.trajectory.providers import language_of
from governance_pipeline.trajectory.repository_files import RepositoryFiles
from governance_pipeline.trajectory.symbol_changes import SymbolReader, compared, has_no_symbols
from governance_pipeline.trajectory.symbol_parts import symbol_parts

PYTHON = """
class A(B):
    x = 1

    @property
    def m(self):
        return 1

    def n(self): return 2


def f(a):
    def inner():
        return a
    return inner
"""
JAVA = "class A { int x = 1; void m() { go(1); } void m(int a) { go(2); } class In { void k() {} } }"
TYPESCRIPT = "class A { x = 1; m() { return 1; } h = () => 2; }\nexport const f = (a: number) => a + 1;\n"
GO = "package p\n\ntype T struct { a int }\n\nfunc (t *T) M() int { return 1 }\n\nfunc F() {}\n"
RUST = "struct S { a: u8 }\nimpl S { fn m(&self) -> u8 { 1 } }\nfn f() {}\n"


def changed(path: str, before: str, after: str) -> dict[str, tuple]:
    language = language_of(path)
    old, new = symbol_parts(language, before.encode()), symbol_parts(language, after.encode())
    return {one.id.partition("::")[2]: (one.kind, one.body, one.signature) for one in compared(path, old, new)}


@pytest.mark.parametrize(("path", "source"), [("a.py", PYTHON), ("A.java", JAVA), ("a.ts", TYPESCRIPT), ("a.go", GO), ("a.rs", RUST)])  # fmt: skip
def test_the_same_content_and_another_layout_change_nothing(path, source):
    assert changed(path, source, source) == {}
    assert changed(path, source, source.replace("\n\n", "\n\n\n") + "\n") == {}


@pytest.mark.parametrize(
    ("path", "source", "old", "new", "expected"),
    [
        ("a.py", PYTHON, "return 1", "return 3", {"A.m": ("method", True, False)}),
        ("a.py", PYTHON, "x = 1", "x = 2", {"A": ("class", True, False)}),
        ("a.py", PYTHON, "class A(B)", "class A(C)", {"A": ("class", False, True)}),
        ("a.py", PYTHON, "@property", "@cached_property", {"A.m": ("method", False, True)}),
        ("a.py", PYTHON, "return a\n", "return a + 1\n", {"f": ("function", True, False)}),
        ("a.py", PYTHON, "x = 1", "x = 1  # note", {}),
        ("a.py", PYTHON, "def f(a)", "def g(a)", {"f": ("function", True, True), "g": ("function", True, True)}),
        ("A.java", JAVA, "go(2)", "go(3)", {"A.m": ("method", True, False)}),
        ("A.java", JAVA, "void k()", "int k()", {"A.In.k": ("method", False, True)}),
        ("A.java", JAVA, "x = 1", "x = 2", {"A": ("class", True, False)}),
        ("a.ts", TYPESCRIPT, "=> 2", "=> 3", {"A.h": ("method", True, False)}),
        ("a.ts", TYPESCRIPT, "a: number", "a: string", {"f": ("function", False, True)}),
        ("a.go", GO, "return 1", "return 2", {"T.M": ("method", True, False)}),
        ("a.go", GO, "a int", "a string", {"T": ("class", False, True)}),
        ("a.rs", RUST, "{ 1 }", "{ 2 }", {"S.m": ("method", True, False)}),
    ],
)
def test_what_changed_is_what_is_counted(path, source, old, new, expected):
    assert old in source
    assert changed(path, source, source.replace(old, new)) == expected


@pytest.mark.parametrize("path", ["a.md", "x/LICENSE", "data.JSON", ".gitignore", "uv.lock"])
def test_documents_and_data_have_no_symbols(path):
    assert has_no_symbols(path)


@pytest.mark.parametrize("path", ["a.c", "build.sh", "Makefile", "a.sql", "md", "script"])
def test_what_may_hold_symbols_nobody_reads_is_not_among_them(path):
    assert not has_no_symbols(path)


@pytest.fixture
def symbols(repository):
    """Give a function that commits two trees and gives the symbols the second one changed, None = unknown."""

    def make(before, after, modes=None):
        repository.commit(before)
        files = RepositoryFiles(repository.path)
        commit = files.commit(repository.commit(after, modes))
        reader = SymbolReader(files)
        found = [reader.changes(one) for one in CommitReader(files).changed(commit)]
        return None if None in found else sorted(one.id for some in found for one in some)

    return make


def test_a_broken_file_and_one_of_a_language_nobody_reads_are_unknown(symbols):
    assert symbols({"a.py": PYTHON}, {"a.py": PYTHON + "def ("}) is None
    assert symbols({"a.c": "int a;"}, {"a.c": "int b;"}) is None


def test_a_renamed_file_changes_none_of_its_symbols(symbols):
    assert symbols({"a.py": PYTHON}, {"b.py": PYTHON}) == []


def test_a_file_that_comes_or_goes_changes_all_of_its_symbols(symbols):
    assert symbols({"x.md": ""}, {"a.go": GO}) == ["a.go::F", "a.go::T", "a.go::T.M"]
    assert symbols({"a.go": GO}, {"x.md": ""}) == ["a.go::F", "a.go::T", "a.go::T.M"]


def test_a_link_has_no_symbols_and_a_binary_file_neither(symbols):
    assert symbols({"a.py": PYTHON}, {"a.py": PYTHON, "l.py": "a.py"}, {"l.py": 0o120000}) == []
    assert symbols({"a.bin": b"\0"}, {"a.bin": b"\0\1"}) == []
