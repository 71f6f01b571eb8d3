"""Which format a file has, decided by what is in it.

What belongs here: making the sample a format looks at, and asking the formats in turn. What does not: reading the
file (formats) and the native files, which are what they are by their place (`native`).

A file can be read in two ways when its only line is a whole JSON value; then both are offered, and the name only
decides which is offered first. A YAML list of rows is offered as the document it is. Nothing is guessed: what no
format claims stays unread, with its reason.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.logfile import Sample
from governance_pipeline.ingest.veiled_json import begins_like_json, is_tar, veil_of
from governance_pipeline.strict.archive import BEGINNINGS, open_archive
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.json_text import BOM, WHITESPACE
from governance_pipeline.strict.limits import LIMITS, Limits
from governance_pipeline.strict.records import Accepted, Blank, Refused, read_json_document, read_json_lines
from governance_pipeline.strict.yaml_text import looks_like_yaml_rows, read_yaml_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.logformat import LogFormat

SAMPLE_VALUES: Final = 20
"""Values a format sees of a JSONL file: enough to pass the summary and permission lines sessions begin with."""

SAMPLE_LINES: Final = 200
"""Lines with text looked at for them, so that a file of something else is given up soon."""

HEAD_BYTES: Final = 4_096
LINE_SUFFIXES: Final = (".jsonl", ".ndjson")
UNSUPPORTED: Final = "unsupported_format"
EMPTY: Final = "empty"


class Detected(NamedTuple):
    """What a file is: `format` is None when no format claims it, and then `reason` says why.

    `offset` is the byte where the strict reader gave up (0 when it did not), `head` the escaped beginning.
    """

    sample: Sample
    format: LogFormat | None
    reason: str | None
    offset: int
    head: str


def detect(path: str, copy: Path, formats: Sequence[LogFormat], limits: Limits = LIMITS) -> Detected:
    """Find the first of `formats` that claims the file; `path` is its name, `copy` what is opened.

    A file that looks like JSON, or like YAML rows, and cannot be parsed has the strict reader's code as its reason, a
    file without any text `empty`, a zip archive that is not read the code of `strict.archive`, JSON that is packed
    `compressed`, in a tar `tar_archive` and in UTF-16 or UTF-32 `not_utf8`, every other unclaimed file
    `unsupported_format`.

    Raises:
        UnreadableError: the file cannot be opened.
    """
    with open_regular(copy) as stream:
        head = stream.read(HEAD_BYTES)
    if head.startswith(BEGINNINGS):
        return _detect_archive(path, copy, excerpt(head), formats, limits)
    samples, refusal = ([], None) if is_tar(head) else _samples(path, copy, head, limits)
    for sample in samples:
        for candidate in formats:
            if candidate.detect(sample):
                return Detected(sample, candidate, None, 0, excerpt(head))
    text = "" if samples or is_tar(head) else _first_lines(head)
    for candidate in formats if text else ():
        claims = getattr(candidate, "detect_text", None)
        if claims is not None and claims(text):
            return Detected(Sample(path, "text", ()), candidate, None, 0, excerpt(head))
    reason, offset = (refusal.code, refusal.stopped_at) if refusal else (veil_of(head, copy) or UNSUPPORTED, 0)
    return Detected(Sample(path, "other", ()), None, reason, offset, excerpt(head))


def _detect_archive(path: str, copy: Path, head: str, formats: Sequence[LogFormat], limits: Limits) -> Detected:
    """Find the first format that claims a zip archive by one of its members."""
    reason, offset = UNSUPPORTED, 0
    try:
        with open_archive(copy, limits) as archive:
            for candidate in formats:
                claims = getattr(candidate, "detect_archive", None)
                value = None if claims is None else claims(archive)
                if value is not None:
                    return Detected(Sample(path, "archive", (value,)), candidate, None, 0, head)
    except RecordRefused as refusal:
        reason, offset = refusal.code, refusal.offset
    return Detected(Sample(path, "other", ()), None, reason, offset, head)


def _samples(path: str, copy: Path, head: bytes, limits: Limits) -> tuple[list[Sample], Refused | None]:
    """Give the ways to read a file, likeliest first, and why it is no document where it looks like one."""
    entries = (entry for entry in read_json_lines(copy, limits) if not isinstance(entry, Blank))
    first = next(entries, None)
    if first is None:
        return [], Refused(None, 0, EMPTY, "", 0)
    if isinstance(first, Refused) and looks_like_yaml_rows(head):
        rows = read_yaml_document(copy)
        return ([], rows) if isinstance(rows, Refused) else ([Sample(path, "document", (rows.value,))], None)
    refusal = None
    if isinstance(first, Refused) and head.removeprefix(BOM).lstrip(WHITESPACE).startswith((b"{", b"[")):
        document = read_json_document(copy, limits)  # asked first: every line of an indented one would be refused
        if isinstance(document, Accepted):
            return [Sample(path, "document", (document.value,))], None
        refusal = document if begins_like_json(head) else None
    values, is_single = _first_values(first, entries)
    as_lines = [Sample(path, "jsonl", values)] if values else []
    if not is_single or not values:
        return as_lines, refusal
    both = [Sample(path, "document", values), *as_lines]
    return (both[::-1] if path.endswith(LINE_SUFFIXES) else both), refusal


def _first_lines(head: bytes) -> str:
    """Give the first lines of a file as text, without one that goes on beyond the head; empty where it is no text."""
    lines = head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1]
    try:
        return lines.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        return ""


def _first_values(
    first: Accepted | Refused, rest: Iterator[Accepted | Refused]
) -> tuple[tuple[dict[str, Any] | list[Any], ...], bool]:
    """Give the first objects and arrays among the lines, and whether the first line is the only one."""
    values: list[dict[str, Any] | list[Any]] = []
    seen = 0
    for seen, entry in enumerate(chain((first,), rest), 1):
        if seen > SAMPLE_LINES or len(values) == SAMPLE_VALUES:
            break
        if isinstance(entry, Accepted) and isinstance(entry.value, dict | list):
            values.append(entry.value)
    return tuple(values), seen == 1
