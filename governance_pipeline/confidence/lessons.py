"""Lessons learned, without duplicates: a lesson said again is reinforced, at the third time it asks for enforcement.

What belongs here: the lessons file (Markdown a person may edit), searching it, and adding to it. What does not: events.

Search is by words, never skipped: two texts are one lesson when their word sets (case, accents, endings and filler
words dropped) share at least `SAME` of them by the Dice coefficient 2|A∩B| / (|A|+|B|) (Dice 1945). Its limits, said
plainly: synonyms, translations and negations are not seen; it finds rewordings and reorderings. Source:
spec/confidence.md §7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.confidence.triggers import plain_words
from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.storage.lock import exclusive
from governance_pipeline.strict.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SAME: Final = 0.6
"""Least share of words that makes two texts one lesson; chosen on rewordings of ten lessons, see the tests."""

ENFORCE_FROM: Final = 3
"""Times from which a lesson asks for mechanical enforcement (spec/confidence.md §7)."""

_READABLE: Final = 0o644
FILE_BYTES: Final = 4 * 2**20

TIMES: Final = "\u00d7"
"""The multiplication sign before a count."""

_ENTRY = re.compile(
    rf"- (?P<text>.+?)(?: \({TIMES}(?P<times>[1-9][0-9]{{0,5}})(?P<enforce>, MECHANICAL_ENFORCEMENT)?\))?"
)
# As `plain_words` writes them, the longest first.
_ENDINGS = (
    "aciones",
    "ciones",
    "acion",
    "iendo",
    "mente",
    "ando",
    "cion",
    "edly",
    "ings",
    "ing",
    "ar",
    "ed",
    "er",
    "es",
    "ir",
    "s",
)
_ENDING_LEAST = 4
_FILLERS = frozenset(
    plain_words(
        """
        a al an and antes are as at be before by cada con de del each el en es este esto every for from ha han hay in
        is it its la las lo los must no not of on or para pero por que se should sin so su sus that the their then this
        to un una was we were with y
        """
    ).split()
)


@dataclass(frozen=True)
class Lesson:
    """One lesson: where it stands (section, line from 1), its text, and how often it was said."""

    category: str
    line: int
    text: str
    times: int

    @property
    def asks_for_enforcement(self) -> bool:
        """True from the third time on."""
        return self.times >= ENFORCE_FROM


@dataclass(frozen=True)
class Found:
    """A lesson like the one searched for, and how like it is (0 to 1)."""

    lesson: Lesson
    likeness: float


def read_lessons(path: Path) -> list[Lesson]:
    """Read a lessons file: `## category` headings and one `- text (xN)` line per lesson; other lines are a person's.

    Raises:
        UnreadableError: it is no regular file, too large, or no UTF-8 text. A file that is not there has no lessons.
    """
    return [lesson for lesson in _lessons(_lines(path)) if lesson is not None]


def search_lessons(path: Path, text: str) -> list[Found]:
    """Return lessons like a text, most alike first.

    Raises:
        UnreadableError: as `read_lessons`.
    """
    wanted = word_set(text)
    found = [Found(lesson, likeness(wanted, word_set(lesson.text))) for lesson in read_lessons(path)]
    return sorted((one for one in found if one.likeness >= SAME), key=lambda one: (-one.likeness, one.lesson.line))


def add_lesson(path: Path, text: str, category: str) -> tuple[Lesson, bool]:
    """Add a lesson, or reinforce the most alike one; the rest of the file stays as it is.

    Returns:
        The lesson as it stands now, and whether it is new.

    Raises:
        UsageError: text or category is empty, or has more than one line.
        UnreadableError: as `read_lessons`.
        StorageError: the file cannot be written; it is as it was.
    """
    for name, value in (("lesson", text), ("category", category)):
        if not value.strip() or len(value.splitlines()) != 1:
            raise UsageError(f"a {name} is one line of words")
    with exclusive(path.with_name(f".{path.name}.lock")):
        known = search_lessons(path, text)
        lines = _lines(path)
        if known:
            old = known[0].lesson
            lesson = Lesson(old.category, old.line, old.text, old.times + 1)
            lines[old.line - 1] = _entry(lesson)
        else:
            lesson = _inserted(lines, text.strip(), category.strip())
        AtomicWriter(path.parent).write(path, ("\n".join(lines) + "\n").encode(), mode=_READABLE)
    return lesson, not known


def confirmation(lesson: Lesson, is_new: bool, file: str, words: Mapping[str, str], *, has_icons: bool) -> str:
    """Return the line that confirms: ``📝 [New|Reinforced xN] 📍 <file> §<category>``."""
    state = words["new"] if is_new else f"{words['reinforced']} {TIMES}{lesson.times}"
    note, place = ("📝 ", "📍 ") if has_icons else ("", "")
    more = " MECHANICAL_ENFORCEMENT" if lesson.asks_for_enforcement else ""
    return f"{note}[{state}] {place}{file} §{lesson.category}{more}"


def word_set(text: str) -> frozenset[str]:
    """Return the words that carry a lesson, their endings cut."""
    return frozenset(_stem(word) for word in plain_words(text).split() if word not in _FILLERS)


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Dice coefficient of two word sets; 0 when one is empty."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def lesson_document(lesson: Lesson) -> dict[str, Any]:
    """Return one lesson as plain values."""
    return {
        "category": lesson.category,
        "line": lesson.line,
        "text": lesson.text,
        "times": lesson.times,
        "asks_for_enforcement": lesson.asks_for_enforcement,
    }


def _stem(word: str) -> str:
    """Cut one ending of either language, then a doubled or open last letter: committing and commit, verifica(r)."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _ENDING_LEAST:
            word = word.removesuffix(ending)
            break
    if len(word) >= _ENDING_LEAST and (word[-1] in "aeo" or word[-1] == word[-2]):
        word = word[:-1]
    return word


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    with open_regular(path) as stream:
        data = stream.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise UnreadableError(f"{path} has more than {FILE_BYTES} bytes; that is no lessons file")
    try:
        return data.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise UnreadableError(f"{path} is no UTF-8 text") from None


def _lessons(lines: Sequence[str]) -> list[Lesson | None]:
    """Return the lesson of each line, None where a line holds none."""
    category, found = "", list[Lesson | None]()
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            category = line[3:].strip()
        match = _ENTRY.fullmatch(line) if category else None
        found.append(Lesson(category, number, match["text"], int(match["times"] or 1)) if match else None)
    return found


def _inserted(lines: list[str], text: str, category: str) -> Lesson:
    """Add a line at the end of its section, which is made where it is missing."""
    heading = f"## {category}"
    if heading not in lines:
        lines += [*([""] if lines else []), heading, ""]
    at = lines.index(heading) + 1
    while at < len(lines) and not lines[at].startswith("## "):
        at += 1
    while lines[at - 1] == "" and at - 1 > lines.index(heading) + 1:
        at -= 1
    lesson = Lesson(category, at + 1, text, 1)
    lines.insert(at, _entry(lesson))
    return lesson


def _entry(lesson: Lesson) -> str:
    more = ", MECHANICAL_ENFORCEMENT" if lesson.asks_for_enforcement else ""
    return f"- {lesson.text}" + (f" ({TIMES}{lesson.times}{more})" if lesson.times > 1 else "")
