"""What the formats found: rows of the core tables, with the place each came from filled in here.

What belongs here: collecting rows and reading the few kinds of value every format has (a number as written, a time,
an output). What does not: any knowledge of one format.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from governance_pipeline.contracts.registry import contract_of, empty_frame, frame_of
from governance_pipeline.ingest.prices import PriceTable, shipped_prices
from governance_pipeline.ingest.spool import Spool
from governance_pipeline.rounds.paths import is_outside, normal_form
from governance_pipeline.strict.lexeme import Lexeme, NonFinite
from governance_pipeline.strict.numbers import exact_number
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from governance_pipeline.ingest.logfile import LogFile, Record
    from governance_pipeline.ingest.prices import Price

CHUNK_ROWS: Final = 50_000
"""Rows kept as Python objects before they become a typed frame: typed columns take a fraction of the memory."""

UNTYPED_ROWS: Final = 256
"""Rows of one table of one round that may stay Python objects until many rounds are typed together: a frame costs as
much for ten rows as for a thousand."""

EPOCH_SECONDS_BELOW: Final = 10**11
"""Epoch numbers below are seconds (until the year 5138), those from here to EPOCH_MILLISECONDS_BELOW milliseconds."""

EPOCH_MILLISECONDS_BELOW: Final = 10**14

_ISO_8601: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(?P<zone>[Zz]|[+-]\d\d(:?\d\d)?)?", re.ASCII
)
_PLACE: Final = frozenset({"line", "pointer"})
_TIMES: Final[Mapping[str, tuple[str, ...]]] = {
    "core_runs": ("started_at", "ended_at"),
    "core_steps": ("at",),
    "core_usage": ("at",),
    "core_approvals": ("at",),
    "core_changes": ("at",),
    "core_evidence": ("at",),
}
_LITERALS: Final = {ValueKind.OBJECT: "object", ValueKind.ARRAY: "array", ValueKind.MISSING: None}


class Found(NamedTuple):
    """What was found for one table of a round: typed rows first, as frames or spooled, then rows not typed yet."""

    frames: tuple[pd.DataFrame | Spool, ...]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def is_spooled(self) -> bool:
        """Tell whether there may be more rows than should be in memory at once."""
        return any(isinstance(part, Spool) for part in self.frames)


class Extraction:
    """Rows of the core tables of one round, in the order the formats added them.

    `paths_of` gives the files of the round by format, `digests` the SHA-256 of each of its files by path; `subjects`
    are those named by native declared aggregates, for which alone native components are added (a round without
    declared numbers needs none). `prices` are those the round brings itself (`prices.jsonl`). `outputs` are the files
    of the round that steps name, `times` the first and last time any row carries.
    """

    def __init__(
        self,
        round_id: str,
        paths_of: Mapping[str, tuple[str, ...]] | None = None,
        digests: Mapping[str, str] | None = None,
    ) -> None:
        self.round_id = round_id
        self.paths_of: Mapping[str, tuple[str, ...]] = paths_of or {}
        self.subjects: set[str] = set()
        self.prices: list[Price] = []
        self.outputs: set[str] = set()
        self.times: tuple[datetime, datetime] | None = None
        self._digests: Mapping[str, str] = digests or {}
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._chunks: dict[str, list[pd.DataFrame | Spool]] = {}
        self._columns: dict[str, frozenset[str]] = {}

    def add(self, table: str, file: LogFile, record: Record, /, pointer: str | None = None, **row: Any) -> None:
        """Add one row to `table`.

        round_id, path and file_sha256 are filled in, line and pointer where the table has them; `pointer` is the
        whole RFC 6901 pointer of the value in its line or document (default: that of the record). The digest of the
        file that an output_path names is filled in too, where the round holds it. A column left out is null.
        """
        columns = self._columns.get(table)
        if columns is None:
            columns = self._columns[table] = _PLACE.intersection(contract_of(table).to_schema().columns)
        place: dict[str, Any] = {"round_id": self.round_id, "path": file.path, "file_sha256": file.sha256}
        if "line" in columns:
            place["line"] = record.line
        if "pointer" in columns:
            place["pointer"] = record.pointer if pointer is None else pointer
        place.update(row)
        if place.get("output_path") is not None:
            place["output_file_sha256"] = self.digest_of_output(place["output_path"])
        for name in _TIMES.get(table, ()):
            self.saw(place.get(name))
        rows = self._rows.setdefault(table, [])
        rows.append(place)
        if len(rows) >= CHUNK_ROWS:
            self._pack(table)

    def add_spooled(self, table: str, rows: Spool) -> None:
        """Add rows that were read as a set, with all their columns, behind those added so far."""
        if len(rows):
            self._pack(table)
            self._chunks.setdefault(table, []).append(rows)

    @cached_property
    def price_table(self) -> PriceTable:
        """The prices of the round before the shipped ones; asked for by formats, which are read after `prices`."""
        return PriceTable(self.prices, shipped_prices())

    def frame(self, table: str) -> pd.DataFrame:
        """Give the rows added to `table` so far, typed by its contract.

        Raises:
            ContractBreach: a value does not fit its column; the message names row and column.
        """
        self._pack(table)
        chunks = self._chunks.get(table)
        if not chunks:
            return empty_frame(table)
        frames = [chunk.frame() if isinstance(chunk, Spool) else chunk for chunk in chunks]
        return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)

    def count(self, table: str) -> int:
        """Count the rows added to `table` so far."""
        return len(self._rows.get(table, ())) + sum(map(len, self._chunks.get(table, ())))

    def found(self, table: str) -> Found:
        """Give the same without typing the last few rows: many rounds are typed together (`round.table_of`)."""
        if len(self._rows.get(table, ())) > UNTYPED_ROWS:
            self._pack(table)
        return Found(tuple(self._chunks.get(table, ())), tuple(self._rows.get(table, ())))

    def digest_of_output(self, path: str) -> str | None:
        """Give the digest of the file of the round an output path names, which counts as used; None without one."""
        if is_outside(path):
            return None
        name = normal_form(path)
        self.outputs.add(name)
        return self._digests.get(name)

    def saw(self, time: Any) -> None:
        """Widen `times` to a time, if it is one."""
        if isinstance(time, datetime):
            first, last = self.times or (time, time)
            self.times = (min(first, time), max(last, time))

    def _pack(self, table: str) -> None:
        rows = self._rows.pop(table, None)
        if rows:
            self._chunks.setdefault(table, []).append(frame_of(table, rows))


def value_kind(value: Any) -> ValueKind:
    """Tell what a source wrote where a number is expected (spec/crosscheck.md §11)."""
    if value is None:
        return ValueKind.MISSING
    if isinstance(value, bool):
        return ValueKind.BOOLEAN
    if isinstance(value, NonFinite):
        return ValueKind.NOT_FINITE
    if isinstance(value, (int, Lexeme)):
        return ValueKind.NUMBER
    if isinstance(value, str):
        return ValueKind.TEXT
    return ValueKind.ARRAY if isinstance(value, list | tuple) else ValueKind.OBJECT


def value_raw(value: Any) -> str | None:
    """Give the raw text of a value: lexeme, content of a text, true, false, object, array; None when missing."""
    kind = value_kind(value)
    if kind is ValueKind.BOOLEAN:
        return "true" if value else "false"
    return _LITERALS[kind] if kind in _LITERALS else str(value)


def parse_time(value: Any, *, assume_utc: bool = False) -> datetime | None:
    """Read a time: ISO 8601 with its offset, or an epoch number in seconds or milliseconds; None when unknown.

    A text without an offset names no instant, so it is None, unless a format documents that it writes UTC and passes
    `assume_utc`. An epoch of 0 or less means "not measured" in every log seen and is None.
    """
    if isinstance(value, (int, Lexeme)) and not isinstance(value, bool | NonFinite):
        return _from_epoch(exact_number(str(value)))
    if not isinstance(value, str):
        return None
    match = _ISO_8601.fullmatch(value)
    if match is None or (match["zone"] is None and not assume_utc):
        return None
    try:
        time = datetime.fromisoformat(value.upper().replace(",", "."))
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _from_epoch(number: Decimal | None) -> datetime | None:
    if number is None or not 0 < number < EPOCH_MILLISECONDS_BELOW:
        return None
    seconds = number if number < EPOCH_SECONDS_BELOW else number / 1000
    microseconds = int(seconds * 1_000_000)
    time = datetime.fromtimestamp(microseconds // 1_000_000, UTC)
    return time.replace(microsecond=microseconds % 1_000_000)


def text_sha256(value: Any) -> str | None:
    """Digest of an output text of a log (UTF-8, lower-case hex); None when it is no text: its bytes are unknown."""
    if not isinstance(value, str) or isinstance(value, Lexeme | NonFinite):
        return None
    return hashlib.sha256(value.encode()).hexdigest()
