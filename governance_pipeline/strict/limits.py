"""The bounds under which hostile bytes are read.

What belongs here: sizes and counts beyond which the reader refuses a record. What does not: thresholds of the
audit itself (settings). A bound is never reached by cutting: what exceeds it is refused whole and accounted for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


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
        values: commas and opening brackets outside strings of one record, which bounds its items, members and
            containers; 2 million. A value costs up to about 80 bytes of memory however short its text (``{},``), so
            without this bound a line of 16 MiB could need half a gigabyte.
        document_keys: members of objects in a file that is one JSON document, all levels added; 10 million. A
            trajectory or an evaluation result is thousands of records in one value (a public tau-bench result of
            2 MB holds 31,000 members), so the bound per record does not fit it.
        document_values: the same bound as `values` for such a file; 20 million.
        archive_members: files in one zip archive; 100,000. An evaluation log has one for each sample.
        archive_directory_bytes: bytes of the directory of an archive, which is held as a whole; 32 MiB.
        archive_bytes: bytes of all members of an archive together, unpacked and as read; 2 GiB. Each member is a
            document and bounded as one too.
        archive_ratio: unpacked over packed bytes of a member beyond 1 MiB; 500. Logs of repeated messages reach
            about 50, a bomb of zeros 1,000.
    """

    line_bytes: int = 16 * 2**20
    depth: int = 64
    keys: int = 10_000
    document_bytes: int = 512 * 2**20
    values: int = 2_000_000
    document_keys: int = 10_000_000
    document_values: int = 20_000_000
    archive_members: int = 100_000
    archive_directory_bytes: int = 32 * 2**20
    archive_bytes: int = 2 * 2**30
    archive_ratio: int = 500

    def of_document(self) -> Limits:
        """The same bounds for a file that is one JSON document: its own key, value and byte counts."""
        return replace(self, line_bytes=self.document_bytes, keys=self.document_keys, values=self.document_values)


LIMITS = Limits()
