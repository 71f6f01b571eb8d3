"""A user's price file, given for many rounds at once: refused as a whole when one line of it cannot be used.

What belongs here: judging the file before anything is read, and putting it into planned rounds. What does not: what a
line means (`native.prices`). In a round it is `prices.jsonl`, a file like any other: copied, hashed and accounted for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import Fault, FaultyFileError
from governance_pipeline.ingest.native import prices
from governance_pipeline.ingest.native.members import UnusableRecord
from governance_pipeline.ingest.planning import PlannedFile, PlannedRound
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import digest_file
from governance_pipeline.strict.records import Accepted, Refused, read_json_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.ingest.prices import Price

NAME: Final = "prices.jsonl"


def read_price_file(path: Path) -> list[Price]:
    """Read a price file; a file without any line is an empty list.

    Raises:
        FaultyFileError: lines that cannot be used, each with line and reason.
        UnreadableError: the file cannot be opened.
    """
    found: list[Price] = []
    faults: list[Fault] = []
    for entry in read_json_lines(path):
        if isinstance(entry, Refused):
            faults.append(Fault(entry.code, entry.line, entry.excerpt))
        elif isinstance(entry, Accepted):
            try:
                found.append(prices.price_of(entry.value, found))
            except UnusableRecord as reason:
                faults.append(Fault(reason.code, entry.line, excerpt(entry.raw)))
    if faults:
        raise FaultyFileError(excerpt(str(path)), faults)
    return found


def with_prices(plan: Sequence[PlannedRound], path: Path) -> list[PlannedRound]:
    """Give the rounds with a price file in each that has none of its own.

    Raises:
        FaultyFileError, UnreadableError: as `read_price_file`.
    """
    read_price_file(path)
    source = path.absolute()
    digest = digest_file(source)
    file = PlannedFile(source, NAME, digest.size, digest.sha256, prices.NAME, None)
    return [_with(planned, file) for planned in plan]


def _with(planned: PlannedRound, file: PlannedFile) -> PlannedRound:
    if any(other.path == file.path for other in planned.files):
        return planned
    files = sorted((*planned.files, file), key=lambda member: member.path.encode())
    return replace(planned, files=tuple(files))
