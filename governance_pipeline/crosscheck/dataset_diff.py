"""Two versions of a table compared by primary key: the second public face of the cross-check engine.

What belongs here: the question (`compare_datasets_by_primary_key`), what may be a key, and the answer. What does not:
files (`crosscheck.dataset_diff_inputs`), statements (`crosscheck.dataset_diff_join`) and what a person sees
(`crosscheck.dataset_diff_page`). Neither side is ever written, and nothing is reconciled.

Source: spec/framework.md §2; exactness and bounds: research/performance.md W3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck.dataset_diff_inputs import MEMORY, open_sides
from governance_pipeline.crosscheck.dataset_diff_join import BOTH, ONLY_NEW, ONLY_OLD, Cells, KeyedJoin, KeyFacts
from governance_pipeline.crosscheck.dataset_diff_values import Family, Tolerance, family
from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from governance_pipeline.crosscheck.dataset_diff_inputs import Column, Dataset, OpenSides, Side
    from governance_pipeline.strict.files import FileDigest

EXAMPLES: Final = 5
"""Examples of each kind of difference, those with the smallest keys."""

POSITIONS: Final = frozenset({"rowid", "_rowid_", "rownum", "row_number", "file_row_number", "ctid"})
"""Names of row positions, in any case: where a row stands says nothing about which row it is."""


class KeyFault(StrEnum):
    """Why two tables cannot be compared by a key; the first that applies."""

    IS_POSITION = "key_is_position"
    MISSING = "key_missing"
    TYPE = "key_type"
    NULL = "key_null"
    DUPLICATE = "key_duplicate"


class Method(StrEnum):
    """How sameness was shown: every value compared, or rows with equal hashes taken as the same."""

    EXACT = "exact"
    SCREENED = "screened"


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What was read of one side: file, digest and size (None for a frame), table, and what was found of its key."""

    path: str | None
    table: str | None
    digest: FileDigest | None
    key: KeyFacts | None


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """A column of both sides that is no part of the key.

    Attributes:
        name: as in the files.
        old_type: SQL type on the old side.
        new_type: SQL type on the new side.
        divergent: rows in which its two values differ, beyond the tolerance if there is one.
        within_tolerance: rows in which they differ, but no further than the tolerance.
        epsilon: the tolerance, in the unit of the column; None without.
        epsilon_reason: why values so close are the same.
        examples: the cells of the smallest keys where they differ.
    """

    name: str
    old_type: str
    new_type: str
    divergent: int
    within_tolerance: int
    epsilon: Decimal | None
    epsilon_reason: str | None
    examples: tuple[Cells, ...]


@dataclass(frozen=True, slots=True)
class DatasetComparison:
    """The answer; all counts are None when the key cannot be used, because then nothing was compared.

    Attributes:
        ok: whether the tables could be compared by this key.
        reason_code: why not.
        message: the same in words.
        method: how sameness was shown.
        key: names of the key columns.
        old: what was read of the old side.
        new: what was read of the new side.
        identical: rows of both sides that are the same in every column both have, tolerances applied.
        within_tolerance: those of them that are so only by a tolerance.
        divergent: rows of both sides with a value that differs.
        only_old: rows whose key the new side does not have.
        only_new: rows whose key the old side does not have.
        columns: what was found column by column, in the order of the old side.
        added: columns of the new side alone.
        removed: columns of the old side alone.
        key_types: old and new type of each key column.
        examples_only_old: smallest keys of the old side alone.
        examples_only_new: smallest keys of the new side alone.
    """

    ok: bool
    reason_code: KeyFault | None
    message: str
    method: Method
    key: tuple[str, ...]
    old: SideFacts
    new: SideFacts
    identical: int | None = None
    within_tolerance: int | None = None
    divergent: int | None = None
    only_old: int | None = None
    only_new: int | None = None
    columns: tuple[ColumnDifference, ...] = ()
    added: tuple[Column, ...] = ()
    removed: tuple[Column, ...] = ()
    key_types: tuple[tuple[str, str], ...] = ()
    examples_only_old: tuple[tuple[str | None, ...], ...] = ()
    examples_only_new: tuple[tuple[str | None, ...], ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether nothing differs: no row, no value beyond its tolerance, no column, no type."""
        types = [*self.key_types, *((column.old_type, column.new_type) for column in self.columns)]
        rows = self.divergent == self.only_old == self.only_new == 0
        return self.ok and rows and not self.added and not self.removed and all(old == new for old, new in types)


def compare_datasets_by_primary_key(
    old: Dataset,
    new: Dataset,
    key_field: str | Sequence[str],
    *,
    tolerances: Sequence[Tolerance] = (),
    examples: int = EXAMPLES,
    screen: bool = False,
    memory: str = MEMORY,
) -> DatasetComparison:
    """Compare two tables row by row through their primary key, never by position.

    Args:
        old: Parquet, CSV or DuckDB file, or a frame; opened for reading only.
        new: the same.
        key_field: column that identifies a row, or several that do so together.
        tolerances: columns whose numbers may lie apart a little, with the reason.
        examples: examples kept of each kind of difference.
        screen: take rows with equal 64-bit hashes as the same: less time and memory, no proof that nothing differs.
        memory: what the engine may hold before it spills to disk.

    Returns:
        What was found. `ok` is false, with a reason, when the key is a position, missing, of a type that identifies
        nothing (a float, a nested value), null in a row or not unique.

    Raises:
        UsageError: no key, a column named twice, a tolerance without its column, a format that is not read.
        UnreadableError: a side cannot be read, or changed while it was read.
    """
    key = (key_field,) if isinstance(key_field, str) else tuple(key_field)
    if not key or len(set(key)) < len(key):
        raise UsageError("a comparison needs a key: the name of a column, or of several different ones")
    method = Method.SCREENED if screen else Method.EXACT
    with open_sides(old, new, memory) as (sides, left, right):
        fault = _unusable(key, left, right)
        if fault is not None:
            facts = _facts(sides, left, None), _facts(sides, right, None)
            return DatasetComparison(False, *fault, method, key, *facts)
        allowed = _by_column(tolerances, key, left, right)
        return _compared(sides, KeyedJoin(sides.session, left, right, key, examples), method, allowed)


def _compared(sides: OpenSides, join: KeyedJoin, method: Method, allowed: dict[str, Tolerance]) -> DatasetComparison:
    screen = method is Method.SCREENED
    keys = join.facts(screen=screen)
    names = tuple(pair.name for pair in join.key)
    fault = _not_unique(keys)
    answer = {}
    if fault is None:
        join.compare(allowed, screen=screen)
        answer = _answer(join, keys, allowed)
    # Last, so that the digests are of files that stayed as they are until everything was read.
    facts = _facts(sides, join.old, keys[0]), _facts(sides, join.new, keys[1])
    reason, message = fault or (None, "")
    return DatasetComparison(fault is None, reason, message, method, names, *facts, **answer)


def _answer(join: KeyedJoin, keys: tuple[KeyFacts, KeyFacts], allowed: dict[str, Tolerance]) -> dict[str, Any]:
    """What was found, as members of the answer."""
    states, within = join.counts()
    identical = keys[0].rows - states[ONLY_OLD] - states[BOTH]
    if identical != keys[1].rows - states[ONLY_NEW] - states[BOTH]:
        raise UnreadableError("a side changed while it was read: its rows do not add up; compare again")
    return {
        "identical": identical,
        "within_tolerance": within,
        "divergent": states[BOTH],
        "only_old": states[ONLY_OLD],
        "only_new": states[ONLY_NEW],
        "columns": _columns(join, allowed),
        "added": tuple(column for column in join.new.columns if join.old.position(column.name) is None),
        "removed": tuple(column for column in join.old.columns if join.new.position(column.name) is None),
        "key_types": tuple((pair.old_type, pair.new_type) for pair in join.key),
        "examples_only_old": join.examples_of(ONLY_OLD) if states[ONLY_OLD] else (),
        "examples_only_new": join.examples_of(ONLY_NEW) if states[ONLY_NEW] else (),
    }


def _columns(join: KeyedJoin, allowed: dict[str, Tolerance]) -> tuple[ColumnDifference, ...]:
    counts = join.column_counts()
    shown = join.examples_by_column([at for at, (divergent, _) in enumerate(counts) if divergent])
    return tuple(
        ColumnDifference(
            pair.name,
            pair.old_type,
            pair.new_type,
            *counts[at],
            epsilon=allowed[pair.name].epsilon if pair.name in allowed else None,
            epsilon_reason=allowed[pair.name].reason if pair.name in allowed else None,
            examples=shown.get(at, ()),
        )
        for at, pair in enumerate(join.pairs)
    )


def _unusable(key: tuple[str, ...], left: Side, right: Side) -> tuple[KeyFault, str] | None:
    for name in key:
        shown = excerpt(name, 60)
        if name.casefold() in POSITIONS:
            return KeyFault.IS_POSITION, f"{shown} is the position of a row, not its identity; name a column that is"
        for side in (left, right):
            at = side.position(name)
            if at is None:
                return KeyFault.MISSING, f"the {side.name} side has no column {shown}; name a column both sides have"
            sql_type = side.columns[at].sql_type
            if family(sql_type) in {Family.FLOAT, Family.NESTED} or sql_type == "INTERVAL":
                return (
                    KeyFault.TYPE,
                    f"{shown} is {excerpt(sql_type, 40)} on the {side.name} side, which is no identity",
                )
    return None


def _not_unique(found: Sequence[KeyFacts]) -> tuple[KeyFault, str] | None:
    for name, facts in zip(("old", "new"), found, strict=True):
        if facts.null_rows:
            return KeyFault.NULL, f"the key is null in {facts.null_rows} of {facts.rows} rows of the {name} side"
    for name, facts in zip(("old", "new"), found, strict=True):
        if facts.duplicate_rows:
            return KeyFault.DUPLICATE, f"{facts.duplicate_rows} of {facts.rows} rows of the {name} side share their key"
    return None


def _by_column(tolerances: Sequence[Tolerance], key: tuple[str, ...], left: Side, right: Side) -> dict[str, Tolerance]:
    allowed: dict[str, Tolerance] = {}
    for one in tolerances:
        shown = excerpt(one.column, 60)
        if one.column in allowed:
            raise UsageError(f"column {shown} has two tolerances; keep one")
        if one.column in key or left.position(one.column) is None or right.position(one.column) is None:
            raise UsageError(f"tolerance of {shown}: it must be a column of both sides that is no part of the key")
        allowed[one.column] = one
    return allowed


def _facts(sides: OpenSides, side: Side, key: KeyFacts | None) -> SideFacts:
    return SideFacts(None if side.path is None else str(side.path), side.table, sides.digest(side), key)
