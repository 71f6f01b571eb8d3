"""The tests of a part of a file, line by line, as far as lines can tell.

What belongs here: reading a few lines with the patterns of the table. What does not: whole files, which are parsed.
What cannot be told from the lines is not said: a part that opens or closes a long text, where every line may be
prose, gives no outline at all; a skip inside a test counts only as its first line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.outline import Outline, TestCase, put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.change_facts.frameworks import Language

UNNAMED: Final = "(test not shown)"
"""Subject of what stands in a part of a file that does not show the test it is in."""

FOLLOWING: Final = "(what follows)"
"""Subject of a marker whose test is not shown."""

_LONG_TEXTS: Final = {"python": ('"""', "'''"), "javascript": ("`",), "go": ("`",), "java": ('"""',), "rust": ()}
_COMMENT_BLOCKS: Final = ("/*", "*/")


def fragment_outline(lines: Sequence[str], language: Language, context: str = "") -> Outline | None:
    """List the tests of some lines of a file; None when the lines cannot be judged by themselves.

    Args:
        lines: whole lines, without their ends.
        language: language of the file.
        context: the line a diff shows as what the lines stand below.
    """
    text = "\n".join(lines)
    if any(text.count(mark) % 2 for mark in _LONG_TEXTS[language.name]):
        return None
    if language.name != "python" and text.count(_COMMENT_BLOCKS[0]) != text.count(_COMMENT_BLOCKS[1]):
        return None
    reader = _Lines(language, context)
    for number, line in enumerate(lines, 1):
        reader.take(line.strip(), number)
    reader.close()
    return reader.outline


class _Lines:
    def __init__(self, language: Language, context: str) -> None:
        self.outline: Outline = {}
        self._patterns = language.fragment
        named = self._patterns.test.match(context.strip())
        self._case: TestCase | None = TestCase(named[1] if named else UNNAMED, 1)
        if not named and self._patterns.other.match(context.strip()):
            self._case = None
        self._pending: str | None = None
        self._is_first = False

    def take(self, line: str, number: int) -> None:
        patterns = self._patterns
        if not line or patterns.comment.match(line):
            return
        is_marker = patterns.disabled.match(line) is not None
        named = patterns.test.match(line)
        suite = patterns.suite.match(line)
        if named or suite:
            name = (named or suite)[1]  # type: ignore[index]
            self._open(TestCase(name, number, line if is_marker else self._pending, is_suite=named is None))
        elif is_marker:
            self._pending = line
        elif patterns.other.match(line):
            self._open(None)
        elif self._case is not None:
            self._take_body(line)

    def close(self) -> None:
        """End the last test; a marker whose test is not shown disables something all the same."""
        self._open(None)
        put(self.outline, TestCase(FOLLOWING, 1, self._pending, is_suite=True))

    def _open(self, case: TestCase | None) -> None:
        if self._case is not None:
            put(self.outline, self._case)
        if case is not None:
            self._pending = None
        self._case, self._is_first = case, case is not None

    def _take_body(self, line: str) -> None:
        case = self._case
        if case is None:
            return
        if self._is_first and self._patterns.first.match(line):
            case.marker = line
        self._is_first = False
        case.statements.add(line)
        if self._patterns.assertion.match(line):
            case.assertions.append(line)
