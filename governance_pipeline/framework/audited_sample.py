"""An audited sample: items with the class a rule gave and the class an auditor found, and the error rate they show.

What belongs here: reading the file, counting, and the interval. What does not: whose audit it is. The rate is counted
here from the rows, never taken from whoever brings the sample.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.errors import Fault, FaultyFileError, UnreadableError
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.limits import LIMITS

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS: Final = ("item", "given", "audited")
"""Columns of the CSV file: what was classified, the class the rule gave, the class the auditor found."""
MINIMUM: Final = 30
"""Smallest sample that is accepted. Own choice: with none wrong of 30 the rate is below 0.114 with confidence 0.95."""
Z: Final = 1.959963984540054
"""0.975 quantile of the standard normal distribution: a two-sided interval with confidence 0.95."""
_DECIMALS: Final = 6


class ErrorRate(NamedTuple):
    """An error rate and its two-sided 0.95 interval (E. B. Wilson, 1927), as decimal text with six places."""

    value: str
    low: str
    high: str


class AuditedSample(NamedTuple):
    """What an audited sample shows: digest of the file, its items, and how many the rule classified wrongly."""

    sha256: str
    size: int
    errors: int

    @property
    def rate(self) -> ErrorRate:
        """Share of errors with its interval."""
        return error_rate(self.errors, self.size)


def read_sample(path: Path) -> AuditedSample:
    """Read an audited sample.

    Raises:
        FaultyFileError: other columns, an item without a class or twice, or fewer than `MINIMUM` items.
        UnreadableError: no regular file, no UTF-8, or too large.
    """
    with open_regular(path) as stream:
        data = stream.read(LIMITS.document_bytes + 1)
    if len(data) > LIMITS.document_bytes:
        raise UnreadableError(f"{path} has more than {LIMITS.document_bytes} bytes; audit a smaller sample")
    try:
        rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        return _counted(path, rows, sha256_hex(data))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is no UTF-8 (byte {error.start}); save it as UTF-8") from None
    except csv.Error as error:
        raise FaultyFileError(str(path), [Fault("csv", rows.line_num, str(error))]) from None


def error_rate(errors: int, size: int) -> ErrorRate:
    """Give the share of errors and Wilson's interval; `size` is at least 1."""
    share, square = errors / size, Z * Z
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = Z * math.sqrt(share * (1 - share) / size + square / (4 * size * size)) / (1 + square / size)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return ErrorRate(*(f"{value:.{_DECIMALS}f}" for value in (share, low, high)))


def _counted(path: Path, rows: csv.DictReader[str], sha256: str) -> AuditedSample:
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise FaultyFileError(str(path), [Fault("columns", 1, f"the columns are {', '.join(COLUMNS)}")])
    faults, items, errors = list[Fault](), set[str](), 0
    for row in rows:
        values = [row[name] for name in COLUMNS]
        if None in row or any(value is None or not value.strip() for value in values):
            faults.append(Fault("blank", rows.line_num, "an item, a given or an audited class is missing"))
        elif row["item"] in items:
            faults.append(Fault("twice", rows.line_num, "the item is there twice; each counts once"))
        items.add(row["item"])
        errors += row["given"] != row["audited"]
    if not faults and len(items) < MINIMUM:
        faults.append(Fault("too_few", None, f"{len(items)} items; an audited sample has at least {MINIMUM}"))
    if faults:
        raise FaultyFileError(str(path), faults)
    return AuditedSample(sha256, len(items), errors)
