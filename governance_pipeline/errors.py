"""The exception tree. Every error says what is wrong, where, and what to do.

GovernError
├── UsageError                  a wrong argument or configuration            exit 2
│   ├── FaultyFileError         a file refused as a whole; holds every fault with its line
│   │   ├── ContractTextError   a round contract that cannot be used
│   │   └── CheckSetError       a check file refused at load
│   ├── EventRefused            a confidence event the rules refuse; holds the reason code
│   ├── HubRefused              a step with the hub that is not allowed as things stand
│   │   └── HistoryRefused      a report that would carry what is older than the registration
│   ├── FormulaRefused          a recompute expression that is not allowed
│   └── PolicyError             a policy that loosens what is shipped
├── UnreadableError             a source cannot be read                      exit 3
│   ├── FileRefused             not a regular file, or it changed while it was read
│   ├── RecordRefused           one record breaks a rule of the strict reader; holds code and offset
│   └── SourcesUnreadableError  sources of a check file; holds all of them
├── ContractBreach              a table breaks its pandera contract; holds the offending rows
├── HubFailed                   the hub gave no answer that can be used
├── StorageError                the lake cannot do what was asked (lock, missing table, digest mismatch)
│   └── LedgerMoved             somebody appended first: look again and decide again
└── GateRefused                 a gate said no                               exit 4
    ├── Refusal                 with the reason code of spec and vectors
    ├── FrameworkRefused        of the governed folder, with its reason code
    └── AlreadyRecorded         what may happen once has happened; holds the event

What belongs here: classes without logic. What does not: messages; they are written where the facts are.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One fault in an input file: stable code, 1-based line (None when the file has none), free text."""

    code: str
    line: int | None
    message: str

    @property
    def words(self) -> str:
        """The fault in words; a line is named only where there is one."""
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.code}: {self.message}"


class GovernError(Exception):
    """Base of all errors this library raises on purpose."""

    exit_code: int = 3


class UsageError(GovernError):
    """A wrong argument or configuration."""

    exit_code = 2


class FaultyFileError(UsageError):
    """A file refused as a whole, with every fault found in it, ordered by line."""

    def __init__(self, path: str, faults: list[Fault]) -> None:
        self.path = path
        self.faults = faults
        lines = "; ".join(fault.words for fault in faults)
        super().__init__(f"{path} is refused: {lines}")


class ContractTextError(FaultyFileError):
    """A round contract (`round.toml`) that cannot be used."""


class CheckSetError(FaultyFileError):
    """A check file (`govern/checks/v1`) refused at load."""


class PolicyError(UsageError):
    """A policy that is looser than the one shipped, or unreadable."""


class UnreadableError(GovernError):
    """A source that cannot be read: missing, not a regular file, no header."""


class RecordRefused(UnreadableError):  # noqa: N818 - a refusal is data more often than a failure
    """One record breaks a rule of the strict reader."""

    def __init__(self, code: str, offset: int, message: str) -> None:
        self.code = code
        self.offset = offset
        super().__init__(f"{code} at byte {offset}: {message}")


class ContractBreach(GovernError):  # noqa: N818 - the word the field uses
    """A table breaks its contract; `rows` is a frame with one row per failure case."""

    def __init__(self, table: str, rows: object) -> None:
        self.table = table
        self.rows = rows
        super().__init__(f"table {table} breaks its contract:\n{rows}")


class StorageError(GovernError):
    """The lake cannot do what was asked."""


class GateRefused(GovernError):  # noqa: N818 - the name the design gives it
    """A gate refused to release bytes."""

    exit_code = 4
