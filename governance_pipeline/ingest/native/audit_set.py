"""The native audit log read as sets of lines: the same rows and accounts as line by line, in bounded memory.

What belongs here: the order of the work. Blocks of lines are judged by two threads (`audit_blocks`); what they leave
is given to the strict parser line by line, in order; entries of both kinds are numbered and spooled. What does not:
what an entry means (`audit_log`, `audit_blocks`). A test holds this way to the other one on hostile files.
"""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from governance_pipeline.ingest.flat_records import shape_of
from governance_pipeline.ingest.native.audit_blocks import ENTRY, entry_row, in_order, read_block
from governance_pipeline.ingest.native.audit_log import entry_of
from governance_pipeline.ingest.native.audit_tables import Runs, Steps
from governance_pipeline.ingest.native.members import UnusableRecord, members_of
from governance_pipeline.strict.lines import SET_BYTES, Block, Line
from governance_pipeline.strict.sql_session import open_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.flat_records import BlockIndex, Shape
    from governance_pipeline.ingest.logfile import LogFile
    from governance_pipeline.ingest.native.audit_blocks import BlockEntries

THREADS: Final = 2
BLOCKS_AHEAD: Final = 3
"""Blocks under way at once: one for each thread, and one that waits, so that memory does not grow with the file."""

SET_ROWS: Final = 32_768
"""Entries numbered and grouped together: enough that doing so costs little for each."""

SHAPES_AT_MOST: Final = 8
LINES_OF_A_SHAPE: Final = 16
"""Lines of a new shape seen before later blocks are asked for it: each shape costs a pass over what is left."""


def read_as_set(files: Sequence[LogFile], out: Extraction, block_bytes: int = SET_BYTES) -> None:
    """Read audit logs; rows, order, quarantine and accounts are those of `audit_log.read_line_by_line`.

    Raises:
        UnreadableError: a stored copy cannot be opened.
    """
    runs = Runs()
    steps = Steps(out)
    with open_session() as session, ThreadPoolExecutor(THREADS) as pool:
        for file in files:
            reader = _FileReader(file, pool, with_cost=bool(out.subjects))
            steps.begin(file)
            for entries in _in_sets(reader.entries(block_bytes)):
                runs.add(file, entries, session)
                steps.add(entries)
            steps.end()
        steps.write()
        runs.write(out, session)


def _in_sets(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Join tables of entries until they have the rows of a set; none is empty."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) >= SET_ROWS:
            yield pa.concat_tables(waiting).combine_chunks()
            waiting = []
    if any(map(len, waiting)):
        yield pa.concat_tables(waiting).combine_chunks()


class _FileReader:
    """One file: its lines in order, as tables of entries."""

    def __init__(self, file: LogFile, pool: ThreadPoolExecutor, *, with_cost: bool) -> None:
        self._file = file
        self._pool = pool
        self._with_cost = with_cost
        shapes = [shape_of(value, file.limits) for value in file.sample.values]
        self._shapes: list[Shape] = [s for s, _ in Counter(s for s in shapes if s).most_common(SHAPES_AT_MOST)]
        self._seen: Counter[Shape] = Counter()

    def entries(self, block_bytes: int) -> Iterator[pa.Table]:
        """Give the entries of some lines, and of the lines after them, until the file is read."""
        waiting: deque[Line | tuple[Block, Future[tuple[BlockIndex, BlockEntries]]]] = deque()
        for part in self._file.blocks(block_bytes):
            waiting.append(part if isinstance(part, Line) else (part, self._begin(part)))
            if len(waiting) > 2 * BLOCKS_AHEAD:
                yield self._finish(waiting.popleft())
        while waiting:
            yield self._finish(waiting.popleft())

    def _begin(self, block: Block) -> Future[tuple[BlockIndex, BlockEntries]]:
        shapes = tuple(self._shapes)
        return self._pool.submit(read_block, block, self._file.limits, shapes, with_cost=self._with_cost)

    def _finish(self, part: Line | tuple[Block, Future[tuple[BlockIndex, BlockEntries]]]) -> pa.Table:
        if isinstance(part, Line):
            return _table(self._judge(part))
        block, future = part
        index, found = future.result()
        self._file.count_lines(accepted=len(found.entries), blank=found.blank)
        rows: list[dict[str, Any]] = []
        for place in found.rest.tolist():
            line = Line(block.number + place, block.offset + int(index.starts[place]), index.line(place), False, True)
            rows += self._judge(line)
        return in_order([found.entries, _table(rows)]) if rows else found.entries

    def _judge(self, line: Line) -> list[dict[str, Any]]:
        """Judge one line as every other format's lines are; give its entry, if it is one."""
        record = self._file.judge(line)
        if record is None:
            return []
        try:
            row = entry_row(line.number, entry_of(members_of(record.value)))
        except UnusableRecord as reason:
            self._file.quarantine(record, reason.code)
            return []
        self._learn(shape_of(record.value, self._file.limits))
        return [row]

    def _learn(self, shape: Shape | None) -> None:
        """Ask later blocks for a shape that lines left over have again and again."""
        if shape is None or shape in self._shapes or len(self._shapes) == SHAPES_AT_MOST:
            return
        self._seen[shape] += 1
        if self._seen[shape] == LINES_OF_A_SHAPE:
            self._shapes.append(shape)
        if len(self._seen) > LINES_OF_A_SHAPE * SHAPES_AT_MOST:
            self._seen.clear()  # no two lines alike: nothing to learn


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=ENTRY)
