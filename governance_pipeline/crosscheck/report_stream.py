"""The validator over a report too large to hold: one item at a time, as `govern crosscheck run` lays reports out.

What belongs here: reading that layout (one member or one list item per line, members in the order of the report). What
does not: judging, which is the same as for a small report. A large report of another layout cannot be judged and is
refused; nothing is skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from governance_pipeline.crosscheck import report_shape as shape
from governance_pipeline.crosscheck.report_claims import claim_violations
from governance_pipeline.crosscheck.report_shape import Violation, schema_violations, shape_violations
from governance_pipeline.crosscheck.report_validator import SCHEMA, body_violations
from governance_pipeline.errors import RecordRefused, UnreadableError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator

_AFTER_RECORDS = ("structural_tests", "validation", "guardian")


def streamed_violations(stream: BinaryIO, name: str) -> list[Violation]:
    """Return everything that is wrong with a report, holding its fields, its cases and one record.

    Args:
        stream: the report from its start.
        name: how messages call it.

    Raises:
        UnreadableError: not laid out one item per line, or a line is not JSON; names the line.
    """
    lines = _Lines(stream, name)
    lines.expect(b"{\n")
    document: dict[str, Any] = {member: lines.member(member) for member in ("schema", "check_set")}
    document["fields"] = list(lines.items("fields"))
    if not isinstance(document["check_set"], dict):
        raise lines.refusal("check_set is no object")
    found = list(schema_violations(document, SCHEMA, ""))
    found += body_violations(
        document["check_set"], document["fields"], lines.items("records"), lines.items("escalations")
    )
    document |= {member: lines.member(member) for member in _AFTER_RECORDS}
    lines.expect(b"}\n")
    lines.expect(b"")
    found += shape_violations(document | {"records": [], "escalations": []}, shape.REPORT, "")
    return [*found, *claim_violations(document, {violation.code for violation in found})]


class _Lines:
    """The lines of a report, each read once."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._number = 0

    def expect(self, line: bytes) -> None:
        """Read a line that must be this one; nothing means the end of the file."""
        if self._next() != line:
            raise self.refusal("another line was expected")

    def member(self, name: str) -> Any:
        """Read a member that stands on one line."""
        head, line = f'"{name}":'.encode(), self._next()
        if not line.startswith(head):
            raise self.refusal(f"member {name} was expected")
        return self._value(line[len(head) :])

    def items(self, name: str) -> Iterator[Any]:
        """Read a member that is a list, item by item."""
        line, head = self._next(), f'"{name}":['.encode()
        if line == head + b"],\n":
            return
        if line != head + b"\n":
            raise self.refusal(f"list {name} was expected")
        is_last = False
        while (line := self._next()) != b"],\n":
            if is_last:
                raise self.refusal("a comma is missing")
            is_last = not line.endswith(b",\n")
            yield self._value(line)
        if not is_last:
            raise self.refusal("a list ends with a comma or without an item")

    def refusal(self, why: str) -> UnreadableError:
        """The error that says where the layout ends."""
        return UnreadableError(
            f"{excerpt(self._name)} is larger than {LIMITS.document_bytes} bytes and not laid out one item per line "
            f"as govern crosscheck run writes it: line {self._number}: {why}"
        )

    def _next(self) -> bytes:
        self._number += 1
        line = self._stream.readline(LIMITS.line_bytes + 1)
        if len(line) > LIMITS.line_bytes:
            raise self.refusal(f"longer than {LIMITS.line_bytes} bytes")
        return line

    def _value(self, text: bytes) -> Any:
        try:
            return parse_json(text.removesuffix(b"\n").removesuffix(b","))
        except RecordRefused as refusal:
            raise self.refusal(str(refusal)) from None
