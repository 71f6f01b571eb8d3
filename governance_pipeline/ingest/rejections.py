"""The rows of `raw_quarantine` of one file while it is read: few stay Python objects, many are packed.

What belongs here: collecting the rows and remembering which records have one. What does not: why a record is not used.
A file of millions of broken lines must not cost gigabytes, so beyond a number of rows they go to a spool, and the
lines that have one are remembered as one bit each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from governance_pipeline.contracts.frames import arrow_schema
from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.ingest.spool import Spool
from governance_pipeline.vocabulary import Disposition

if TYPE_CHECKING:
    from pathlib import Path

TABLE: Final = "raw_quarantine"
UNPACKED_ROWS: Final = 10_000
"""Rows kept as Python objects, about 1 kB each; more of them are packed."""

_BROKEN: Final = ("line", "pointer", "byte_offset", "disposition", "reason_code", "excerpt")
_REPEATED: Final = ("duplicate_of", "dedup_key", "dedup_reason")
_COLUMNS: Final = (*_BROKEN, *_REPEATED)


class Repetition(NamedTuple):
    """What a record repeats: `of` is path:line or path:pointer, `key` what both have in common, `reason` why that."""

    of: str
    key: str
    reason: str


_NONE: Final = (None, None, None)


class Rejections:
    """Rows of records that were not used, in the order they were added.

    `folder` is where packed rows go; None keeps all as they are.
    """

    def __init__(self, folder: Path | None, unpacked_rows: int = UNPACKED_ROWS) -> None:
        self.rows: list[dict[str, Any]] = []
        self.packed: Spool | None = None
        self.is_ordered = True
        self._folder = folder
        self._unpacked_rows = unpacked_rows
        self._last: tuple[int, str, str] = (0, "", "")
        self._lines = bytearray()
        self._pointers: set[tuple[int | None, str]] = set()

    def add(
        self,
        line: int | None,
        pointer: str,
        offset: int | None,
        code: str,
        excerpt: str,
        *,
        repeats: Repetition | None = None,
        is_part: bool = False,
    ) -> None:
        """Add one row: where the record stands, why it is not used, and of what it is a repetition (None: it is not).

        `excerpt` is shown to people, so it comes escaped, masked and cut. `is_part` tells a part of a record that is
        used for what else it holds.
        """
        place = (line or 0, pointer, code)
        self.is_ordered = self.is_ordered and self._last <= place
        self._last = place
        repeated = Disposition.REPEATED_PART if is_part else Disposition.DUPLICATE
        disposition = Disposition.QUARANTINED if repeats is None else repeated
        values = (line, pointer, offset, disposition.value, code, excerpt, *(repeats or _NONE))
        self.rows.append(dict(zip(_COLUMNS, values, strict=True)))
        if self._folder is not None and len(self.rows) > self._unpacked_rows:
            self._pack(self._folder)

    def is_taken(self, line: int | None, pointer: str) -> bool:
        """Tell whether a record was taken back."""
        if line is None or pointer:
            return (line, pointer) in self._pointers
        byte, bit = divmod(line, 8)
        return byte < len(self._lines) and bool(self._lines[byte] >> bit & 1)

    def take(self, line: int | None, pointer: str) -> None:
        """Remember that a record was taken back."""
        if line is None or pointer:
            self._pointers.add((line, pointer))
            return
        byte, bit = divmod(line, 8)
        if byte >= len(self._lines):
            self._lines.extend(bytes(byte + 1 - len(self._lines)))
        self._lines[byte] |= 1 << bit

    def in_order(self) -> Spool | None:
        """Give all rows packed, by line, pointer and reason; None when there are so few that none was packed."""
        if self.packed is None or self._folder is None:
            return None
        if self.rows:
            self._pack(self._folder)
        if not self.is_ordered:  # a format that takes records back after it has read on
            self.packed, self.is_ordered = _sorted(self.packed, self._folder), True
        return self.packed

    def _pack(self, folder: Path) -> None:
        if self.packed is None:
            self.packed = Spool(TABLE, folder)
        schema = arrow_schema(contract_of(TABLE))
        cells = {name: [row[name] for row in self.rows] for name in _COLUMNS}
        self.packed.append({name: pa.array(values, schema.field(name).type) for name, values in cells.items()})
        self.rows.clear()


def _sorted(rows: Spool, folder: Path) -> Spool:
    table = pa.Table.from_batches(rows.batches()).select(_COLUMNS)
    keys = table.append_column("place", pc.fill_null(table["line"], 0))
    order = [(name, "ascending") for name in ("place", "pointer", "reason_code")]
    ordered = table.take(pc.sort_indices(keys, sort_keys=order)).combine_chunks()
    spool = Spool(TABLE, folder)
    spool.append({name: ordered[name].combine_chunks() for name in _COLUMNS})
    return spool
