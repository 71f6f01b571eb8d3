"""A round folder in, its raw and core tables out: one pass over its files, a pure function of their bytes.

What belongs here: the order of the pass (keep every file, detect it, read it, account for it) and what needs all
files at once. What does not: storing tables (pipeline) and what a format means (formats, native).

Every file is first copied into the content store and then read from the copy, so what the tables say and what is kept
are the same bytes, whatever happens to the source meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.registry import REGISTRY, frame_of
from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.ingest.accounting import (
    DOCUMENT_UNIT,
    Fault,
    Place,
    fault_row,
    read_file_row,
    single_record_row,
)
from governance_pipeline.ingest.change_facts.output_diffs import diff_rows
from governance_pipeline.ingest.contract_rows import criteria_rows, fault_text, round_row
from governance_pipeline.ingest.detection import Detected, detect
from governance_pipeline.ingest.extraction import Extraction, Found
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.layout import CONTRACT_FILE, FoundFile, scan_inbox
from governance_pipeline.ingest.logfile import LogFile, Sample
from governance_pipeline.ingest.native.kinds import BY_PLACE
from governance_pipeline.ingest.round_tables import RoundTables, table_of
from governance_pipeline.rounds.contract import SCHEMA, RoundContract
from governance_pipeline.rounds.load import read_contract
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.vocabulary import ContractState, is_round_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    import pandas as pd

    from governance_pipeline.ingest.spool import Spool
    from governance_pipeline.storage.content import ContentStore

__all__ = ["CORE_TABLES", "RAW_TABLES", "RoundTables", "read_files", "read_round", "table_of"]

RAW_TABLES: Final = tuple(name for name in REGISTRY if name.startswith("raw_"))
CORE_TABLES: Final = tuple(name for name in REGISTRY if name.startswith("core_"))

CONTRACT_FORMAT: Final = "round_contract"
OUTPUT_FORMAT: Final = "output"
"""A file that a step of the round names as its output; only its digest is used."""


def read_round(folder: Path, round_id: str, store: ContentStore) -> RoundTables:
    """Read a round folder.

    The result depends on the bytes and names of its files only. A file that cannot be used is accounted for and never
    stops the others; nor is one with a second hard link used (`layout.scan_inbox`).

    Raises:
        UsageError: `round_id` is no legal id.
        UnreadableError: `folder` is no folder.
        StorageError: a copy cannot be kept.
        ContractBreach: a value does not fit its column.
    """
    return read_files(scan_inbox(folder), round_id, store)


def read_files(files: Sequence[FoundFile], round_id: str, store: ContentStore) -> RoundTables:
    """Read files as one round, wherever they lie; `path` of each is its name below the round folder.

    Raises:
        UsageError: `round_id` is no legal id.
        StorageError: a copy cannot be kept.
        ContractBreach: a value does not fit its column.
    """
    if not is_round_id(round_id):
        raise UsageError(f"{excerpt(round_id)!r} is no legal round id; see `govern rounds import --help`")
    reading = _Reading(round_id, store)
    for file in sorted(files, key=lambda found: found.path.encode()):
        reading.take(file)
    return reading.tables()


@dataclass
class _Reading:
    """One round while it is being read."""

    round_id: str
    store: ContentStore
    file_rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    fault_rows: list[dict[str, Any]] = field(default_factory=list)
    packed: dict[str, Spool] = field(default_factory=dict)
    claimed: dict[str, list[LogFile]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    contract: RoundContract | None = None
    round_columns: dict[str, Any] = field(default_factory=lambda: round_row(ContractState.ABSENT, None, [], None))

    def take(self, file: FoundFile) -> None:
        """Keep one file and find out what it is; nothing is read into tables yet."""
        place, fault = self._keep(file)
        if file.path == CONTRACT_FILE:
            self._take_contract(file, place)
        elif fault is not None:
            self._leave_unread(place, fault)
        else:
            self._take_log(place, self.store.path(place.sha256 or ""))

    def tables(self) -> RoundTables:
        """Read every claimed file, format by format, and put the tables together."""
        paths_of = {name: tuple(file.path for file in files) for name, files in self.claimed.items()}
        out = Extraction(self.round_id, paths_of, self.digests)
        for log_format in FORMATS:
            files = self.claimed.get(log_format.NAME, [])
            if files:
                log_format.read(files, out)
                self._account_for(files, log_format.NAME)
        self._account_for_outputs(out.outputs)
        rows = [row for _, row in sorted(self.file_rows.items(), key=lambda item: item[0].encode())]
        found = {name: out.found(name) for name in CORE_TABLES}
        found["core_change_facts"] = self._with_diffs(out)
        found["core_rounds"] = self._found([self.round_columns | _span(out)])
        found["core_criteria"] = self._found(criteria_rows(self.contract))
        found["raw_log_files"] = self._found(rows)
        found["raw_quarantine"] = self._quarantine()
        return RoundTables(self.round_id, {name: found[name] for name in (*RAW_TABLES, *CORE_TABLES)})

    def _keep(self, file: FoundFile) -> tuple[Place, Fault | None]:
        if file.reason is not None:
            return Place(file.path, None, file.size), Fault(file.reason)
        try:
            kept = self.store.keep(file.source)
        except FileRefused as refusal:
            return Place(file.path, None, file.size), Fault(refusal.code)
        except UnreadableError:
            return Place(file.path, None, file.size), Fault("changed_while_read")
        self.digests[file.path] = kept.sha256
        return Place(file.path, kept.sha256, kept.size), None

    def _take_contract(self, file: FoundFile, place: Place) -> None:
        copy = file.source if place.sha256 is None else self.store.path(place.sha256)
        state, self.contract, faults = read_contract(copy, single_link=place.sha256 is None)
        self.round_columns = round_row(state, self.contract, faults, place.sha256)
        fault = None
        if faults:
            first = faults[0]
            fault = Fault(first.code, first.line, None, excerpt(fault_text(first)))
            self.fault_rows.append(fault_row(place, fault, format_name=CONTRACT_FORMAT))
        row = single_record_row(place, fault, unit=DOCUMENT_UNIT, format_name=CONTRACT_FORMAT)
        self.file_rows[place.path] = row | {"format_version": None if self.contract is None else SCHEMA}

    def _take_log(self, place: Place, copy: Path) -> None:
        native = BY_PLACE.get(place.path)
        if native is not None:
            found = Detected(Sample(place.path, "jsonl", ()), native, None, 0, "")
        else:
            found = detect(place.path, copy, FORMATS)
        if found.format is None:
            self._leave_unread(place, Fault(found.reason or "", None, found.offset, found.head))
            return
        file = LogFile(place.path, place.sha256 or "", place.size, found.sample, copy)
        self.claimed.setdefault(found.format.NAME, []).append(file)

    def _leave_unread(self, place: Place, fault: Fault) -> None:
        self.file_rows[place.path] = single_record_row(place, fault)
        self.fault_rows.append(fault_row(place, fault))

    def _account_for(self, files: Iterable[LogFile], format_name: str) -> None:
        for file in files:
            file.close()
            self.file_rows[file.path] = read_file_row(file, format_name)
            where = {"path": file.path, "file_sha256": file.sha256, "format": format_name}
            packed = file.rejections.in_order()
            if packed is None:
                self.fault_rows += [where | row for row in file.rejected]
            else:
                packed.constants.update(where, round_id=self.round_id)
                self.packed[file.path] = packed

    def _account_for_outputs(self, outputs: AbstractSet[str]) -> None:
        """A file no format claims but a step names as its output was used, whatever it is: it was hashed."""
        hashed = {
            path for path, row in self.file_rows.items() if row["format"] is None and row["file_sha256"] is not None
        }
        for path in outputs & hashed:
            place = Place(path, self.file_rows[path]["file_sha256"], self.file_rows[path]["bytes"])
            self.file_rows[path] = single_record_row(place, None, format_name=OUTPUT_FORMAT)
            self.fault_rows = [row for row in self.fault_rows if row["path"] != path]

    def _with_diffs(self, out: Extraction) -> Found:
        """Give the facts of the logs and then those of the outputs that are diffs."""
        found = out.found("core_change_facts")
        outputs = sorted(path for path, row in self.file_rows.items() if row["format"] == OUTPUT_FORMAT)
        rows = [
            {"round_id": self.round_id, "path": path, "file_sha256": self.digests[path], **row}
            for path in outputs
            for row in diff_rows(self.store.path(self.digests[path]))
        ]
        return found._replace(rows=(*found.rows, *rows))

    def _quarantine(self) -> Found:
        """Give the rows of all files in order; a file with very many of them has them spooled."""
        rows = sorted(self.fault_rows, key=_position)
        parts: list[pd.DataFrame | Spool] = []
        for path in sorted(self.packed, key=str.encode):
            before = [row for row in rows if row["path"].encode() < path.encode()]
            if before:
                parts.append(frame_of("raw_quarantine", self._found(before).rows))
            parts.append(self.packed[path])
            rows = rows[len(before) :]
        return self._found(rows)._replace(frames=tuple(parts))

    def _found(self, rows: Iterable[Mapping[str, Any]]) -> Found:
        return Found((), tuple({"round_id": self.round_id, **row} for row in rows))


def _position(row: Mapping[str, Any]) -> tuple[bytes, int, str, str]:
    return row["path"].encode(), row["line"] or 0, row["pointer"], row["reason_code"]


def _span(out: Extraction) -> dict[str, Any]:
    """Give how many runs there are and the first and last time any source of the round carries; null without one."""
    first, last = out.times or (None, None)
    return {"runs_count": out.count("core_runs"), "started_at": first, "ended_at": last}
