"""One file of a round while it is being read: hands out records and keeps the account of all of them.

What belongs here: the counts of `raw_log_files` and the rows of `raw_quarantine` of one file. What does not: which
format a file has (detection) and what a record means (formats).

The account is kept where records leave the reader, so a format cannot lose one: whatever it does not take back with
`quarantine` or `duplicate` counts as accepted, and `close` counts what it never asked for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.accounting import Account
from governance_pipeline.ingest.rejections import Rejections, Repetition
from governance_pipeline.strict.archive import open_archive
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular, open_size
from governance_pipeline.strict.limits import LIMITS, Limits
from governance_pipeline.strict.lines import HEAD_BYTES, SET_BYTES
from governance_pipeline.strict.records import (
    Accepted,
    Blank,
    Refused,
    json_line_blocks,
    judge_line,
    read_json_document,
    read_json_lines,
    read_text_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from governance_pipeline.strict.lines import Block, Line

NOT_READ = "not_read"


class Sample(NamedTuple):
    """What detection looks at.

    `shape` is "jsonl" (values: the first usable ones, at most 20), "document" (values: the one document, whole),
    "text" (no values; plain lines that a format knows by how they begin), "archive" (values: the document of a zip
    archive that describes it) or "other" (no values). `path` is a hint only: no format may decide by it alone.
    """

    path: str
    shape: str
    values: tuple[Any, ...]


class Record(NamedTuple):
    """One record: a physical line (from 1), a whole document, or an item at `pointer` (RFC 6901) inside one."""

    line: int | None
    pointer: str
    value: Any
    offset: int | None
    raw: bytes | None


@dataclass
class LogFile:
    """One file of a round, read from its stored copy.

    `path` is its name below the round folder with POSIX separators, `copy` the content-addressed copy that is
    opened, `size` is in bytes.
    """

    path: str
    sha256: str
    size: int
    sample: Sample = field(repr=False)
    copy: Path
    limits: Limits = LIMITS
    format_version: str | None = None
    account: Account = field(default_factory=Account)
    _counted: set[str] = field(default_factory=set, repr=False)
    _passed_to: int = field(default=0, repr=False)
    _document: Record | None = field(default=None, repr=False)
    _is_read: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        self.rejections = Rejections(self.copy.parent)

    @property
    def rejected(self) -> list[dict[str, Any]]:
        """Rows of `raw_quarantine` of this file, without round and format, those that are packed left out."""
        return self.rejections.rows

    @property
    def record_unit(self) -> str:
        """What `account.lines_in` counts: "line" of a JSONL file, "record" of a document or an archive."""
        return "record" if self.sample.shape in ("document", "archive") else "line"

    def lines(self) -> Iterator[Record]:
        """Yield one record per usable line of a JSONL file.

        Refused and blank lines are accounted for and never yielded. May be called again: a later pass counts nothing
        twice and leaves out the records that were taken back in between.

        Raises:
            UnreadableError: the stored copy cannot be opened.
        """
        yield from self._accounted(read_json_lines(self.copy, self.limits))
        self._is_read = True

    def blocks(self, block_bytes: int = SET_BYTES) -> Iterator[Block | Line]:
        """Yield the lines of a JSONL file in blocks, and some by themselves, for a format that judges them as sets.

        Nothing is accounted for: every line must be given to `judge` or counted with `count_lines`, in order. Raises as
        `lines`.
        """
        with open_regular(self.copy) as stream:
            yield from json_line_blocks(stream, self.limits, size=open_size(stream), block_bytes=block_bytes)
        self._is_read, self._passed_to = True, self.account.lines_in

    def judge(self, line: Line) -> Record | None:
        """Judge one line as `lines` does and account for it; None when there is no record to use."""
        judged = judge_line(line, self.limits)
        self._passed_to = line.number - 1
        return None if judged is None else next(self._accounted([judged]), None)

    def count_lines(self, *, accepted: int = 0, blank: int = 0) -> None:
        """Account for lines that were judged as a set."""
        self.account.lines_in += accepted + blank
        self.account.accepted += accepted
        self.account.blank += blank

    def text_lines(self) -> Iterator[Record]:
        """Yield one record per line of a file of plain text, its value being the text of the line; else as `lines`."""
        yield from self._accounted(read_text_lines(self.copy, self.limits))
        self._is_read = True

    def members(self) -> Iterator[Record]:
        """Yield one record per member of a zip archive that is a JSON document, read one at a time.

        Its pointer names the member: an archive is read as an object of documents by name. Refused members are
        accounted for and never yielded. May be called again, as `lines`.

        Raises:
            UnreadableError: the stored copy cannot be opened, or is no archive.
        """
        with open_archive(self.copy, self.limits) as archive:
            for member in archive.members:
                pointer = "/" + member.name.replace("~", "~0").replace("/", "~1")
                is_new = pointer not in self._counted
                self._counted.add(pointer)
                self.account.lines_in += is_new
                try:
                    record = Record(None, pointer, archive.read_json(member), member.offset, None)
                except RecordRefused as refusal:
                    if is_new:
                        self._refuse(Refused(None, member.offset, refusal.code, excerpt(str(refusal)), 0), pointer)
                    continue
                self.account.accepted += is_new
                if not self.rejections.is_taken(None, pointer):
                    yield record
        self._is_read = True

    def document(self) -> Record | None:
        """Give the whole file as one record; None when the strict reader refused it (already accounted for).

        It counts as one record until `items` is called with at least one value; then the items count instead.

        Raises:
            UnreadableError: the stored copy cannot be opened.
        """
        if not self._is_read:
            self._is_read = True
            self._document = self._read_document()
            if self._document is not None:
                self._count(1)
        return self._document

    def items(self, values: Sequence[Any], pointer: str) -> Iterator[Record]:
        """Give the records inside a document: `values` is the list found at `pointer`.

        All of them are counted at once, and once per pointer however often it is asked for.

        Raises:
            ValueError: the file is JSONL, whose records are its lines; a format that counts otherwise is wrong.
        """
        if self.record_unit == "line":
            raise ValueError(f"{self.path} is JSONL: its records are its lines, not the items at {pointer!r}")
        self.document()
        if pointer not in self._counted and values:
            if not self._counted and not self.rejections.is_taken(None, ""):
                self._count(-1)
            self._counted.add(pointer)
            self._count(len(values))
        records = (Record(None, f"{pointer}/{index}", value, None, None) for index, value in enumerate(values))
        return (record for record in records if not self.rejections.is_taken(None, record.pointer))

    def quarantine(self, record: Record, code: str) -> None:
        """Take a record back out of `accepted`, for the reason `code`; a second reason for it changes nothing."""
        if self._take(record):
            self.account.quarantined += 1
            self._reject(record, code)

    def duplicate(self, record: Record, code: str, repeats: Repetition) -> None:
        """Take a record back out of `accepted` as the repetition of another one."""
        if self._take(record):
            self.account.duplicates += 1
            self._reject(record, code, repeats)

    def repeated_part(self, part: Record, code: str, repeats: Repetition) -> None:
        """Note a part of a record that repeats another one, while the record itself is used; a second note is none."""
        if not self.rejections.is_taken(part.line, part.pointer):
            self.rejections.take(part.line, part.pointer)
            self._reject(part, code, repeats, is_part=True)

    def state_version(self, text: str) -> None:
        """Set the version the file states of its own format."""
        self.format_version = text

    def close(self) -> None:
        """Account for what the format never asked for, as quarantined with the code `not_read`."""
        if self.sample.shape == "document":
            self.document()
            return
        if self.sample.shape == "archive":
            for record in () if self._is_read else self._unread_members():
                self.quarantine(record, NOT_READ)
            return
        passed = self._passed_to
        lines = self.text_lines if self.sample.shape == "text" else self.lines
        for record in () if self._is_read else lines():
            if record.line is not None and record.line > passed:
                self.quarantine(record, NOT_READ)

    def _unread_members(self) -> Iterator[Record]:
        known = frozenset(self._counted)
        return (record for record in self.members() if record.pointer not in known)

    def _accounted(self, entries: Iterable[Accepted | Refused | Blank]) -> Iterator[Record]:
        for entry in entries:
            number = entry.line or 0
            is_new = number > self._passed_to
            if is_new:
                self.account.lines_in += number - self._passed_to  # a line the reader jumped over unbalances it
                self._passed_to = number
            if isinstance(entry, Blank):
                self.account.blank += is_new
            elif isinstance(entry, Refused):
                if is_new:
                    self._refuse(entry)
            else:
                self.account.accepted += is_new
                if not self.rejections.is_taken(entry.line, ""):
                    yield Record(entry.line, "", entry.value, entry.offset, entry.raw)

    def _read_document(self) -> Record | None:
        if self.sample.shape == "document" and self.sample.values:
            return Record(None, "", self.sample.values[0], 0, None)
        entry = read_json_document(self.copy, self.limits)
        if isinstance(entry, Refused):
            self.account.lines_in += 1
            self._refuse(entry)
            return None
        return Record(None, "", entry.value, entry.offset, entry.raw)

    def _count(self, records: int) -> None:
        self.account.lines_in += records
        self.account.accepted += records

    def _take(self, record: Record) -> bool:
        if self.rejections.is_taken(record.line, record.pointer):
            return False
        self.rejections.take(record.line, record.pointer)
        if (record.line, record.pointer) == (None, "") and self._counted:
            self.account.lines_in += 1  # the document itself is refused beside its items
        else:
            self.account.accepted -= 1
        return True

    def _refuse(self, entry: Refused, pointer: str = "") -> None:
        self.account.quarantined += 1
        offset = entry.stopped_at if entry.line is None and not pointer else entry.offset
        self.rejections.add(entry.line, pointer, offset, entry.code, entry.excerpt)

    def _reject(self, what: Record, code: str, repeats: Repetition | None = None, *, is_part: bool = False) -> None:
        shown = self._excerpt(what)
        self.rejections.add(what.line, what.pointer, what.offset, code, shown, repeats=repeats, is_part=is_part)

    def _excerpt(self, record: Record) -> str:
        if record.raw is not None:
            return excerpt(record.raw)
        if record.pointer:
            return excerpt(json.dumps(record.value, ensure_ascii=False))
        with open_regular(self.copy) as stream:
            return excerpt(stream.read(HEAD_BYTES))
