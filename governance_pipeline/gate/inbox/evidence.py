"""The lines of a log a claim points to, from the copy the lake keeps of it.

What belongs here: a few lines around a number, safe to show. What does not: the whole file, and any format.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import UsageError
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

AROUND: Final = 3
"""Lines shown before and after the one that is meant."""
LINE_CHARACTERS: Final = 4000
"""Most that is shown of a line; what is left away is said."""
SEARCHED_BYTES: Final = 256 * 1024 * 1024
"""Most of a file that is read to find a line."""
_BLOCK: Final = 1024 * 1024


class EvidenceLine(NamedTuple):
    """One line: its number, its text made safe, and whether it is the one that is meant."""

    number: int
    text: str
    is_meant: bool


def evidence_lines(lake: Path, sha256: str, line: int) -> list[EvidenceLine]:
    """Give the lines around one of a stored log, hashed again before it is shown.

    Raises:
        StorageError: the lake holds no such copy, or it is damaged.
        UsageError: the file has no such line, or it lies beyond what is searched.
    """
    path = ContentStore(lake).verify(sha256)
    first = max(line - AROUND, 1)
    with open_regular(path) as stream:
        found = list(islice(_lines(stream), first - 1, line + AROUND))
    if len(found) <= line - first:
        raise UsageError(f"the file has no line {line} in its first {SEARCHED_BYTES // 1024 // 1024} MiB")
    return [EvidenceLine(n, excerpt(data, LINE_CHARACTERS), n == line) for n, data in enumerate(found, first)]


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield lines, each cut to what can be shown: a log may be one line of a gigabyte."""
    kept, most = bytearray(), LINE_CHARACTERS * 4
    has_any = False
    for _ in range(SEARCHED_BYTES // _BLOCK):
        block = stream.read(_BLOCK)
        if not block:
            break
        *whole, rest = block.split(b"\n")
        for piece in whole:
            yield bytes(kept + piece[: most - len(kept)])
            kept.clear()
        kept += rest[: most - len(kept)]
        has_any = bool(rest)
    if has_any:
        yield bytes(kept)
