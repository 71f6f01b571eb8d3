"""Files that do not parse, and files of which nobody can tell."""

import pytest


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("src/a.py", "x = 1\n", "def f(:\n"),
        ("src/a.py", None, "x = (1\n"),
        ("src/a.py", "x = 1\n", "def f():\nx = 1\n"),
        ("data/a.json", "{}", '{"a": }'),
        ("package.json", None, "{"),
        ("data/a.json", '{"a": 1, "a": 2}', '{"a": 1, "a": }'),  # a name given twice was JSON all the same
        ("data/a.json", '{"a": 1e999}', "{"),
        ("pyproject.toml", "[a]\n", "[a\n"),
    ],
)
def test_a_file_that_stopped_parsing_has_failed(told, path, before, after):
    assert ("parse_failed", "file") in told(before, after, path)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("src/a.py", "print 'a'\n", "print 'b'\n"),  # Python 2
        ("src/a.py", "def f(:\n", "def g(:\n"),  # did not parse before
        ("src/a.py", None, "print 'a'\n"),
        ("tsconfig.json", None, "{\n // a comment\n}"),
        ("tsconfig.json", "{ // a\n}", "{ // b\n}"),
        ("data/a.json", "[" * 5000, "{"),
        ("data/a.json", "{}", '{"a": 1, "a": 2}'),  # JSON all the same
    ],
)
def test_what_may_be_another_dialect_has_not(told, path, before, after):
    assert ("parse_failed", "file") not in told(before, after, path)


def test_a_deleted_file_need_not_parse(told):
    assert told("x = (", None, "src/a.txt") == []
    assert ("parse_failed", "file") not in told("x = 1\n", None, "src/a.py")
