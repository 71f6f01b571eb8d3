"""Which checks over which Parquet files SQL can be exact about, and the views it reads.

What belongs here: opening the session and deciding. What does not: making records (`crosscheck.set_records`).
"""

# ruff: noqa: S608 - statements are built of positions and descriptors; no text of a file is part of one

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from governance_pipeline.crosscheck.formula import Column, Function
from governance_pipeline.crosscheck.set_records import SetRecords
from governance_pipeline.crosscheck.set_sql import (
    INTEGERS,
    SetPlan,
    aggregate_of,
    decimals_of,
    fixed_point_scale,
    is_summable,
    plain_extremes_sql,
)
from governance_pipeline.crosscheck.source import SourceFormat
from governance_pipeline.crosscheck.stored_records import MEMORY
from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.sql_session import literal, open_session
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal
    from pathlib import Path

    import duckdb

    from governance_pipeline.crosscheck.check import Check
    from governance_pipeline.crosscheck.formula import Aggregate
    from governance_pipeline.crosscheck.policy import EpsilonPolicy
    from governance_pipeline.crosscheck.source import Source


@contextmanager
def opened_set(
    check: Check, declared: Source, components: Source, policy: EpsilonPolicy, spill: Path
) -> Iterator[SetRecords | None]:
    """Open a check over two Parquet files for SQL, read-only; gives None when SQL cannot be exact about them.

    Args:
        check: what is compared.
        declared: source of the declared column.
        components: the one source its formula reads.
        policy: epsilon policy in force.
        spill: folder for what does not fit in memory.
    """
    import duckdb

    files = [declared.file, components.file]
    aggregate = aggregate_of(check)
    with ExitStack() as stack:
        found = None
        if aggregate is not None and all(file is not None and file.suffix == SourceFormat.PARQUET for file in files):
            try:
                streams = [stack.enter_context(open_regular(file)) for file in files if file is not None]
                names = [pq.ParquetFile(stream).schema_arrow.names for stream in streams]
                paths = [str(file.resolve()) for file in files if file is not None]
                session = open_session(files=paths, spill=spill, memory=MEMORY)
                stack.callback(session.close)
                places = [f"/dev/fd/{stream.fileno()}" for stream in streams]
                if _has_views(session, check, aggregate, (declared.key, components.key), places, names):
                    plan = _plan(session, check, aggregate, policy)
                    found = None if plan is None else SetRecords(session, plan, policy)
            except (UnreadableError, OSError, ValueError, duckdb.Error):
                found = None  # the row-wise reader says what is wrong
        yield found


def _has_views(
    session: duckdb.DuckDBPyConnection,
    check: Check,
    aggregate: Aggregate,
    keys: tuple[str, str],
    places: list[str],
    names: list[list[str]],
) -> bool:
    """Make views `d` (key, line, total) and `c` (key, line, cell); false when a column is missing or repeated."""
    column = aggregate.argument.name if isinstance(aggregate.argument, Column) else None
    wanted = zip("dc", places, names, keys, (check.declared_column, column), ("total", "cell"), strict=True)
    for view, place, listed, key, name, alias in wanted:
        if len(set(listed)) < len(listed) or key not in listed or (name is not None and name not in listed):
            return False
        cells = [f"c{listed.index(key)} AS key", f"c{len(listed)} + 1 AS line"]
        cells.append(f"c{listed.index(name)} AS {alias}" if name is not None else f"1 AS {alias}")
        columns = ", ".join(f"c{at}" for at in range(len(listed) + 1))
        scan = f"read_parquet({literal(place)}, file_row_number = true) AS t({columns})"
        session.execute(f"CREATE TEMP VIEW {view} AS SELECT {', '.join(cells)} FROM {scan}")
    return True


def _plan(
    session: duckdb.DuckDBPyConnection, check: Check, aggregate: Aggregate, policy: EpsilonPolicy
) -> SetPlan | None:
    described = {view: session.execute(f"DESCRIBE {view}").fetchall() for view in "dc"}
    keys = {rows[0][1] for rows in described.values()}
    total, cell = described["d"][2][1], described["c"][2][1]
    kind = cell if aggregate.argument is not None else None
    epsilon = _epsilon(check, policy, total)
    if len(keys) > 1 or not keys <= INTEGERS | {"VARCHAR"} or epsilon is None or not _is_exact(check, total, kind):
        return None
    if not _has_usable_keys(session, is_text="VARCHAR" in keys):
        return None
    scale = 0
    if kind == "DOUBLE" and aggregate.function is Function.SUM:
        ((least, most),) = session.execute(plain_extremes_sql("c")).fetchall()
        found = fixed_point_scale(least, most)
        if found is None:
            return None
        scale = found
    return SetPlan(check, aggregate, total, kind, epsilon, scale)


def _has_usable_keys(session: duckdb.DuckDBPyConnection, *, is_text: bool) -> bool:
    """Whether every row has one: a quarantined row would concern every subject."""
    condition = "key IS NULL OR key = ''" if is_text else "key IS NULL"
    unusable = f"SELECT count(*) FILTER ({condition}) FROM"
    found: list[Any] = session.execute(f"{unusable} d UNION ALL {unusable} c").fetchall()
    return all(count == 0 for (count,) in found)


def _is_exact(check: Check, total: str, kind: str | None) -> bool:
    if check.data_type is DataType.FLOAT:
        return total == "DOUBLE" == kind and check.formula.aggregates[0].function is not Function.COUNT
    if check.data_type is DataType.INTEGER and total not in INTEGERS:
        return False
    return decimals_of(total) is not None and is_summable(total) and (kind is None or is_summable(kind))


def _epsilon(check: Check, policy: EpsilonPolicy, total: str) -> Decimal | None:
    """The tolerance every declared value of this column has: it depends on nothing but its decimals."""
    from decimal import Decimal

    places = 0 if total == "DOUBLE" else decimals_of(total)
    if places is None or (total == "DOUBLE" and check.data_type is not DataType.FLOAT):
        return None
    return policy.epsilon(check, Decimal(1), "1." + "0" * places if places else "1")
