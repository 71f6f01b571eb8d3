"""Edits of tests: faults that leave less tested, and changes that do not.

What belongs here: the edits of one test. Each works on lines, in every language of `detector_units`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from detector_plants import Files, Plant, Source
from detector_units import LANGUAGES, Language, Unit, assertions, units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    Edit = Callable[[list[str], Unit, Language, Random], list[str] | None]

DELETED, DISABLED, REMOVED = "test-deleted", "test-disabled", "assertion-removed"

_ABOVE = {
    "python": {
        "pytest.mark.skip": '@pytest.mark.skip(reason="later")',
        "pytest.mark.xfail": "@pytest.mark.xfail",
        "pytest.mark.skipif(True)": '@pytest.mark.skipif(True, reason="later")',
        "unittest.skip": '@unittest.skip("later")',
    },
    "java": {"Disabled": "@Disabled", "Ignore": '@Ignore("later")'},
    "rust": {"ignore": "#[ignore]"},
    "typescript": {},
    "go": {},
}
_FIRST = {
    "python": {"pytest.skip()": 'pytest.skip("later")', "early return": "return"},
    "go": {"t.Skip": 't.Skip("later")', "early return": "return"},
    "typescript": {"early return": "return;"},
    "rust": {"early return": "return;"},
    "java": {},
}
_CALL = {
    "skip": (r"(it|test)\(", r"\1.skip("),
    "todo": (r"(it|test)\(", r"\1.todo("),
    "xit": (r"(it|test)\(", r"x\1("),
    "only": (r"(it|test)\(", r"\1.only("),
}
_CONDITIONAL = {
    "python": '@pytest.mark.skipif(sys.platform == "win32", reason="posix paths")',
    "java": "@DisabledOnOs(OS.WINDOWS)",
    "rust": "#[cfg_attr(windows, ignore)]",
}
_TAUTOLOGY = {
    "python": "assert True", "typescript": "expect(true).toBe(true);", "go": "assert.True(t, true)",
    "java": "assertTrue(true);", "rust": "assert!(true);",
}  # fmt: skip
_TURNED = {
    "python": (r"assert ([\w.\[\]\"']+) == ([\w.\[\]\"']+)$", r"assert \2 == \1"),
    "typescript": (r"\.toBe\(", ".toEqual("),
    "go": (r"\bt\.Errorf\(", "t.Fatalf("),
    "java": (r"assertThat\(([\w.]+)\)\.isEqualTo\(([\w.\"]+)\);", r"assertEquals(\2, \1);"),
    "rust": (r"assert_eq!\(([\w.]+), ([\w.\"]+)\);", r"assert!(\1 == \2);"),
}
_COLLECTED = {"python": (r"def test_", "def old_test_"), "go": (r"func Test", "func oldTest")}
OTHER_WORDS = "quite_another_matter_altogether"


def test_plants() -> Iterator[Plant]:
    """Give every edit of a test, by language."""
    for language in LANGUAGES:
        for kind, code, edit, why in _kinds(language):
            yield Plant(f"{kind}", code, language.name, partial(_one_test, language, edit), why=why)
        yield Plant("test file deleted", DELETED, language.name, partial(_gone, language))
        yield Plant("test moved to another file", None, language.name, partial(_moved, language))
        yield Plant("test file renamed", None, language.name, _renamed, is_renaming=True)


def _kinds(language: Language) -> Iterator[tuple[str, str | None, Edit, str]]:
    name = language.name
    yield "test deleted", DELETED, _without, ""
    yield "test commented out", DELETED, _commented, ""
    yield "test no longer collected", DELETED, _uncollected, ""
    yield "one assertion deleted", REMOVED, _without_assertion, ""
    yield "all assertions deleted", REMOVED, _without_assertions, ""
    yield "assertion replaced by a tautology", REMOVED, _tautology, "documented gap: nothing went away"
    for marker, text in _ABOVE[name].items():
        yield f"marker {marker}", DISABLED, partial(_above, text), ""
    for marker, text in _FIRST[name].items():
        yield (
            f"first line {marker}",
            DISABLED,
            partial(_first, text),
            ("documented gap: a return is no marker" if "return" in marker else ""),
        )
    if name == "typescript":
        for marker, (old, new) in _CALL.items():
            yield f"call {marker}", DISABLED, partial(_head, old, new), ""
    if name in _CONDITIONAL:
        yield "skip under a condition", None, partial(_above, _CONDITIONAL[name]), ""
    if name == "go":
        yield "skip under a condition", None, partial(_first, 'if runtime.GOOS == "windows" { t.Skip() }'), ""
    yield "comments and blank lines", None, _laid_out, ""
    yield "test renamed alike", None, partial(_named, "_again"), ""
    yield "test renamed with other words", None, partial(_named, ""), ""
    yield "assertion written the other way round", None, _turned, ""
    yield "test added", None, _copied, ""


def _one_test(language: Language, edit: Edit, source: Source, dice: Random) -> Files | None:
    lines, before = source.after.split("\n"), {unit.name for unit in units(source.before.split("\n"), language)}
    known = [unit for unit in units(lines, language) if unit.name in before and assertions(lines, unit, language)]
    if not known:
        return None
    left = edit(list(lines), dice.choice(known), language, dice)
    return None if left is None or left == lines else {source.path: "\n".join(left)}


def _gone(language: Language, source: Source, _: Random) -> Files | None:
    return {source.path: None} if units(source.before.split("\n"), language) else None


def _renamed(source: Source, _: Random) -> Files | None:
    folder, slash, name = source.path.rpartition("/")
    stem, dot, rest = name.partition(".")
    if stem.startswith("test_"):
        name = f"test_renamed_{stem.removeprefix('test_')}{dot}{rest}"
    else:
        name = f"Renamed{name}" if name.endswith(".java") else f"renamed_{name}"
    return {f"{folder}{slash}{name}": source.after}


def _moved(language: Language, source: Source, dice: Random) -> Files | None:
    lines, before = source.after.split("\n"), {unit.name for unit in units(source.before.split("\n"), language)}
    known = [unit for unit in units(lines, language) if unit.name in before and not unit.indent]
    if not known:
        return None
    unit = dice.choice(known)
    other = next(iter(_renamed(source, dice) or {}))
    kept = lines[: unit.first] + lines[unit.last + 1 :]
    return {source.path: "\n".join(kept), other: "\n".join([*lines[unit.first : unit.last + 1], ""])}


def _without(lines: list[str], unit: Unit, _: Language, __: Random) -> list[str]:
    return lines[: unit.first] + lines[unit.last + 1 :]


def _commented(lines: list[str], unit: Unit, language: Language, _: Random) -> list[str]:
    for at in range(unit.first, unit.last + 1):
        lines[at] = f"{unit.indent}{language.comment}{lines[at].removeprefix(unit.indent)}"
    return lines


def _uncollected(lines: list[str], unit: Unit, language: Language, _: Random) -> list[str] | None:
    if language.name in _COLLECTED:
        return _head(*_COLLECTED[language.name], lines, unit, language, _)
    marks = [at for at in range(unit.first, unit.head) if re.fullmatch(r"\s*(?:@Test|#\[test\])\s*", lines[at])]
    return lines[: marks[0]] + lines[marks[0] + 1 :] if marks else None


def _without_assertion(lines: list[str], unit: Unit, language: Language, dice: Random) -> list[str]:
    at = dice.choice(assertions(lines, unit, language))
    return lines[:at] + lines[at + 1 :]


def _without_assertions(lines: list[str], unit: Unit, language: Language, _: Random) -> list[str]:
    dropped = set(assertions(lines, unit, language))
    return [line for at, line in enumerate(lines) if at not in dropped]


def _tautology(lines: list[str], unit: Unit, language: Language, dice: Random) -> list[str]:
    at = dice.choice(assertions(lines, unit, language))
    lines[at] = lines[at][: len(lines[at]) - len(lines[at].lstrip())] + _TAUTOLOGY[language.name]
    return lines


def _above(text: str, lines: list[str], unit: Unit, _: Language, __: Random) -> list[str]:
    return [*lines[: unit.head], unit.indent + text, *lines[unit.head :]]


def _first(text: str, lines: list[str], unit: Unit, language: Language, _: Random) -> list[str]:
    step = "\t" if language.name == "go" else "  " if language.name in ("typescript", "java") else "    "
    return [*lines[: unit.head + 1], unit.indent + step + text, *lines[unit.head + 1 :]]


def _head(old: str, new: str, lines: list[str], unit: Unit, _: Language, __: Random) -> list[str]:
    lines[unit.head] = re.sub(old, new, lines[unit.head], count=1)
    return lines


def _laid_out(lines: list[str], unit: Unit, language: Language, _: Random) -> list[str]:
    note = f"{unit.indent}{language.comment}what follows is laid out anew"
    return [*lines[: unit.first], "", note, *lines[unit.first : unit.last + 1], "", *lines[unit.last + 1 :]]


def _named(ending: str, lines: list[str], unit: Unit, language: Language, _: Random) -> list[str]:
    start = {"python": "test_", "go": "Test"}.get(language.name, "")
    words = OTHER_WORDS.capitalize() if language.name == "go" else OTHER_WORDS  # Go collects no test of a small letter
    name = unit.name + ending if ending else start + words
    lines[unit.head] = lines[unit.head].replace(unit.name, name, 1)
    return lines


def _turned(lines: list[str], unit: Unit, language: Language, _: Random) -> list[str] | None:
    old, new = _TURNED[language.name]
    for at in assertions(lines, unit, language):
        if re.search(old, lines[at]):
            lines[at] = re.sub(old, new, lines[at])
            return lines
    return None


def _copied(lines: list[str], unit: Unit, language: Language, dice: Random) -> list[str]:
    copy = _named("_once_more", list(lines), unit, language, dice)[unit.first : unit.last + 1]
    return [*lines[: unit.last + 1], "", *copy, *lines[unit.last + 1 :]]
