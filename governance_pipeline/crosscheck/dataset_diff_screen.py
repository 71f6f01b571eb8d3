# ruff: noqa: S608 - statements are built of positions and numbers; no text of a file is ever part of one
"""Which rows of two open tables a screened comparison compares: those whose 64-bit hashes, by key or together, differ.

What belongs here: choosing rows. What does not: comparing them (`crosscheck.dataset_diff_join`). A hash only ever
chooses: a row that is reported as different was found so by its values. Rows left out have equal hashes, which proves
nothing, since `hash` has no key and collisions can be made.

`Slots` gives each value between the smallest and the largest key a place of its own. One pass over each side then
answers three questions: whether the key is unique, which is a proof (as many places are taken as there are rows),
which rows to compare, and in which columns: a second hash of a row takes that of each cell by a shift of its own, so
the two differences of a row that differs in one column tell which one. `by_buckets` is for every other key: it asks
about many rows at once and proves nothing of keys.
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

_MOST_SLOTS: Final = 2**25
"""17 bytes each: with the memory of the engine still under 2 GiB."""

_SLOTS_PER_ROW: Final = 8
_BATCH_ROWS: Final = 100_000
_MOST_COPIED: Final = 100_000
"""So few chosen rows are copied, so that examples need no third pass."""

_SHIFTS: Final = 31
"""Shifts of the second hash: 33 bits of a difference are left, so that no column is taken for another one."""

_IN_OLD, _IN_NEW, _DIFFERS = np.uint8(1), np.uint8(2), np.uint8(4)


class Slots:
    """The rows to compare when the key is one integer column whose values lie close together.

    Attributes:
        rows: rows of the old and of the new side; each has a key of its own.
        chosen: how many keys are on one side only, or have rows with different hashes.
        columns: positions, among the columns of both sides, of those whose hashes differ in some row.
    """

    def __init__(self, rows: tuple[int, int], keys: Any, columns: list[int]) -> None:
        self.rows, self.chosen, self.columns = rows, len(keys), columns
        self._keys = keys

    def relations(
        self, session: duckdb.DuckDBPyConnection, old: Side, new: Side, key: Pair, pairs: Sequence[Pair]
    ) -> tuple[str, str]:
        """Return the FROM items `o` and `n` of the chosen rows, with key and `columns`, which are all that is read."""
        session.register("chosen_keys", pa.table({"k": self._keys}))
        session.execute(f"CREATE TEMP TABLE chosen AS SELECT k::{key.old_type} AS k FROM chosen_keys")
        session.unregister("chosen_keys")
        found = []
        wanted = [key, *(pairs[at] for at in self.columns)]
        for side, alias, position in ((old, "o", "old_at"), (new, "n", "new_at")):
            cells = ", ".join(f"{alias}.c{getattr(pair, position)}" for pair in wanted)
            matching = f"{alias}.c{getattr(key, position)} = chosen.k"
            rows = f"(SELECT {cells} FROM {side.relation(alias)} SEMI JOIN chosen ON {matching})"
            if self.chosen <= _MOST_COPIED:
                session.execute(f"CREATE TEMP TABLE chosen_{side.name} AS FROM {rows}")
                rows = f"chosen_{side.name}"
            found.append(f"{rows} AS {alias}")
        return found[0], found[1]


class _Marks:
    """What is known of each slot, and the shifts by which rows were found to differ."""

    def __init__(self, slots: int) -> None:
        self.of_slot = np.zeros(slots, np.uint8)
        # Both hashes of a slot are moved as one item: a slot is somewhere in memory, and going there is what costs.
        self._hashes = np.zeros(slots, np.complex128)
        self.shifts: set[int] = set()

    def taken(self, batches: Any, *, is_new: bool) -> bool:
        """Mark the slots of one side's rows; false when a key is null.

        Two rows with one key take one slot whatever is written into it, and are found by counting the slots.
        """
        for batch in batches:
            if batch.column(0).null_count:
                return False
            at, found = batch.column(0).to_numpy(), np.empty((batch.num_rows, 2), np.uint64)
            for place in (0, 1):
                found[:, place] = batch.column(place + 1).to_numpy()
            if is_new:
                self._compared(at, found)
            else:
                self._hashes[at], self.of_slot[at] = found.view(np.complex128)[:, 0], _IN_OLD
        return True

    def _compared(self, at: Any, found: Any) -> None:
        known, before = self._hashes[at].view(np.uint64).reshape(-1, 2), self.of_slot[at]
        differs = (known[:, 0] != found[:, 0]) | (known[:, 1] != found[:, 1])
        self.of_slot[at] = before | np.where(differs, _IN_NEW | _DIFFERS, _IN_NEW)
        rows = np.flatnonzero(differs & (before == _IN_OLD))
        first, second = (known[rows] ^ found[rows]).T
        explained = np.zeros(len(rows), bool)
        for shift in range(_SHIFTS):
            by_this = second == first >> np.uint64(shift)
            explained |= by_this
            if by_this.any():
                self.shifts.add(shift)
        if not explained.all():  # rows that differ in several columns
            self.shifts.update(range(_SHIFTS))


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
    marks = _Marks(slots)
    try:
        for side, at in ((old, 0), (new, 1)):
            sql = _hashes_sql(side, key[0], pairs, least, is_new=bool(at))
            if not marks.taken(session.sql(sql).to_arrow_reader(_BATCH_ROWS), is_new=bool(at)):
                return None
    except (pa.ArrowException, OSError) as error:
        raise UnreadableError(f"the tables cannot be compared: {excerpt(str(error), 300)}") from None
    except IndexError:
        raise UnreadableError("a side changed while it was read: a key lies beyond the others; compare again") from None
    if rows != tuple(int(np.count_nonzero(marks.of_slot & side)) for side in (_IN_OLD, _IN_NEW)):
        return None
    differs = (marks.of_slot != 0) & (marks.of_slot != (_IN_OLD | _IN_NEW))
    columns = [at for at in range(len(pairs)) if at % _SHIFTS in marks.shifts]
    return Slots(rows, np.flatnonzero(differs).astype(np.int64) + least, columns)


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


def _hashes_sql(side: Side, key: Pair, pairs: Sequence[Pair], least: int, *, is_new: bool) -> str:
    """SELECT of slot and both hashes of each row; no slot overflows: every key lies within 64 bits of the least."""
    cells = []
    for at, pair in enumerate(pairs):
        cell = f"hash({told_apart(f'r.c{pair.new_at if is_new else pair.old_at}', pair.old_type)})"
        # Columns that share a shift are hashed apart, or the same change in two of them would cancel out.
        cells.append(cell if at < _SHIFTS else f"hash(xor({cell}, {at // _SHIFTS}::UBIGINT))")
    first, second = _xor(cells), _xor([f"({cell} >> {at % _SHIFTS})" for at, cell in enumerate(cells)])
    slot = f"r.c{key.new_at if is_new else key.old_at}::BIGINT - ({least})::BIGINT"
    return f"SELECT {slot} AS slot, {first} AS h, {second} AS s FROM {side.relation('r')}"


def _xor(terms: list[str]) -> str:
    """SQL that takes terms together; a tree, because the engine allows no expression 1000 levels deep."""
    if len(terms) <= 1:
        return terms[0] if terms else "0::UBIGINT"
    middle = len(terms) // 2
    return f"xor({_xor(terms[:middle])}, {_xor(terms[middle:])})"


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
