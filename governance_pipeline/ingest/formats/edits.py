"""How many lines a change added and deleted: from two texts, or from a unified diff.

What belongs here: counting lines. What does not: which tool of which format made the change. A count that cannot be
known is None: a binary file, a diff that breaks off, texts too long to compare.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.ingest.change_facts.edit import Edit, removed, signed, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.change_facts.facts import Part

COMPARED_LINES_PRODUCT: Final = 4 * 10**8
"""Lines of the one text times lines of the other up to which they are compared: 20,000 each takes about a second."""

_HUNK: Final = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@ ?(.*)", re.ASCII)
_ESCAPE: Final = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_ESCAPED: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
NOWHERE: Final = "/dev/null"


class LineCounts(NamedTuple):
    """Lines added and lines deleted; None = unknown."""

    added: int | None
    deleted: int | None


class FileDelta(NamedTuple):
    """One file of a patch; `edit` is what the patch shows of its content, None when it breaks off."""

    path: str
    counts: LineCounts
    edit: Edit | None = None


UNKNOWN: Final = LineCounts(None, None)


def lines_of(content: str) -> list[str]:
    """Split a text into its lines; a final line end does not begin another line."""
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def created(content: str) -> LineCounts:
    """Count the lines of a new file."""
    return LineCounts(len(lines_of(content)), 0)


def replaced(old: str, new: str) -> LineCounts:
    """Count the lines of the smallest line diff that turns `old` into `new`.

    The texts may be fragments of a file. One that begins or ends inside a line is counted as if that were a line.
    """
    before, after = lines_of(old), lines_of(new)
    start = _shared(before, after)
    before, after = before[start:], after[start:]
    end = _shared(before[::-1], after[::-1])
    before, after = before[: len(before) - end], after[: len(after) - end]
    if len(before) * len(after) > COMPARED_LINES_PRODUCT:
        return UNKNOWN
    kept = _longest_common(before, after) if before and after else 0
    return LineCounts(len(after) - kept, len(before) - kept)


def total(parts: Sequence[LineCounts]) -> LineCounts:
    """Add counts up; one unknown part makes the sum unknown, not smaller."""
    added = [part.added for part in parts]
    deleted = [part.deleted for part in parts]
    return LineCounts(
        None if None in added else sum(count or 0 for count in added),
        None if None in deleted else sum(count or 0 for count in deleted),
    )


def hunk_lines(lines: Sequence[object]) -> LineCounts:
    """Count the lines of a hunk by their first character."""
    texts = [line for line in lines if isinstance(line, str)]
    return LineCounts(sum(line.startswith("+") for line in texts), sum(line.startswith("-") for line in texts))


def patch_files(patch: str) -> list[FileDelta]:
    """Read a unified diff (git's, or plain) into one entry per file; empty when the text is no diff.

    Hunks are read by their declared lengths, so a deleted line that reads ``-- a`` is not taken for a header. A hunk
    that breaks off makes the counts of its file unknown; only context missing at the very end is let pass, because
    submissions are stored with their trailing blanks cut.
    """
    lines = patch.replace("\r\n", "\n").split("\n")
    files: list[_PatchedFile] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            files.append(_PatchedFile(header=line.removeprefix("diff --git ")))
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            if not files or files[-1].is_named:
                files.append(_PatchedFile())
            files[-1].name(line[4:], lines[at + 1][4:])
            at += 1
        elif files:
            at = files[-1].take(lines, at)
        at += 1
    return [FileDelta(file.path, file.counts, file.edit) for file in files if file.path]


@dataclass
class _PatchedFile:
    header: str = ""
    old: str = ""
    new: str = ""
    added: int = 0
    deleted: int = 0
    is_named: bool = False
    is_unknown: bool = False
    parts: list[Part] = field(default_factory=list)

    @property
    def edit(self) -> Edit | None:
        if self.is_unknown:
            return None
        first = self.parts[0] if len(self.parts) == 1 else None
        if self.old == NOWHERE and first is not None:
            return written("\n".join(first.after) + "\n", is_created=True)
        if self.new == NOWHERE:
            return removed(None if first is None else "\n".join(first.before) + "\n")
        renamed_from = self.old if self.new and self.old not in (self.new, NOWHERE, "") else None
        return Edit(parts=tuple(self.parts), before_path=renamed_from)

    @property
    def path(self) -> str:
        if self.new and self.new != NOWHERE:
            return self.new
        return self.old if self.old and self.old != NOWHERE else _path_of_header(self.header)

    @property
    def counts(self) -> LineCounts:
        return UNKNOWN if self.is_unknown else LineCounts(self.added, self.deleted)

    def name(self, old: str, new: str) -> None:
        self.is_named = True
        self.old, self.new = _path(old, "a/"), _path(new, "b/")

    def take(self, lines: Sequence[str], at: int) -> int:
        """Read what stands at `at`; give the last line that belongs to it."""
        line = lines[at]
        if line.startswith("rename to "):
            self.new = _path(line.removeprefix("rename to "), "")
        elif line.startswith(("Binary files ", "GIT binary patch")):
            self.is_unknown = True
        elif match := _HUNK.match(line):
            old, new = (1 if length is None else int(length) for length in match.groups()[:2])
            end = self._take_hunk(lines, at, old, new)
            self.parts.append(signed([line for line in lines[at + 1 : end + 1] if line[:1] != "\\"], match[3]))
            return end
        return at

    def _take_hunk(self, lines: Sequence[str], at: int, old: int, new: int) -> int:
        while old > 0 or new > 0:
            sign = lines[at + 1][:1] if at + 1 < len(lines) else None
            if sign is None or sign not in ("", " ", "+", "-", "\\"):
                self.is_unknown |= sign is not None or old != new
                return at
            self.added += sign == "+"
            self.deleted += sign == "-"
            old -= sign in ("", " ", "-")
            new -= sign in ("", " ", "+")
            at += 1
        return at


def _path(name: str, prefix: str) -> str:
    if name.startswith('"'):
        return _unquoted(name).removeprefix(prefix)
    return name.partition("\t")[0].strip().removeprefix(prefix)


def _path_of_header(header: str) -> str:
    """Read ``a/P b/P``, whose P may hold blanks; a rename has its own line, so both are the same P."""
    half = len(header) // 2
    if header[:half].removeprefix("a/") == header[half + 1 :].removeprefix("b/"):
        return _path(header[half + 1 :], "b/")
    return _path(header.rpartition(" ")[2], "b/")


def _unquoted(name: str) -> str:
    """Undo git's quoting: bytes outside ASCII are three octal digits."""
    raw = name[1:].partition('"')[0] if "\\" not in name else name[1:].rstrip().removesuffix('"')
    data = _ESCAPE.sub(lambda m: _ESCAPED.get(m[1]) or (bytes([int(m[1], 8) & 255]) if m[1].isdigit() else m[1]),
                       raw.encode())  # fmt: skip
    return data.decode(errors="backslashreplace")


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _longest_common(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence, one bit per line.

    Source: Crochemore et al., A fast and practical bit-vector algorithm for the longest common subsequence problem,
    Inf. Process. Lett. 80 (2001). Work is lines times lines over the width of a machine word and does not depend on
    what the lines hold, unlike difflib, whose worst case a hostile log could choose.
    """
    if len(left) > len(right):
        left, right = right, left
    places: dict[str, int] = {}
    for index, line in enumerate(left):
        places[line] = places.get(line, 0) | 1 << index
    full = (1 << len(left)) - 1
    row = full
    for line in right:
        matched = row & places.get(line, 0)
        row = (row + matched | row - matched) & full
    return len(left) - row.bit_count()
