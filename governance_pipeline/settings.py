"""Thresholds of the library, each with its unit, the reason for its value and the source of it.

What belongs here: numbers one may want to change without changing a rule. What does not: limits of the strict reader
(`strict.limits`), anything a policy document governs, and the environment, which is never read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final


def _threshold(default: Any, *, unit: str, reason: str, source: str) -> Any:
    return field(default=default, metadata={"unit": unit, "reason": reason, "source": source})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All thresholds; `dataclasses.fields(Settings)` gives unit, reason and source of each in its metadata."""

    large_table_rows: int = _threshold(
        100_000,
        unit="rows",
        reason="above it a contract is checked by one SQL pass instead of pandera: two thirds of the time on a frame, "
        "a quarter of time and memory on a stored file; far below it opening a session costs more than it saves",
        source="research/performance.md W7",
    )
    large_log_bytes: int = _threshold(
        4 * 2**20,
        unit="bytes of the native audit logs of a round",
        reason="above it they are read as sets of lines; below it opening a session and two threads costs more than "
        "reading line by line",
        source="bench/ingest.py",
    )
    large_check_bytes: int = _threshold(
        4 * 2**20,
        unit="bytes of the sources of a check file",
        reason="above it records are made as a set and kept in files: an object per record and subject would need "
        "gigabytes; below it opening sessions costs more than running row by row",
        source="bench/crosscheck.py",
    )
    streamed_report_bytes: int = _threshold(
        16 * 2**20,
        unit="bytes of a cross-check report",
        reason="above it the validator holds one record at a time: a report held whole takes ten times its size",
        source="a report of 156 MB held whole took 1.7 GiB",
    )
    compaction_files: int = _threshold(
        2_000,
        unit="files of one table a view may open",
        reason="beyond it the views read older rounds from one compacted file: opening 10,000 files takes 1 to 1.6 s",
        source="research/dagster_spike.md Q1",
    )
    row_group_rows: int = _threshold(
        131_072,
        unit="rows of a Parquet row group",
        reason="DuckDB reads one row group per thread and skips whole groups; near its own default of 122,880",
        source="DuckDB documentation, Parquet tips",
    )
    parquet_compression: str = _threshold(
        "zstd",
        unit="codec",
        reason="smallest of the codecs every reader has, decoded faster than a disk delivers",
        source="research/dagster_spike.md Q1",
    )
    parquet_compression_level: int = _threshold(
        1,
        unit="zstd level",
        reason="writing is the slower side of ingest; level 1 is the one measured",
        source="research/performance.md W1",
    )
    unreferenced_keep_days: int = _threshold(
        30,
        unit="days since a stored file was written",
        reason="a reader, an open request or a person may still hold the digest of a replaced version",
        source="own choice: ten times the longest approval window of 72 h (research/security.md b7)",
    )
    lock_wait_s: float = _threshold(
        120.0,
        unit="seconds",
        reason="writes under the lock take milliseconds, so a longer wait means a stopped process, which is named",
        source="research/dagster_spike.md Q1: slowest of 300 contended writes 0.5 s behind a lock",
    )
    conformal_level: str = _threshold(
        "0.05",
        unit="share, a decimal kept exactly",
        reason="19 earlier rounds are enough to reach it; a false alarm in twenty clean comparisons is what a person "
        "who reads a passive report bears",
        source="spec/trajectory.md §5 leaves the level to the settings; 0.05 is the convention",
    )
    martingale_bound: float = _threshold(
        100.0,
        unit="value of the conformal test martingale",
        reason="an exchangeable cohort reaches it with probability 1/100 at most (Ville), however often one looks",
        source="spec/trajectory.md §5",
    )


SETTINGS: Final = Settings()
"""The thresholds as shipped; whoever needs others passes another `Settings`."""
