"""Frames that were read from the lake a moment ago, by digest: a run reads the same tables for several steps.

What belongs here: keeping and forgetting. What does not: reading (lake). A frame is known by the digest in force, so
a table that was made again is read again. Whoever must not trust memory (the gate) reads the lake itself.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pandas as pd

    from governance_pipeline.storage.lake import Lake

KEPT_ROWS: Final = 500_000
"""Rows of all kept frames together; beyond it the least recently used go. Some hundred MB at most."""


class KeptFrames:
    """Reads through to a lake and keeps what it read. Callers must not change the frames."""

    def __init__(self, lake: Lake, kept_rows: int = KEPT_ROWS) -> None:
        self._lake = lake
        self._kept_rows = kept_rows
        self._frames: OrderedDict[tuple[str, str, str], pd.DataFrame] = OrderedDict()
        self._rows = 0

    def get(self, table: str, round_id: str) -> pd.DataFrame:
        """Give the frame in force of one table and round; raises as `Lake.get`."""
        digest = self._lake.digest(table, round_id)
        key = (table, round_id, digest or "")
        if digest is not None and key in self._frames:
            self._frames.move_to_end(key)
            return self._frames[key]
        frame = self._lake.get(table, round_id)
        if digest is not None and self._lake.digest(table, round_id) == digest:
            self._keep(key, frame)
        return frame

    def _keep(self, key: tuple[str, str, str], frame: pd.DataFrame) -> None:
        self._frames[key] = frame
        self._rows += len(frame) + 1
        while self._rows > self._kept_rows:
            _, gone = self._frames.popitem(last=False)
            self._rows -= len(gone) + 1
