"""The measurement a re-baseline repeats: trusted numbers of real rounds, made from their files and from nothing else.

What belongs here: reading the sample and the numbers that come of it. What does not: comparing them with anything, and
recording. No number is taken from a caller, a table or an earlier measurement: there is no argument to pass one in. The
sample is named by the digest of its files, so the same files give the same numbers, and other files are another sample.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.crosscheck.builtin import cross_checks
from governance_pipeline.crosscheck.integrity import integrity
from governance_pipeline.errors import UsageError
from governance_pipeline.ingest.round import read_round, table_of
from governance_pipeline.storage.scratch import ScratchStore
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.vocabulary import RecordStatus, is_round_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

PERCENTILES: Final = (50, 95, 99)
"""Percentiles of the duration of a step: the numbers a timeout is derived from."""
_LINES: Final = ("lines_in", "accepted", "quarantined", "blank", "duplicates")
_TENTHS: Final = 6


class Measured(NamedTuple):
    """What was measured: digest of the sample, its rounds and files, and name -> number as decimal text."""

    sample_sha256: str
    round_ids: tuple[str, ...]
    files: int
    numbers: dict[str, str]


def rounds_in(sample: Path) -> list[str]:
    """List the rounds of a landing folder: its sub-folders with a legal name, sorted.

    Raises:
        UsageError: it is no folder.
    """
    if not sample.is_dir():
        raise UsageError(f"there is no folder {sample}; name one with the folders of rounds in it")
    return sorted(path.name for path in sample.iterdir() if path.is_dir() and is_round_id(path.name))


def measure(sample: Path, round_ids: Sequence[str]) -> Measured:
    """Read rounds anew and count, compare and time what is in them.

    Args:
        sample: folder with one sub-folder for each round.
        round_ids: the rounds to read, at least one.

    Raises:
        UsageError: a round is not there.
        UnreadableError, StorageError: it cannot be read or copied.
    """
    with tempfile.TemporaryDirectory(prefix="govern-measure-") as scratch:
        read = []
        for round_id in sorted(set(round_ids)):
            if not (sample / round_id).is_dir():
                raise UsageError(f"there is no round {round_id} in {sample}")
            read.append(read_round(sample / round_id, round_id, ScratchStore(Path(scratch))))
        names = ("raw_log_files", "raw_quarantine", "core_runs", "core_steps", "core_declared", "core_components")
        tables = {name: table_of(name, read) for name in names}
    files = tables["raw_log_files"]
    listed = sorted(zip(files["round_id"], files["path"], files["file_sha256"].fillna(""), strict=True))
    digest = sha256_hex(canonical_json([[str(value) for value in row] for row in listed]))
    return Measured(digest, tuple(sorted(set(round_ids))), len(files), _numbers(tables, len(read)))


def _numbers(tables: dict[str, pd.DataFrame], rounds: int) -> dict[str, str]:
    files, steps = tables["raw_log_files"], tables["core_steps"]
    checked = cross_checks(tables["core_declared"], tables["core_components"], tables["raw_quarantine"])
    hashed = integrity(steps)
    counts: dict[str, Any] = {"rounds": rounds, "runs": len(tables["core_runs"]), "steps": len(steps)}
    counts |= {name: int(files[name].sum()) for name in _LINES}
    counts["declared_numbers"] = len(tables["core_declared"])
    for status in RecordStatus:
        counts[f"numbers_{status}"] = int((checked["status"] == str(status)).sum())
        counts[f"output_hashes_{status}"] = int((hashed["status"] == str(status)).sum())
    durations = sorted(float(value) for value in steps["duration_s"].dropna())
    counts["timed_steps"] = len(durations)
    numbers = {name: str(value) for name, value in counts.items()}
    for percentile in PERCENTILES if durations else ():
        numbers[f"step_duration_p{percentile}_s"] = _percentile(durations, percentile)
    return numbers


def _percentile(ordered: Sequence[float], percentile: int) -> str:
    """Give a percentile by linear interpolation between order statistics (Hyndman and Fan, type 7), as decimal text."""
    place = Fraction(percentile * (len(ordered) - 1), 100)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    value = Fraction(ordered[low]) + (place - low) * (Fraction(ordered[high]) - Fraction(ordered[low]))
    return f"{float(round(value, _TENTHS)):.{_TENTHS}f}"
