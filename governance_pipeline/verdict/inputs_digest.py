"""Digest of everything a verdict was made from, so that two verdicts can be told to rest on the same rows.

What belongs here: the digest. What does not: the policy, which has its own. The rows are hashed column by column from
their Arrow form: exact, and fast enough for logs of a million steps.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from governance_pipeline.contracts.registry import version_of
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.verdict.round_view import INPUTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from governance_pipeline.verdict.baseline import Baseline
    from governance_pipeline.verdict.round_view import RowsByRound


class _Column(NamedTuple):
    """One column as texts: which are null, where each ends in `data`."""

    name: str
    is_null: NDArray[np.bool_]
    ends: NDArray[np.int64]
    data: memoryview


class InputDigests:
    """Digests of the input rows of rounds; each column is made text once for all of them."""

    def __init__(self, source: RowsByRound) -> None:
        """Take the tables; nothing is computed yet."""
        self._source = source
        self._columns: dict[str, list[_Column]] = {}

    def digest(self, round_id: str, baseline: Baseline) -> str:
        """Digest of one round's rows in every input table, in stored order, and of what its parent has and promised.

        Returns:
            `sha256:` and 64 hex digits.
        """
        tables = {table: [version_of(table), self._rows_digest(table, round_id)] for table in INPUTS}
        known = None if baseline.first_seen is None else dict(baseline.first_seen)
        parent = [] if baseline.round_id is None else self._source.part("core_rounds", baseline.round_id).to_pylist()
        promised = parent[0]["contract_sha256"] if parent else None
        document: dict[str, Any] = {
            "tables": tables,
            "baseline": {"round_id": baseline.round_id, "first_seen": known, "contract_sha256": promised},
        }
        return f"sha256:{sha256_hex(canonical_json(document))}"

    def _rows_digest(self, table: str, round_id: str) -> str:
        """SHA-256 over each column in order: name, number of rows, nulls, lengths, texts; of nothing without rows."""
        digest = hashlib.sha256()
        first, end = self._source.bounds(table, round_id)
        if first == end:
            return digest.hexdigest()
        if table not in self._columns:
            self._columns[table] = _columns(self._source.whole(table))
        for column in self._columns[table]:
            ends = column.ends[first : end + 1]
            digest.update(f"{column.name}\x00{end - first}\x00".encode())
            digest.update(column.is_null[first:end].tobytes())
            digest.update((ends - ends[0]).tobytes())
            digest.update(column.data[ends[0] : ends[-1]])
        return digest.hexdigest()


def _columns(whole: pa.Table) -> list[_Column]:
    return [_column(name, whole[name].combine_chunks()) for name in whole.column_names]


def _column(name: str, values: pa.Array) -> _Column:
    """A column as texts: what Arrow casts a value to, for a time its microseconds."""
    exact = values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values
    texts = exact.cast(pa.large_string()).fill_null("")
    _, offsets, data = texts.buffers()
    ends = np.zeros(1, dtype=np.int64) if offsets is None else np.frombuffer(offsets, dtype="<i8")[: len(texts) + 1]
    return _Column(name, values.is_null().to_numpy(zero_copy_only=False), ends, memoryview(data or b""))
