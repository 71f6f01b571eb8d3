# ruff: noqa: S608 - statements are built of positions and numbers; no text of a file is ever part of one
"""Which rows of two open tables a screened comparison compares: those whose 64-bit hashes, by key or together, differ.

What belongs here: choosing rows. What does not: comparing them (`crosscheck.dataset_diff_join`). A hash only ever
chooses: a row that is reported as different was found so by its values. Rows left out have equal hashes, which proves
nothing, since `hash` has no key and collisions can be made.

`Slots` gives each value between the smallest and the largest key a place of its own. One pass over each side then
answers two questions: whether the key is unique, which is a proof (as many places are taken as there are rows), and
which rows to compare. `by_buckets` is for every other key: it asks about many rows at once and proves nothing of keys.
Measured: research/performance.md W3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from governance_pipeline.crosscheck.dataset_diff_pair import key_cell
from governance_pipeline.crosscheck.dataset_diff_values import Family, family, told_apart
from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from governance_pipeline.crosscheck.dataset_diff_inputs import Side
    from governance_pipeline.crosscheck.dataset_diff_pair import Pair

_BUCKETS: Final = 2**16
"""Buckets of a screen: 2 MB per thread, and at 10 million rows 150 rows are compared for each that differs."""

_MOST_SLOTS: Final = 2**26
"""Nine bytes each: with the memory of the engine still under 2 GiB."""

_SLOTS_PER_ROW: Final = 8
_BATCH_ROWS: Final = 100_000
_MOST_COPIED: Final = 100_000
"""So few chosen rows are copied, so that examples need no third pass."""

_IN_OLD, _IN_NEW, _DIFFERS = np.uint8(1), np.uint8(2), np.uint8(4)


class Slots:
    """The rows to compare when the key is one integer column whose values lie close together.

    Attributes:
        rows: rows of the old and of the new side; each has a key of its own.
        chosen: how many keys are on one side only, or have rows with different hashes.
    """

    def __init__(self, rows: tuple[int, int], keys: Any) -> None:
        self.rows, self.chosen = rows, len(keys)
        self._keys = keys

    def relations(self, session: duckdb.DuckDBPyConnection, old: Side, new: Side, key: Pair) -> tuple[str, str]:
        """Return the FROM items `o` and `n` of the chosen rows of each side."""
        session.register("chosen_keys", pa.table({"k": self._keys}))
        session.execute(f"CREATE TEMP TABLE chosen AS SELECT k::{key.old_type} AS k FROM chosen_keys")
        session.unregister("chosen_keys")
        found = []
        for side, alias, at in ((old, "o", key.old_at), (new, "n", key.new_at)):
            rows = f"(FROM {side.relation(alias)} SEMI JOIN chosen ON {alias}.c{at} = chosen.k)"
            if self.chosen <= _MOST_COPIED:
                session.execute(f"CREATE TEMP TABLE chosen_{side.name} AS FROM {rows}")
                rows = f"chosen_{side.name}"
            found.append(f"{rows} AS {alias}")
        return found[0], found[1]


def by_slots(
    session: duckdb.DuckDBPyConnection, old: Side, new: Side, key: Sequence[Pair], pairs: Sequence[Pair]
) -> Slots | None:
    """Choose rows by a slot per key value; None when the keys do not allow it, are null somewhere or not unique.

    Raises:
        UnreadableError: a side is damaged, or changed while it was read.
    """
    if len(key) != 1 or any(pair.old_type != pair.new_type for pair in (*key, *pairs)):
        return None
    found = _range(session, old, new, key[0])
    if found is None:
        return None
    rows, least, slots = found
    hashes, marks = np.zeros(slots, np.uint64), np.zeros(slots, np.uint8)
    try:
        for side, at in ((old, 0), (new, 1)):
            sql = _hashes_sql(side, key[0], pairs, least, is_new=bool(at))
            if not _marked(session.sql(sql).to_arrow_reader(_BATCH_ROWS), hashes, marks, is_new=bool(at)):
                return None
    except (pa.ArrowException, OSError) as error:
        raise UnreadableError(f"the tables cannot be compared: {excerpt(str(error), 300)}") from None
    except IndexError:
        raise UnreadableError("a side changed while it was read: a key lies beyond the others; compare again") from None
    if rows != tuple(int(np.count_nonzero(marks & side)) for side in (_IN_OLD, _IN_NEW)):
        return None
    differs = (marks != 0) & (marks != (_IN_OLD | _IN_NEW))
    return Slots(rows, np.flatnonzero(differs).astype(np.int64) + least)


def by_buckets(
    session: duckdb.DuckDBPyConnection, old: Side, new: Side, key: Sequence[Pair], pairs: Sequence[Pair]
) -> tuple[str, str]:
    """Return the FROM items `o` and `n` of rows in buckets of keys whose rows differ in number or in their hashes.

    One pass over each side that keeps a few bytes per bucket, where hashes by key would be a row per row.
    """
    sides = _buckets_sql(old, key, pairs, "old_at"), _buckets_sql(new, key, pairs, "new_at")
    session.execute(
        "CREATE TEMP TABLE buckets AS SELECT coalesce(o.b, n.b) AS b "
        f"FROM ({sides[0]}) AS o FULL JOIN ({sides[1]}) AS n ON o.b = n.b "
        "WHERE o.rows IS DISTINCT FROM n.rows OR o.h IS DISTINCT FROM n.h"
    )
    return (
        f"(FROM {old.relation('o')} SEMI JOIN buckets AS k ON {_bucket(key, 'o', 'old_at')} = k.b) AS o",
        f"(FROM {new.relation('n')} SEMI JOIN buckets AS k ON {_bucket(key, 'n', 'new_at')} = k.b) AS n",
    )


def _range(session: duckdb.DuckDBPyConnection, old: Side, new: Side, key: Pair) -> tuple[Any, int, int] | None:
    """Rows of each side, smallest key, and slots up to the largest; None where slots would outgrow the rows."""
    if family(key.old_type) is not Family.INTEGER:
        return None
    sides = ((old, key.old_at), (new, key.new_at))
    found = []
    for side, at in sides:
        bounds = f"TRY_CAST(min(c{at}) AS BIGINT), TRY_CAST(max(c{at}) AS BIGINT)"
        found += session.execute(f"SELECT {bounds}, count(*) FROM {side.relation('r')}").fetchall()
    if any(None in bounds for bounds in found):
        return None
    least, most, rows = min(low for low, _, _ in found), max(high for _, high, _ in found), [n for _, _, n in found]
    slots = most - least + 1
    return (tuple(rows), least, slots) if slots <= min(_MOST_SLOTS, _SLOTS_PER_ROW * max(rows)) else None


def _marked(batches: Any, hashes: Any, marks: Any, *, is_new: bool) -> bool:
    """Mark the slots of one side's rows; false when a key is null.

    Two rows with one key take one slot whatever is written into it, and are found by counting the slots.
    """
    for batch in batches:
        if batch.column(0).null_count:
            return False
        at, found = batch.column(0).to_numpy(), batch.column(1).to_numpy()
        if is_new:
            marks[at] |= np.where(hashes[at] == found, _IN_NEW, _IN_NEW | _DIFFERS)
        else:
            hashes[at] = found
            marks[at] = _IN_OLD
    return True


def _hashes_sql(side: Side, key: Pair, pairs: Sequence[Pair], least: int, *, is_new: bool) -> str:
    """SELECT of slot and hash of each row; no slot overflows, because every key lies within 64 bits of the least."""
    cells = [told_apart(f"r.c{pair.new_at if is_new else pair.old_at}", pair.old_type) for pair in pairs] or ["0"]
    slot = f"r.c{key.new_at if is_new else key.old_at}::BIGINT - ({least})::BIGINT"
    return f"SELECT {slot} AS slot, hash({', '.join(cells)}) AS h FROM {side.relation('r')}"


def _buckets_sql(side: Side, key: Sequence[Pair], pairs: Sequence[Pair], position: str) -> str:
    cells = [key_cell(f"r.c{getattr(pair, position)}", pair) for pair in key]
    cells += [told_apart(f"r.c{getattr(pair, position)}", pair.old_type) for pair in pairs]
    return (
        f"SELECT {_bucket(key, 'r', position)} AS b, bit_xor(hash({', '.join(cells)})) AS h, count(*) AS rows "
        f"FROM {side.relation('r')} GROUP BY b"
    )


def _bucket(key: Sequence[Pair], alias: str, position: str) -> str:
    cells = ", ".join(key_cell(f"{alias}.c{getattr(pair, position)}", pair) for pair in key)
    return f"(hash({cells}) & {_BUCKETS - 1})"
