"""Rows of `raw_log_files` and `raw_quarantine`: every file of a round has one, whatever became of it.

What belongs here: the two row shapes. What does not: the counting itself (logfile).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.vocabulary import Disposition

if TYPE_CHECKING:
    from governance_pipeline.ingest.logfile import LogFile

UNREAD_UNIT: Final = "file"
DOCUMENT_UNIT: Final = "record"


@dataclass
class Account:
    """Counts of one file; `lines_in` is counted by the reader, the others by what became of each record."""

    lines_in: int = 0
    accepted: int = 0
    quarantined: int = 0
    blank: int = 0
    duplicates: int = 0

    @property
    def is_balanced(self) -> bool:
        """Nothing disappears: lines_in = accepted + quarantined + blank + duplicates."""
        return self.lines_in == self.accepted + self.quarantined + self.blank + self.duplicates


class Place(NamedTuple):
    """Which file is meant: its name below the round folder, the digest of its copy (None: not opened), its size."""

    path: str
    sha256: str | None
    size: int


class Fault(NamedTuple):
    """Why a file as a whole is not used: stable code, where it stopped, and an excerpt that is safe to show."""

    code: str
    line: int | None = None
    offset: int | None = None
    excerpt: str = ""


def read_file_row(file: LogFile, format_name: str) -> dict[str, Any]:
    """Give the row of a file that a format has read.

    Raises:
        RuntimeError: its account does not balance, which is a fault of this library; nothing is stored then.
    """
    account = file.account
    if not account.is_balanced:
        raise RuntimeError(f"the account of {file.path} does not balance ({account}); please report this as a bug")
    return {
        "path": file.path,
        "file_sha256": file.sha256,
        "format": format_name,
        "format_version": file.format_version,
        "record_unit": file.record_unit,
        "bytes": file.size,
        "lines_in": account.lines_in,
        "accepted": account.accepted,
        "quarantined": account.quarantined,
        "blank": account.blank,
        "duplicates": account.duplicates,
        "reason_code": None,
    }


def single_record_row(
    place: Place, fault: Fault | None, *, unit: str = UNREAD_UNIT, format_name: str | None = None
) -> dict[str, Any]:
    """Give the row of a file that counts as one: used as a whole, or not at all because of `fault`."""
    return {
        "path": place.path,
        "file_sha256": place.sha256,
        "format": format_name,
        "record_unit": unit,
        "bytes": place.size,
        "lines_in": 1,
        "accepted": int(fault is None),
        "quarantined": int(fault is not None),
        "blank": 0,
        "duplicates": 0,
        "reason_code": fault.code if fault else None,
    }


def fault_row(place: Place, fault: Fault, *, format_name: str | None = None) -> dict[str, Any]:
    """Give the quarantine row of a file that is not used as a whole."""
    return {
        "path": place.path,
        "file_sha256": place.sha256,
        "format": format_name,
        "line": fault.line,
        "pointer": "",
        "byte_offset": fault.offset,
        "disposition": Disposition.QUARANTINED.value,
        "reason_code": fault.code,
        "excerpt": fault.excerpt,
    }
