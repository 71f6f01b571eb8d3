"""Where a value stands: file, record and pointer, small enough to be kept until a whole session has been read.

What belongs here: addresses. What does not: the values; keeping a record would keep its bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.ingest.logfile import LogFile, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.ingest.extraction import Extraction


class Place(NamedTuple):
    """One value of a log: `pointer` is the whole RFC 6901 pointer in the line or document."""

    file: LogFile
    record: Record
    pointer: str

    @classmethod
    def of(cls, file: LogFile, record: Record, below: str = "") -> Place:
        """Make the place of a value `below` a record, without keeping what the record holds."""
        return cls(file, Record(record.line, record.pointer, None, record.offset, None), record.pointer + below)

    def below(self, pointer: str) -> Place:
        """Give the place of a value further down."""
        return self._replace(pointer=self.pointer + pointer)

    def record_of(self, value: Any) -> Record:
        """Give the value that stands here as a record of its own."""
        return Record(self.record.line, self.pointer, value, self.record.offset, None)

    @property
    def address(self) -> str:
        """``path:line`` of a whole line, ``path:pointer`` in a document, ``path:line:pointer`` inside a line."""
        line = [] if self.record.line is None else [str(self.record.line)]
        pointer = [] if line and not self.pointer else [self.pointer]
        return ":".join([self.file.path, *line, *pointer])

    def add(self, out: Extraction, table: str, **row: Any) -> None:
        """Add a row that was found here."""
        out.add(table, self.file, self.record, self.pointer, **row)


def records(file: LogFile) -> Iterator[Record]:
    """Give the lines of a file, or its one document: a file with one line can be either."""
    if file.record_unit == "line":
        yield from file.lines()
    elif (document := file.document()) is not None:
        yield document


def escaped(member: str) -> str:
    """Write a member name as one step of a pointer."""
    return "/" + member.replace("~", "~0").replace("/", "~1")


def value_at(value: Any, pointer: str) -> Any:
    """Give what a pointer names inside a value; the pointer must be one of that value."""
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step.replace("~1", "/").replace("~0", "~")]
    return value
