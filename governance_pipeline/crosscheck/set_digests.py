"""components_digest of many subjects out of the sorted texts of their rows.

What belongs here: cutting a stream of texts where the subject changes, and hashing. What does not: making the texts
(`crosscheck.set_sql`). SQL can do both, in an ordered aggregate that takes three times as long: here the texts of a
subject lie side by side in one buffer already.

Source: spec/crosscheck.md §12 (components_digest).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterable


def digest_table(batches: Iterable[Any]) -> pa.Table | None:
    """Return key and digest of each subject; None without rows.

    Args:
        batches: record batches of (key, text), ordered by key and line; each text begins with the line feed that
            separates it from the one before, which the first one of a subject does not have.
    """
    parts: list[pa.RecordBatch] = []
    open_key: Any = None
    running = hashlib.sha256()
    for batch in batches:
        if not batch.num_rows:
            continue
        keys, (starts, ends), data = batch.column(0), _groups(batch.column(0)), _Texts(batch.column(1))
        continues = open_key is not None and keys[0].equals(open_key)
        if open_key is not None and not continues:
            parts.append(_part(pa.array([open_key.as_py()], keys.type), [running.hexdigest()]))
        if not continues:
            running = hashlib.sha256()
        last = len(starts) - 1
        digests = []
        for at, (start, end) in enumerate(zip(*data.places(starts, ends), strict=True)):
            if at or not continues:
                running = hashlib.sha256(data.bytes[start + 1 : end])
            else:
                running.update(data.bytes[start:end])
            if at < last:
                digests.append(running.hexdigest())
        parts.append(_part(keys.take(pa.array(starts[:last])), digests))
        open_key = keys[len(keys) - 1]
    if open_key is None:
        return None
    parts.append(_part(pa.array([open_key.as_py()], open_key.type), [running.hexdigest()]))
    return pa.Table.from_batches(parts)


class _Texts:
    """The texts of one column as bytes that lie side by side."""

    def __init__(self, column: Any) -> None:
        column = column.cast(pa.large_string())
        _, offsets, data = column.buffers()
        self.bytes = memoryview(data)
        self._offsets = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]

    def places(self, starts: Any, ends: Any) -> tuple[list[int], list[int]]:
        """Return where the bytes of each group of rows start and end."""
        return self._offsets[starts].tolist(), self._offsets[ends].tolist()


def _groups(keys: Any) -> tuple[Any, Any]:
    """Rows at which each run of equal keys starts and ends."""
    changes = np.flatnonzero(pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1)).to_numpy(zero_copy_only=False))
    starts = np.concatenate([[0], changes + 1])
    return starts, np.append(starts[1:], len(keys))


def _part(keys: Any, digests: list[str]) -> Any:
    return pa.record_batch([keys, pa.array(digests, pa.string())], names=["key", "digest"])
