"""Whether what the lake holds of a round is what its folder would give now.

What belongs here: comparing stored digests with files and with each other. What does not: making anything again, and
who asks (the sensor, the nightly schedule). Times play no part: a file rewritten with the same size and time is seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from governance_pipeline.ingest.layout import scan_inbox
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileRefused, digest_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.layout import FoundFile
    from governance_pipeline.storage.lake import Lake


def due_reason(folder: Path, lake: Lake, inputs: Mapping[str, Sequence[str]], round_id: str) -> str | None:
    """Say why a round must be audited again; None when every table is current.

    Each file is hashed, so the answer costs one read of the round.

    Args:
        folder: the round's folder.
        lake: where its tables are.
        inputs: table -> the tables it is made from, in pipeline order.
        round_id: the round.

    Raises:
        UnreadableError: the folder is gone or cannot be listed.
        StorageError: a stored table does not have the bytes it was stored with.
    """
    for table, sources in inputs.items():
        if not lake.has(table, round_id):
            return f"{table} has not been made"
        made_from = lake.metadata(table, round_id)
        for source in sources:
            if made_from.get(f"input.{source}") != lake.digest(source, round_id):
                return f"{table} was made from another {source}"
    return changed_file(folder, lake.get("raw_log_files", round_id))


def changed_file(folder: Path, raw_log_files: pd.DataFrame) -> str | None:
    """Say which file of a folder is not as its row says; None when all are, and no row is without a file.

    Raises:
        UnreadableError: the folder is gone or cannot be listed.
    """
    stored = {path: None if pd.isna(sha) else sha for path, sha in _pairs(raw_log_files)}
    found = {file.path: file for file in scan_inbox(folder)}
    for path in sorted(stored.keys() ^ found.keys()):
        return f"{_shown(path)} is {'new' if path in found else 'gone'}"
    for path, file in found.items():
        if _digest(file) != stored[path]:
            return f"{_shown(path)} has changed"
    return None


def _pairs(raw_log_files: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(raw_log_files["path"], raw_log_files["file_sha256"], strict=True))


def _digest(file: FoundFile) -> str | None:
    if file.reason is not None:
        return None
    try:
        return digest_file(file.source).sha256
    except FileRefused:
        return None


def _shown(path: str) -> str:
    return f"file {excerpt(path)}"
