"""A file of confidence lines: its registry, the events that keep every rule of form, and the lines that do not.

What belongs here: line by line, nothing lost; equal and conflicting ids. What does not: what an event does to a score
(`fold`). Source: spec/confidence.md §12.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from governance_pipeline.confidence.event import Line, Refused
from governance_pipeline.confidence.event_form import LineRefused, read_event, refused_id
from governance_pipeline.confidence.registry import REGISTRY_SCHEMA, Registry
from governance_pipeline.confidence.terms import RefusalReason
from governance_pipeline.strict.files import open_regular, open_size, refusal_of
from governance_pipeline.strict.json_text import BOM
from governance_pipeline.strict.limits import LIMITS
from governance_pipeline.strict.lines import Line as TextLine
from governance_pipeline.strict.lines import split_lines
from governance_pipeline.strict.records import Accepted, Blank, judge_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PIECE = 2**20


class Lines(NamedTuple):
    """What a file holds.

    Attributes:
        registry: the merged registry lines.
        events: lines that are events, in the order of the file, ids unique.
        refused: every other line that is not blank, with its reason, in the order of the file.
        registry_lines: how many registry lines there are.
    """

    registry: Registry
    events: list[Line]
    refused: list[Refused]
    registry_lines: int

    @property
    def lines(self) -> int:
        """Lines that are not blank."""
        return self.registry_lines + len(self.events) + len(self.refused)


class _Read(NamedTuple):
    """A line that is one JSON object; number in the file, digest of its bytes."""

    number: int
    sha256: str
    value: dict[str, Any]


def read_lines(path: Path) -> Lines:
    """Read a file of registry and event lines.

    Registry lines may stand anywhere, so the events are judged when all are known.

    Raises:
        FileRefused: the file cannot be opened or read.
        UsageError: a registry line is broken or contradicts another one.
    """
    registry, registry_lines = Registry(), 0
    found: list[_Read] = []
    refused: list[Refused] = []
    for item in _objects(path):
        if isinstance(item, Refused):
            refused.append(item)
        elif item.value.get("schema") == REGISTRY_SCHEMA:
            registry.add(item.value, f"{path.name}, line {item.number}")
            registry_lines += 1
        else:
            found.append(item)
    registry.check()
    events: list[Line] = []
    for item in found:
        judged = judge(item.value, item.sha256, registry)
        (events if isinstance(judged, Line) else refused).append(judged)  # type: ignore[arg-type]
    kept, repeated = _unique(events)
    return Lines(registry, kept, [*refused, *repeated], registry_lines)


def judge(value: dict[str, Any], sha256: str, registry: Registry) -> Line | Refused:
    """Judge one object by everything but earlier events."""
    try:
        return Line(read_event(value, registry), sha256)
    except LineRefused as refusal:
        return Refused(refused_id(value), refusal.reason, refusal.field, sha256)


def _unique(lines: list[Line]) -> tuple[list[Line], list[Refused]]:
    """Part lines with an id of their own from those that repeat one."""
    by_id: dict[str, list[Line]] = {}
    for line in lines:
        by_id.setdefault(line.event.event_id, []).append(line)
    kept, refused = [], []
    for event_id, same in by_id.items():
        if len(same) == 1:
            kept.append(same[0])
            continue
        if len({line.event.canonical for line in same}) == 1:
            first = min(same, key=lambda line: line.sha256)
            kept.append(first)
            reason = RefusalReason.DUPLICATE_EVENT_ID
            same.remove(first)
        else:
            reason = RefusalReason.CONFLICTING_EVENT_ID
        refused += [Refused(event_id, reason, None, line.sha256) for line in same]
    return kept, refused


def _objects(path: Path) -> Iterator[_Read | Refused]:
    with open_regular(path) as stream:
        size = open_size(stream)
        try:
            for line in split_lines(stream, LIMITS.line_bytes + len(BOM) + 1, size=size):
                judged = judge_line(line)
                if judged is None or isinstance(judged, Blank):
                    continue
                if isinstance(judged, Accepted) and isinstance(judged.value, dict):
                    yield _Read(line.number, hashlib.sha256(judged.raw).hexdigest(), judged.value)
                    continue
                digest = _digest(stream, judged.offset, size) if line.too_long else _digest_of(line)
                yield Refused(None, RefusalReason.MALFORMED_LINE, None, digest)
        except OSError as error:
            raise refusal_of(error, path) from None


def _digest_of(line: TextLine) -> str:
    data = line.data.removeprefix(BOM) if line.number == 1 else line.data
    return hashlib.sha256(data.removesuffix(b"\r") if line.ended else data).hexdigest()


def _digest(stream: BinaryIO, offset: int, size: int) -> str:
    """Digest a line that is too long to hold, read a second time piece by piece."""
    digest, held = hashlib.sha256(), b""
    while offset < size:
        piece = os.pread(stream.fileno(), min(_PIECE, size - offset), offset)
        if not piece:
            break
        offset += len(piece)
        content, end, _ = piece.partition(b"\n")
        held += content
        if end:
            held = held.removesuffix(b"\r")
            break
        digest.update(held[:-1])
        held = held[-1:]  # a carriage return belongs to the line end only if a line feed follows
    digest.update(held)
    return digest.hexdigest()
