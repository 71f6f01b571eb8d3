"""Nothing disappears (design §3, law 3): every file of a round has its row, and every record of a file its place.

What belongs here: the comparison of `raw_log_files` with itself and with the folder. What does not: the counting,
which happens where records leave the reader (logfile).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from governance_pipeline.ingest.layout import scan

if TYPE_CHECKING:
    from pathlib import Path

PARTS: Final = ("accepted", "quarantined", "blank", "duplicates")
"""Where a record may be; together they are `lines_in`."""

COLUMNS: Final = {"path": "string", "fault": "string", **dict.fromkeys(("lines_in", *PARTS), "Int64")}
"""Columns of what this module returns, with their dtypes."""


def lost(folder: Path, raw_log_files: pd.DataFrame) -> pd.DataFrame:
    """List what is not accounted for in one round; empty when nothing disappeared.

    Shape: one row per file with a fault: path, fault (no_row or unbalanced), lines_in, accepted, quarantined, blank,
    duplicates; the counts are null for a file without a row.

    Args:
        folder: the round's folder.
        raw_log_files: its rows of that table.

    Raises:
        UnreadableError: the folder is gone or cannot be listed.
    """
    return pd.concat([unlisted(folder, raw_log_files), unbalanced(raw_log_files)], ignore_index=True)


def unbalanced(raw_log_files: pd.DataFrame) -> pd.DataFrame:
    """List the files whose lines_in is not accepted + quarantined + blank + duplicates; columns as `lost`."""
    wrong = raw_log_files[raw_log_files["lines_in"] != raw_log_files[list(PARTS)].sum(axis=1)]
    return wrong[["path", "lines_in", *PARTS]].assign(fault="unbalanced")[list(COLUMNS)].astype(COLUMNS)


def unlisted(folder: Path, raw_log_files: pd.DataFrame) -> pd.DataFrame:
    """List the files of a folder that have no row; columns as `lost`.

    Raises:
        UnreadableError: the folder is gone or cannot be listed.
    """
    rows = set(raw_log_files["path"])
    missing = [(file.path, "no_row") for file in scan(folder) if file.path not in rows]
    return pd.DataFrame(missing, columns=["path", "fault"]).reindex(columns=list(COLUMNS)).astype(COLUMNS)
