"""Tests in the text of a file, found by the layout of its lines and not by the readers that are measured.

What belongs here: where a test of each language starts and ends. What does not: what is done to it (faults).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Language(NamedTuple):
    """How the tests of a language look: endings of files, the line that names a test, comment and assertion."""

    name: str
    endings: tuple[str, ...]
    is_test_file: re.Pattern[str]
    head: re.Pattern[str]
    above: re.Pattern[str]
    comment: str
    assertion: re.Pattern[str]


_NONE = re.compile(r"(?!)")
LANGUAGES = (
    Language(
        "python", (".py",), re.compile(r"(?:^|/)test_\w+\.py$"),
        re.compile(r"^(?P<indent>\s*)(?:async )?def (?P<name>test_\w+)\(.*:\s*$"), re.compile(r"^\s*@"), "# ",
        re.compile(r"^\s+(?:assert |self\.assert\w+\().*[^,(\[{\\]$"),
    ),
    Language(
        "typescript", (".ts", ".tsx", ".js"), re.compile(r"\.(?:test|spec)\.[jt]sx?$|(?:^|/)test/"),
        re.compile(r"^(?P<indent>\s*)(?:it|test)\((?P<quote>[\"'`])(?P<name>.+?)(?P=quote), .*\{\s*$"), _NONE, "// ",
        re.compile(r"^\s+(?:await )?expect\(.*\)\.[\w.]+\(.*\);$"),
    ),
    Language(
        "go", (".go",), re.compile(r"_test\.go$"),
        re.compile(r"^(?P<indent>)func (?P<name>Test\w+)\(t \*testing\.T\) \{$"), _NONE, "// ",
        re.compile(r"^\s+(?:t\.(?:Error|Fatal)f?|(?:assert|require)\.\w+)\(.*\)$"),
    ),
    Language(
        "java", (".java",), re.compile(r"Test\.java$"),
        re.compile(r"^(?P<indent> +)(?:public )?void (?P<name>\w+)\(\)[\w ,]*\{$"), re.compile(r"^\s*@"), "// ",
        re.compile(r"^\s+(?:assert\w+|fail)\(.*\);$"),
    ),
    Language(
        "rust", (".rs",), re.compile(r"\.rs$"),
        re.compile(r"^(?P<indent> *)fn (?P<name>\w+)\(\) \{$"), re.compile(r"^\s*#\["), "// ",
        re.compile(r"^\s+assert\w*!\(.*\);$"),
    ),
)  # fmt: skip


class Unit(NamedTuple):
    """One test: lines `first` to `last` with all that stands above its head; indices from 0."""

    name: str
    first: int
    head: int
    last: int
    indent: str


def language_of(path: str) -> Language | None:
    """Give the language in which a path can hold tests; None for all others."""
    return next((one for one in LANGUAGES if path.endswith(one.endings) and one.is_test_file.search(path)), None)


def units(lines: Sequence[str], language: Language) -> list[Unit]:
    """Give the tests of a file whose end can be told by its layout."""
    found = [unit for at in range(len(lines)) for unit in _unit(lines, at, language)]
    names = [unit.name for unit in found]
    return [unit for unit in found if names.count(unit.name) == 1]


def assertions(lines: Sequence[str], unit: Unit, language: Language) -> list[int]:
    """Give the lines of a test that are one whole assertion each."""
    inside = range(unit.head + 1, unit.last + 1)
    return [at for at in inside if language.assertion.match(lines[at]) and _is_balanced(lines[at])]


def _unit(lines: Sequence[str], at: int, language: Language) -> Iterator[Unit]:
    head = language.head.match(lines[at])
    if head is None:
        return
    first = at
    while first and language.above.match(lines[first - 1]):
        first -= 1
    marks = " ".join(lines[first:at])
    if language.name in ("java", "rust") and not re.search(r"@Test\b|#\[test\]", marks):
        return
    if re.search(r"skip|xfail|Disabled|Ignore|ignore", marks):
        return
    last = _last(lines, at, head["indent"], language)
    if last is not None and last > at:
        yield Unit(head["name"], first, at, last, head["indent"])


def _last(lines: Sequence[str], head: int, indent: str, language: Language) -> int | None:
    if language.name != "python":
        closing = indent + "}"
        return next((at for at in range(head + 1, len(lines)) if lines[at].startswith(closing)), None)
    last = head
    for at in range(head + 1, len(lines)):
        if lines[at].strip() and len(lines[at]) - len(lines[at].lstrip()) <= len(indent):
            break
        last = at if lines[at].strip() else last
    return last


def _is_balanced(line: str) -> bool:
    return all(line.count(left) == line.count(right) for left, right in ("()", "[]", "{}"))
