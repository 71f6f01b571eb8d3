# ruff: noqa: S608 - statements are built of positions, numbers and quoted names; no text of a file is ever part of one
"""Two open tables joined by their key: which rows are the same, which differ and where, which are on one side only.

What belongs here: statements over both sides. What does not: opening them (`crosscheck.dataset_diff_inputs`), when two
cells are the same (`crosscheck.dataset_diff_values`), and documents. Rows are matched by key alone, never by position,
and only after each key was shown to be unique: a repeated key would multiply in the join.

Differing hashes prove a difference, equal ones prove nothing (`hash` has no key, so collisions can be made): hashes
only ever choose candidates, and every difference that is reported was found by comparing values.
Measured: research/performance.md W3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.crosscheck.dataset_diff_pair import Pair, key_cell
from governance_pipeline.crosscheck.dataset_diff_screen import by_buckets, by_slots
from governance_pipeline.crosscheck.dataset_diff_values import (
    BEYOND,
    Family,
    Tolerance,
    beyond,
    differs,
    family,
    is_beyond,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from governance_pipeline.crosscheck.dataset_diff_inputs import Column, Side
    from governance_pipeline.crosscheck.dataset_diff_screen import Slots

BOTH, ONLY_OLD, ONLY_NEW = 0, 1, 2
"""Where the rows of a key are."""

_CELL_CHARACTERS: Final = 1000
_COLUMNS_AT_ONCE: Final = 32
_BITMAP_BITS: Final = 2**29
_BITS_PER_ROW: Final = 64
"""A bitmap of all values between the smallest and the largest key must not outgrow the keys themselves."""


class KeyFacts(NamedTuple):
    """What was found of the key on one side: rows, rows with a null in it, rows whose key another row has too."""

    rows: int
    null_rows: int
    duplicate_rows: int
    examples: tuple[tuple[str | None, ...], ...]


class Cells(NamedTuple):
    """The two cells of a key in one column, as text; None is a null."""

    key: tuple[str | None, ...]
    old: str | None
    new: str | None


class KeyedJoin:
    """Old and new inside one session; `compare` must run before anything is counted or shown."""

    def __init__(
        self, session: duckdb.DuckDBPyConnection, old: Side, new: Side, key: Sequence[str], examples: int
    ) -> None:
        self._session, self.old, self.new, self._examples = session, old, new, examples
        pairs = [
            Pair(column.name, at, other, column.sql_type, new.columns[other].sql_type)
            for at, column in enumerate(old.columns)
            if (other := new.position(column.name)) is not None
        ]
        by_name = {pair.name: pair for pair in pairs}
        self.key = [by_name[name] for name in key]
        self.pairs = [pair for pair in pairs if pair.name not in key]
        self._tolerated: list[int] = []
        self._slots: Slots | None = None
        self._rows = old.relation("o"), new.relation("n")
        session.create_function(BEYOND, is_beyond, ["VARCHAR", "VARCHAR", "VARCHAR"], "BOOLEAN")

    def facts(self, *, screen: bool) -> tuple[KeyFacts, KeyFacts]:
        """Return what is wrong with the key on each side; with a screen, rows are chosen in the same pass if it can."""
        if screen:
            self._slots = by_slots(self._session, self.old, self.new, self.key, self.pairs)
        if self._slots is not None:
            old, new = self._slots.rows
            return KeyFacts(old, 0, 0, ()), KeyFacts(new, 0, 0, ())
        return self.key_facts(self.old), self.key_facts(self.new)

    def key_facts(self, side: Side) -> KeyFacts:
        """Return what is wrong with the key on one side; the example keys are the smallest repeated ones."""
        cells = self._cells(side)
        relation = side.relation("r")
        (rows,) = self._one(f"SELECT count(*) FROM {relation}")
        if self._is_unique_by_bitmap(side, cells, rows):
            return KeyFacts(rows, 0, 0, ())
        nulls = " OR ".join(f"{cell} IS NULL" for cell in cells)
        (null_rows,) = self._one(f"SELECT count(*) FILTER ({nulls}) FROM {relation}")
        groups = (
            f"SELECT {', '.join(cells)}, count(*) AS n FROM {relation} WHERE NOT ({nulls}) GROUP BY ALL HAVING n > 1"
        )
        (repeated,) = self._one(f"SELECT coalesce(sum(n), 0) FROM ({groups})")
        if not repeated:
            return KeyFacts(rows, null_rows, 0, ())
        order = f"SELECT COLUMNS(* EXCLUDE n)::VARCHAR FROM ({groups}) ORDER BY ALL LIMIT {self._examples}"
        return KeyFacts(rows, null_rows, int(repeated), tuple(self._session.execute(order).fetchall()))

    def compare(self, tolerances: Mapping[str, Tolerance], *, screen: bool) -> None:
        """Find every row that differs: by a full join of all values, or of the rows a screen chose.

        Args:
            tolerances: by column; the others must be the same value.
            screen: whether rows with equal hashes are taken as the same without comparing them; a column of two types
                has no common hash, and then every value is compared all the same.
        """
        compared = self._rows
        if self._slots is not None:
            compared = self._rows = self._slots.relations(self._session, self.old, self.new, self.key[0], self.pairs)
        elif screen and all(pair.old_type == pair.new_type for pair in self.pairs):
            compared = by_buckets(self._session, self.old, self.new, self.key, self.pairs)
        flags = self._flags(tolerances)
        keys = [f"coalesce({o}, {n}) AS k{at}" for at, (o, n) in enumerate(self._joined_cells())]
        first = self.key[0]
        absent = (f"n.c{first.new_at} IS NULL", f"o.c{first.old_at} IS NULL")
        state = f"CASE WHEN {absent[0]} THEN {ONLY_OLD} WHEN {absent[1]} THEN {ONLY_NEW} ELSE {BOTH} END AS state"
        kept = " OR ".join(
            [f"state <> {BOTH}", *(f"f{at}" for at in range(len(self.pairs))), *(f"t{at}" for at in self._tolerated)]
        )
        self._session.execute(
            f"CREATE TEMP TABLE differing AS FROM (SELECT {', '.join([*keys, state, *flags])} "
            f"FROM {compared[0]} FULL JOIN {compared[1]} ON {self._condition()}) WHERE {kept}"
        )

    def _flags(self, tolerances: Mapping[str, Tolerance]) -> list[str]:
        """Flag `f<i>` for each pair: differs, beyond its tolerance; and `t<i>` where it has one: differs at all."""
        read = range(len(self.pairs)) if self._slots is None else self._slots.columns
        flags = []
        for at, pair in enumerate(self.pairs):
            cells = (f"o.c{pair.old_at}", pair.old_type, f"n.c{pair.new_at}", pair.new_type)
            allowed = tolerances.get(pair.name)
            flag = differs(*cells) if allowed is None else beyond(*cells, allowed)
            flags.append(f"{flag if at in read else 'false'} AS f{at}")
            if allowed is not None:
                self._tolerated.append(at)
                flags.append(f"{differs(*cells) if at in read else 'false'} AS t{at}")
        return flags

    def counts(self) -> tuple[dict[int, int], int]:
        """Return the differing rows by where they are, and how many on both sides differ within tolerances only."""
        any_flag = " OR ".join(f"f{at}" for at in range(len(self.pairs))) or "false"
        found = self._session.execute(
            f"SELECT state, state = {BOTH} AND NOT ({any_flag}), count(*) FROM differing GROUP BY ALL"
        ).fetchall()
        beyond_all = dict.fromkeys((BOTH, ONLY_OLD, ONLY_NEW), 0)
        within = 0
        for state, is_within, count in found:
            if is_within:
                within += count
            else:
                beyond_all[state] += count
        return beyond_all, within

    def column_counts(self) -> list[tuple[int, int]]:
        """Return for each pair how many rows differ, and how many more lie apart but within its tolerance."""
        if not self.pairs:
            return []
        sums = []
        for at in range(len(self.pairs)):
            sums.append(f"count(*) FILTER (f{at})")
            sums.append(f"count(*) FILTER (t{at} AND NOT f{at})" if at in self._tolerated else "0")
        found = self._one(f"SELECT {', '.join(sums)} FROM differing WHERE state = {BOTH}")
        return list(zip(found[::2], found[1::2], strict=True))

    def examples_of(self, state: int) -> tuple[tuple[str | None, ...], ...]:
        """Return the smallest keys that are on one side only."""
        return tuple(
            self._session.execute(
                f"SELECT {self._shown_keys('d')} FROM (FROM differing WHERE state = {state} "
                f"ORDER BY {self._key_order()} LIMIT {self._examples}) AS d ORDER BY {self._key_order('d')}"
            ).fetchall()
        )

    def examples_by_column(self, divergent: Sequence[int]) -> dict[int, tuple[Cells, ...]]:
        """Return for each of these pairs the cells of the smallest keys where it differs."""
        found: dict[int, tuple[Cells, ...]] = {}
        for first in range(0, len(divergent), _COLUMNS_AT_ONCE):
            found |= self._examples_of_some(divergent[first : first + _COLUMNS_AT_ONCE])
        return found

    def _examples_of_some(self, some: Sequence[int]) -> dict[int, tuple[Cells, ...]]:
        order = self._key_order()
        chosen = " UNION ".join(
            f"(FROM differing WHERE state = {BOTH} AND f{at} ORDER BY {order} LIMIT {self._examples})" for at in some
        )
        cells = []
        for at in some:
            pair = self.pairs[at]
            cells += [f"d.f{at}", _shown(f"o.c{pair.old_at}"), _shown(f"n.c{pair.new_at}")]
        rows = self._session.execute(
            f"SELECT {self._shown_keys('d')}, {', '.join(cells)} FROM ({chosen}) AS d "
            f"JOIN {self._rows[0]} ON {self._is_key('d', 'o', 'old_at')} "
            f"JOIN {self._rows[1]} ON {self._is_key('d', 'n', 'new_at')} ORDER BY {self._key_order('d')}"
        ).fetchall()
        width = len(self.key)
        return {
            at: tuple(
                Cells(row[:width], row[width + 3 * place + 1], row[width + 3 * place + 2])
                for row in rows
                if row[width + 3 * place]
            )[: self._examples]
            for place, at in enumerate(some)
        }

    def _is_unique_by_bitmap(self, side: Side, cells: Sequence[str], rows: int) -> bool:
        """Whether a bitmap shows a single integer key to be unique, never null; false when only grouping can tell."""
        if len(cells) != 1 or family(self._type(side, 0)) is not Family.INTEGER or not rows:
            return False
        least, most = self._one(
            f"SELECT TRY_CAST(min({cells[0]}) AS HUGEINT), TRY_CAST(max({cells[0]}) AS HUGEINT) "
            f"FROM {side.relation('r')}"
        )
        if least is None or most is None or most - least >= min(_BITMAP_BITS, _BITS_PER_ROW * rows):
            return False
        offset = f"({cells[0]} - {least})::BIGINT"
        (distinct,) = self._one(
            f"SELECT bit_count(bitstring_agg({offset}, 0, {most - least})) FROM {side.relation('r')}"
        )
        return bool(distinct == rows)

    def _type(self, side: Side, at: int) -> str:
        column: Column = side.columns[self._at(side)[at]]
        return column.sql_type

    def _at(self, side: Side) -> list[int]:
        return [pair.old_at if side is self.old else pair.new_at for pair in self.key]

    def _cells(self, side: Side) -> list[str]:
        return [f"r.c{at}" for at in self._at(side)]

    def _joined_cells(self, old: str = "o", new: str = "n") -> list[tuple[str, str]]:
        return [(key_cell(f"{old}.c{pair.old_at}", pair), key_cell(f"{new}.c{pair.new_at}", pair)) for pair in self.key]

    def _condition(self) -> str:
        return " AND ".join(f"{old} = {new}" for old, new in self._joined_cells())

    def _is_key(self, keys: str, alias: str, position: str) -> str:
        return " AND ".join(
            f"{keys}.k{at} = {key_cell(f'{alias}.c{getattr(pair, position)}', pair)}"
            for at, pair in enumerate(self.key)
        )

    def _shown_keys(self, alias: str) -> str:
        return ", ".join(_shown(f"{alias}.k{at}") for at in range(len(self.key)))

    def _key_order(self, alias: str = "") -> str:
        return ", ".join(f"{alias}{'.' if alias else ''}k{at}" for at in range(len(self.key)))

    def _one(self, sql: str) -> tuple[Any, ...]:
        row = self._session.execute(sql).fetchone()
        assert row is not None
        return tuple(row)


def _shown(cell: str) -> str:
    return f"left({cell}::VARCHAR, {_CELL_CHARACTERS})"
