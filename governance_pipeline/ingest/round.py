"""A round folder in, its raw and core tables out: one pass over its files, a pure function of their bytes.

What belongs here: the order of the pass (keep every file, detect it, read it, account for it) and what needs all
files at once. What does not: storing tables (pipeline) and what a format means (formats, native).

Every file is first copied into the content store and then read from the copy, so what the tables say and what is kept
are the same bytes, whatever happens to the source meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from governance_pipeline.contracts.frames import plain_rows
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
from governance_pipeline.ingest.contract_rows import criteria_rows, fault_text, round_row
from governance_pipeline.ingest.detection import UNSUPPORTED, Detected, detect
from governance_pipeline.ingest.extraction import Extraction
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.layout import CONTRACT_FILE, FoundFile, scan
from governance_pipeline.ingest.logfile import LogFile, Sample
from governance_pipeline.ingest.native.kinds import BY_PLACE
from governance_pipeline.rounds.contract import SCHEMA, RoundContract
from governance_pipeline.rounds.load import read_contract
from governance_pipeline.rounds.paths import is_outside, normal_form
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.vocabulary import ContractState, is_round_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.storage.content import ContentStore

RAW_TABLES: Final = tuple(name for name in REGISTRY if name.startswith("raw_"))
CORE_TABLES: Final = tuple(name for name in REGISTRY if name.startswith("core_"))

CONTRACT_FORMAT: Final = "round_contract"
OUTPUT_FORMAT: Final = "output"
"""A file that a step of the round names as its output; only its digest is used."""

_TIMES: Final = (
    ("core_runs", "started_at"),
    ("core_runs", "ended_at"),
    ("core_steps", "at"),
    ("core_usage", "at"),
    ("core_changes", "at"),
    ("core_evidence", "at"),
)


@dataclass(frozen=True)
class RoundTables:
    """The raw and core tables of one round, typed by their contracts.

    Rules about values are checked by whoever stores or joins them, once for many rounds: a pandera pass costs more
    than reading a small round.
    """

    round_id: str
    frames: Mapping[str, pd.DataFrame]

    def frame(self, table: str) -> pd.DataFrame:
        """Give one table.

        Raises:
            UsageError: the table is not made from round folders.
        """
        if table not in self.frames:
            raise UsageError(f"{table} is not read from a round folder; those are {', '.join(self.frames)}")
        return self.frames[table]

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Give the rows of one table, null as None."""
        yield from plain_rows(self.frame(table))


def read_round(folder: Path, round_id: str, store: ContentStore) -> RoundTables:
    """Read a round folder.

    The result depends on the bytes and names of its files only. A file that cannot be used is accounted for and never
    stops the others.

    Raises:
        UsageError: `round_id` is no legal id.
        UnreadableError: `folder` is no folder.
        StorageError: a copy cannot be kept.
        ContractBreach: a value does not fit its column.
    """
    return read_files(scan(folder), round_id, store)


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
        out = Extraction(self.round_id, paths_of)
        for log_format in FORMATS:
            files = self.claimed.get(log_format.NAME, [])
            if files:
                log_format.read(files, out)
                self._account_for(files, log_format.NAME)
        frames = {name: out.frame(name) for name in CORE_TABLES if name not in {"core_rounds", "core_criteria"}}
        frames["core_steps"] = _with_output_digests(frames["core_steps"], self.digests)
        self._account_for_outputs(frames["core_steps"]["output_path"])
        frames["core_rounds"] = self._typed("core_rounds", [self.round_columns | _span(frames)])
        frames["core_criteria"] = self._typed("core_criteria", criteria_rows(self.contract))
        frames["raw_log_files"] = self._typed(
            "raw_log_files", [row for _, row in sorted(self.file_rows.items(), key=lambda item: item[0].encode())]
        )
        frames["raw_quarantine"] = self._typed("raw_quarantine", sorted(self.fault_rows, key=_position))
        return RoundTables(self.round_id, {name: frames[name] for name in (*RAW_TABLES, *CORE_TABLES)})

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
        state, self.contract, faults = read_contract(copy)
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
            self.fault_rows += [where | row for row in file.rejected]

    def _account_for_outputs(self, named: pd.Series) -> None:
        """A file that no format claims but a step names as its output was used: its bytes were hashed."""
        outputs = {normal_form(path) for path in named.dropna() if not is_outside(path)}
        for path in outputs & {p for p, row in self.file_rows.items() if row["reason_code"] == UNSUPPORTED}:
            place = Place(path, self.file_rows[path]["file_sha256"], self.file_rows[path]["bytes"])
            self.file_rows[path] = single_record_row(place, None, format_name=OUTPUT_FORMAT)
            self.fault_rows = [row for row in self.fault_rows if row["path"] != path]

    def _typed(self, table: str, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        return frame_of(table, ({"round_id": self.round_id, **row} for row in rows))


def _position(row: Mapping[str, Any]) -> tuple[bytes, int, str, str]:
    return row["path"].encode(), row["line"] or 0, row["pointer"], row["reason_code"]


def _with_output_digests(steps: pd.DataFrame, digests: Mapping[str, str]) -> pd.DataFrame:
    """Fill output_file_sha256 with the digest of the round's file that `output_path` names, where there is one."""
    named = steps["output_path"].notna()
    if not named.any():
        return steps
    found = steps.loc[named, "output_path"].map(
        lambda path: None if is_outside(path) else digests.get(normal_form(path)), na_action="ignore"
    )
    filled = steps.copy()
    filled.loc[named, "output_file_sha256"] = found.astype(steps["output_file_sha256"].dtype)
    return filled


def _span(frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Give how many runs there are and the first and last time any source of the round carries; null without one."""
    columns = [frames[table][column] for table, column in _TIMES if len(frames[table])]
    first = [time for column in columns if (time := column.min()) is not pd.NaT]
    last = [time for column in columns if (time := column.max()) is not pd.NaT]
    return {
        "runs_count": len(frames["core_runs"]),
        "started_at": min(first).to_pydatetime() if first else None,
        "ended_at": max(last).to_pydatetime() if last else None,
    }
