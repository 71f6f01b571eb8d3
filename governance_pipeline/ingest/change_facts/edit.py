"""What a log shows of the content of a changed file, and the facts of a run's changes in their order.

What belongs here: the ways a log shows content, and following a file through the edits of one run: what was written
whole and then edited is known whole. What does not: which log shows what (formats). A content is followed only as long
as nothing else may have touched the file: an edit whose old text is not there, or a shell command that names it, ends
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.fact import ChangeFact
from governance_pipeline.ingest.change_facts.facts import NO_CONTENT, Part, facts, no_facts, part_facts
from governance_pipeline.ingest.change_facts.frameworks import language_of
from governance_pipeline.ingest.change_facts.outline import WHOLE_FILE
from governance_pipeline.ingest.change_facts.parsing import parse_state
from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.vocabulary import ChangeAspect, FactKind

if TYPE_CHECKING:
    from collections.abc import Sequence

OVERWRITTEN: Final = "text_before_unknown"


@dataclass(frozen=True)
class Edit:
    """What a log shows of one change.

    Attributes:
        before: whole content before; None when the log does not show it or there was none.
        after: whole content after; None when the log does not show it or the file is gone.
        is_created: there was no such file before.
        is_deleted: there is none any more.
        replaced: text and what took its place, each time it occurs when `is_everywhere`.
        parts: the parts that changed, whole lines.
        before_path: path before a rename.
    """

    before: str | None = None
    after: str | None = None
    is_created: bool = False
    is_deleted: bool = False
    replaced: tuple[str, str] | None = None
    is_everywhere: bool = False
    parts: tuple[Part, ...] = ()
    before_path: str | None = None


def written(content: str, before: str | None = None, *, is_created: bool = False) -> Edit:
    """A file written whole."""
    return Edit(before=before, after=content, is_created=is_created)


def removed(content: str | None = None) -> Edit:
    """A file that was deleted."""
    return Edit(before=content, is_deleted=True)


def swapped(old: str, new: str, before: str | None = None, *, is_everywhere: bool = False) -> Edit:
    """A text of the file that was replaced by another."""
    return Edit(before=before, replaced=(old, new), is_everywhere=is_everywhere)


def inserted(content: str) -> Edit:
    """Lines that were put into the file."""
    return Edit(parts=(Part((), tuple(content.split("\n"))),))


def all_swapped(pairs: Sequence[tuple[str, str]]) -> Edit:
    """Several texts of the file that were replaced, one after the other."""
    return Edit(parts=tuple(part for old, new in pairs for part in _parts(old, new)))


def signed(lines: Sequence[str], context: str = "") -> Part:
    """A part written as a diff writes it: each line with its sign."""
    before = tuple(line[1:] for line in lines if line[:1] in ("", " ", "-"))
    after = tuple(line[1:] for line in lines if line[:1] in ("", " ", "+"))
    return Part(before, after, context)


class Contents:
    """Contents of the files of one run, as far as its log shows them."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

    def ran(self, command: str | None) -> None:
        """A command ran that may have changed files: those it names, or all when nobody knows what it was."""
        if command is None:
            self._known.clear()
        for path in [path for path in self._known if path.rpartition("/")[2] in (command or "")]:
            del self._known[path]

    def facts(self, path: str, edit: Edit | None) -> list[ChangeFact]:
        """Give the facts of the next change of the run, and remember what the file holds after it."""
        if not no_facts(path, NO_CONTENT):
            return []
        name = normal_form(path)
        if edit is None:
            self._known.pop(name, None)
            return no_facts(path, NO_CONTENT)
        is_known, before = self._before(name, edit)
        after = _after(edit, before)
        if edit.before_path is not None:
            self._known.pop(normal_form(edit.before_path), None)
        if after is None and not edit.is_deleted:
            self._known.pop(name, None)
            return part_facts(edit.parts or _parts(*(edit.replaced or ("", ""))), path)
        self._known[name] = after
        if not is_known:
            return _without_before(after, path)
        return facts(_bytes(before), _bytes(after), path, edit.before_path)

    def _before(self, name: str, edit: Edit) -> tuple[bool, str | None]:
        """Tell whether the content before is known, and what it was: None of no file."""
        if edit.is_created:
            return True, None
        if edit.before is not None:
            return True, edit.before
        return name in self._known, self._known.get(name)


def _after(edit: Edit, before: str | None) -> str | None:
    if edit.is_deleted or edit.after is not None:
        return edit.after
    if edit.replaced is None or before is None:
        return None
    old, new = edit.replaced
    count = before.count(old) if old else 0
    if count == 0 or (count > 1 and not edit.is_everywhere):
        return None
    return before.replace(old, new)


def _without_before(after: str | None, path: str) -> list[ChangeFact]:
    """What can be said of a file that was written, or deleted, and nobody knows what it held."""
    language = language_of(path)
    if after is None and language is not None and language.is_named_test(path):
        return [ChangeFact(FactKind.TEST_REMOVED, WHOLE_FILE)]
    others = [fact for fact in no_facts(path, OVERWRITTEN) if fact.subject != ChangeAspect.PARSING]
    return [*parse_state(None, _bytes(after), path), *others]


def _parts(old: str, new: str) -> tuple[Part, ...]:
    """The lines of two texts that may begin or end inside a line; a half line reads like a whole one."""
    if not old and not new:
        return ()
    return (Part(tuple(old.split("\n")), tuple(new.split("\n"))),)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")
