"""The bounds under which hostile bytes are read.

What belongs here: sizes and counts beyond which the reader refuses a record. What does not: thresholds of the
audit itself (settings). A bound is never reached by cutting: what exceeds it is refused whole and accounted for.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one read; each is the largest value that is still accepted.

    Attributes:
        line_bytes: bytes of one line without its line end; 16 MiB (spec/ingest.md §5). Bounds the memory a reader
            holds, whatever the size of the file.
        depth: levels of arrays and objects; 64 (spec/ingest.md §5). Well below the level where parsers of peers
            give up (128 in DuckDB's sampler, 1,000 in Python), so all readers see the same documents.
        keys: members of objects in one record, all levels added; 10,000 (spec/ingest.md §5).
        document_bytes: bytes of a file that is one JSON document; 512 MiB. Such a file must be held as a whole,
            so this bound, not the line bound, limits it.
        document_keys: members of objects in a file that is one JSON document, all levels added; 10 million. A
            trajectory or an evaluation result is thousands of records in one value, so the bound per record does
            not fit it.
    """

    line_bytes: int = 16 * 2**20
    depth: int = 64
    keys: int = 10_000
    document_bytes: int = 512 * 2**20
    document_keys: int = 10_000_000


LIMITS = Limits()
