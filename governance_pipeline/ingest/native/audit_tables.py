"""Entries of audit logs, read as sets, numbered and put into their tables.

What belongs here: what needs the entries of all files in order: step numbers, components, runs. What does not: reading
lines. `audit_log` says the same for one entry at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from governance_pipeline.ingest.native.audit_log import COMPONENTS, NAME, RUN_TEXTS, SOURCE, STEP_COLUMNS
from governance_pipeline.ingest.native.components import FORMAT
from governance_pipeline.ingest.parquet_spool import ParquetSpool
from governance_pipeline.ingest.spool import Spool
from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    import duckdb

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile

_NAME_RANGE: Final = "min({name}) AS {name}_least, max({name}) AS {name}_most"
_NO_NAME: Final = "NULL::VARCHAR AS {name}_least, NULL::VARCHAR AS {name}_most"
_PART: Final = """
SELECT run_id, min(place) AS first, count(*) AS steps, min("at") AS started_at, max("at") AS ended_at,
    max(place) FILTER (self_reported_status IS NOT NULL) AS status_place,
    arg_max(self_reported_status, place) AS self_reported_status, {names}
FROM entries GROUP BY run_id"""
_ONE_NAME: Final = ", ".join(
    f"CASE WHEN min({name}_least) = max({name}_most) THEN min({name}_least) END AS {name}" for name in RUN_TEXTS
)
_WHOLE: Final = f"""
SELECT run_id, min(first) AS first, sum(steps)::BIGINT AS opaque_step_count, min(started_at) AS started_at,
    max(ended_at) AS ended_at, arg_max(self_reported_status, status_place) AS self_reported_status, {_ONE_NAME}
FROM parts GROUP BY run_id ORDER BY first"""  # noqa: S608 - the same


def _part_query(entries: pa.Table) -> str:
    """Ask only for names that some entry has: an aggregate over nulls costs as much as any other."""
    names = [
        (_NO_NAME if entries[name].null_count == len(entries) else _NAME_RANGE).format(name=name) for name in RUN_TEXTS
    ]
    return _PART.format(names=", ".join(names))


class Runs:
    """What the entries of each run say of it, gathered block by block."""

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []
        self._files: list[tuple[int, LogFile]] = []
        self._entries = 0

    def add(self, file: LogFile, entries: pa.Table, session: duckdb.DuckDBPyConnection) -> None:
        """Gather the entries of some lines; they come in file order."""
        if not self._files or self._files[-1][1] is not file:
            self._files.append((self._entries, file))
        places = pa.array(np.arange(self._entries, self._entries + len(entries)))
        with session.cursor() as cursor:
            cursor.register("entries", entries.append_column("place", places))
            self._parts.append(cursor.sql(_part_query(entries)).to_arrow_table())
        self._entries += len(entries)

    def write(self, out: Extraction, session: duckdb.DuckDBPyConnection) -> None:
        """Write one row per run, in the order of their first entries."""
        if not self._parts:
            return
        from governance_pipeline.ingest.logfile import Record

        session.register("parts", pa.concat_tables(self._parts))
        nowhere = Record(None, "", None, None, None)  # a run has no line
        for batch in session.sql(_WHOLE).to_arrow_table().to_batches():
            for row in batch.to_pylist():
                first = row.pop("first")
                file = next(file for start, file in reversed(self._files) if start <= first)
                out.add("core_runs", file, nowhere, format=NAME, **row)


class Steps:
    """Rows of `core_steps`, and of `core_components` for the subjects that declared aggregates name."""

    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._steps_of: dict[str, int] = {}
        self._entries = 0
        self._steps: ParquetSpool | None = None
        self._components: Spool | None = None

    def begin(self, file: LogFile) -> None:
        """Begin with a file."""
        where = {"round_id": self._out.round_id, "path": file.path, "file_sha256": file.sha256, "pointer": ""}
        folder = file.copy.parent
        if self._steps is None:
            self._steps = ParquetSpool("core_steps", folder)
        self._steps.constants = dict(where)
        if self._out.subjects:
            del where["pointer"]
            self._components = Spool("core_components", folder, where | {"source": SOURCE, "format": FORMAT})

    def add(self, entries: pa.Table) -> None:
        """Add the entries of some lines; they come in file order."""
        numbers = self._number(entries["run_id"])
        for time in (pc.min(entries["at"]).as_py(), pc.max(entries["at"]).as_py()):
            self._out.saw(time)
        assert self._steps is not None
        self._steps.append(
            _whole(
                {
                    **{name: entries[name] for name in STEP_COLUMNS},
                    "step_index": pa.array(numbers),
                    "output_file_sha256": self._digests(entries["output_path"]),
                    "line": entries["line"],
                }
            )
        )
        if self._components is not None:
            self._add_components(entries, numbers)
        self._entries += len(entries)

    def end(self) -> None:
        """Give what is kept by file to the round."""
        if self._components is not None:
            self._out.add_spooled("core_components", self._components)

    def write(self) -> None:
        """Give the steps of all files to the round."""
        if self._steps is not None:
            self._out.add_spooled("core_steps", self._steps)

    def _number(self, run_ids: pa.ChunkedArray) -> npt.NDArray[np.int64]:
        """Number entries inside their runs, going on from the blocks before."""
        encoded = run_ids.combine_chunks().dictionary_encode()
        codes = encoded.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=len(encoded.dictionary))
        within = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        known = encoded.dictionary.to_pylist()
        before = np.array([self._steps_of.get(run_id, 0) for run_id in known])
        self._steps_of.update(zip(known, (before + counts).tolist(), strict=True))
        numbers = np.empty(len(codes), np.int64)
        numbers[order] = within + 1
        numbers += before[codes]
        return numbers

    def _digests(self, paths: pa.ChunkedArray) -> pa.Array:
        encoded = paths.combine_chunks().dictionary_encode()
        digests = [self._out.digest_of_output(path) for path in encoded.dictionary.to_pylist()]
        return pa.array(digests, pa.string()).take(encoded.indices)

    def _add_components(self, entries: pa.Table, numbers: npt.NDArray[np.int64]) -> None:
        """Add one row per column, for the run of an entry and for the round, each where it is a subject."""
        subjects, round_id = self._out.subjects, self._out.round_id
        is_round = pc.equal(entries["run_id"], round_id).to_numpy()
        of_run = pc.is_in(entries["run_id"], pa.array(sorted(subjects), pa.string())).to_numpy() & ~is_round
        of_round = np.full(len(entries), round_id in subjects)
        pairs = np.column_stack([of_run, of_round]).ravel()
        at = np.repeat(np.arange(len(entries)), 2)[pairs]
        is_of_round = np.tile([False, True], len(entries))[pairs]
        if not len(at):
            return
        taken = entries.take(at)
        indices = np.where(is_of_round, self._entries + 1 + at, numbers[at])
        subject = pc.if_else(pa.array(is_of_round), round_id, taken["run_id"])
        order = np.arange(len(at) * len(COMPONENTS)).reshape(len(COMPONENTS), len(at)).T.ravel()  # row by row
        rows = pa.concat_tables(
            pa.table(
                {
                    "subject_id": subject,
                    "row_index": pa.array(indices),
                    "column": pa.repeat(pa.scalar(name), len(at)),
                    "value_raw": taken["cost_raw" if name == "token_cost" else column],
                    "value_kind": taken["cost_kind"] if name == "token_cost" else _text_kinds(taken[column]),
                    "line": taken["line"],
                    "pointer": pa.repeat(pa.scalar(f"/{name}"), len(at)),
                }
            )
            for name, column in COMPONENTS.items()
        ).take(order)
        assert self._components is not None
        self._components.append(_whole({name: rows[name] for name in rows.column_names}))


def _text_kinds(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.is_null(values), ValueKind.MISSING.value, ValueKind.TEXT.value)


def _whole(columns: dict[str, Any]) -> dict[str, pa.Array]:
    """Give each column as one piece, as a batch has it."""
    return {
        name: column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        for name, column in columns.items()
    }
