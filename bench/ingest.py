"""Audit logs to typed Parquet: this library beside what parses only, and beside loops that quarantine.

Usage: python bench/ingest.py [RECORDS]        default: 1,000,000 (about 550 MB)
       python bench/ingest.py --memory [LINES] peak memory on hostile sizes; default: 10,000,000 tiny lines

One run, sides in turn, each in a process of its own, two passes of which the second counts; ratios are comparable,
seconds are those of this machine. The log is seeded and has bad lines of ten kinds, 951 in a million; the parse-only
side gets the same log without them, since it cannot read it otherwise. `pandas` reads a tenth, scaled.

Two sides are this library: `read_round → lake` is the whole way of a new file (copied into the store, hashed three
times, synced, read, contracts checked, Parquet written and synced), `copy → Parquet` begins with the stored copy, as
the other sides begin with their file; the goals of the fact sheet are about the latter.

The last line is a floor of CPU seconds: DuckDB's parse, the Parquet writer on the very rows, and the digests of file
and outputs, each measured alone; nothing is judged in it. Measured in one run on a machine with 13 times more work than
cores: 3.5 s, of which `copy → Parquet` spends 2.8 times (9.7 s); pandas 2.04, the orjson loop 0.84 times its CPU, and
it 2.83 times that of DuckDB. No goal of speed is met by CPU there; docs/decisions/0009 has the quiet machine.

Outputs are drawn from 4,096 texts, so a block of lines has some twice, and those are hashed once; a log whose outputs
all differ costs up to twice as much for their digests.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

from audit_records import write_log
from sides import Side

RECORDS, TINY_LINES = 1_000_000, 10_000_000
RUNS = 1
PANDAS_PART = 10
GOALS = (("pandas.read_json", "at least", 3.0), ("orjson loop", "at least", 2.0), ("duckdb, clean", "at most", 2.0))
MEMORY_GOAL_MB = 900.0
PARSE_NAME, FROM_COPY_NAME, WHOLE_NAME = "duckdb, parse only", "copy → Parquet", "read_round → lake"

SPENT = """
def spent(work):
    def run():
        start = time.process_time()
        answer = work()
        return [time.process_time() - start, answer]
    return run
"""

DUCKDB = """
import duckdb, tempfile
names = ('timestamp agent_id run_id input_hash tool_called output_result output_hash token_cost self_reported_status '
         'independently_verified verification_method').split()
types = {'timestamp': 'TIMESTAMPTZ', 'token_cost': 'DECIMAL(18, 6)', 'independently_verified': 'BOOLEAN'}
columns = ', '.join(f"{n}: '{types.get(n, 'VARCHAR')}'" for n in names)
source = f"read_json('{sys.argv[1]}', columns={{{columns}}}, format='newline_delimited')"
counts = ', '.join(f'count({n})' for n in names)
options = 'FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1'
def parse():
    return duckdb.sql(f"SELECT {counts} FROM {source}").fetchall()[0][0]
def write():
    with tempfile.NamedTemporaryFile() as target:
        duckdb.execute(f"COPY (SELECT * FROM {source}) TO '{target.name}' ({options})")
        return duckdb.sql(f"SELECT count(*) FROM read_parquet('{target.name}')").fetchall()[0][0]
timed(spent(parse if sys.argv[2] == 'parse' else write))
"""

PANDAS = """
import pandas as pd
timed(spent(lambda: len(pd.read_json(sys.argv[1], lines=True))))
"""

ORJSON = """
import orjson, tempfile
import pyarrow as pa, pyarrow.parquet as pq
def work():
    quarantined, rows, total, writer = [], [], 0, None
    with tempfile.NamedTemporaryFile() as target, open(sys.argv[1], 'rb') as stream:
        def flush():
            nonlocal rows, writer
            table = pa.Table.from_pylist(rows, schema=None if writer is None else writer.schema)
            writer = writer or pq.ParquetWriter(target.name, table.schema, compression='zstd', compression_level=1)
            writer.write_table(table)
            rows = []
        for number, line in enumerate(stream, 1):
            try:
                row = orjson.loads(line)
                if not isinstance(row, dict) or not isinstance(row.get('run_id'), str):
                    raise ValueError('no entry')
            except ValueError as fault:
                quarantined.append((number, str(fault)))
                continue
            row.pop('extra', None); row.pop('was', None); row['verification_method'] = str(row['verification_method'])
            rows.append(row)
            total += 1
            if len(rows) == 50_000:
                flush()
        if rows:
            flush()
        writer.close()
    return [total, len(quarantined)]
timed(spent(work))
"""

WHOLE = """
import tempfile
from pathlib import Path
from governance_pipeline.ingest.round import read_round
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.storage.lake import Lake
landing = Path(sys.argv[1]).parent
def work():
    with tempfile.TemporaryDirectory(dir=landing.parent) as root:
        lake = Lake(Path(root))
        tables = read_round(landing, 'r-1', ContentStore(Path(root)))
        stored = {name: lake.put_batches(name, 'r-1', tables.batches(name), {}).rows for name in tables.found}
        return [stored['core_steps'], stored['raw_quarantine']]
timed(spent(work), int(sys.argv[2]))
"""

FROM_COPY = """
import tempfile
from pathlib import Path
from governance_pipeline.ingest.extraction import Extraction
from governance_pipeline.ingest.detection import detect
from governance_pipeline.ingest.formats import FORMATS
from governance_pipeline.ingest.logfile import LogFile
from governance_pipeline.ingest.native import audit_log
from governance_pipeline.storage.lake import Lake
copy = Path(sys.argv[1])
def work():
    with tempfile.TemporaryDirectory(dir=copy.parent.parent) as root:
        file = LogFile(copy.name, '0' * 64, copy.stat().st_size, detect(copy.name, copy, FORMATS).sample, copy)
        out = Extraction('r-1')
        audit_log.read([file], out)
        assert file.account.is_balanced
        (spool,) = out.found('core_steps').frames
        stored = Lake(Path(root)).put_batches('core_steps', 'r-1', spool.batches(), {})
        return [stored.rows, file.account.quarantined]
timed(spent(work))
"""


FLOOR = """
import duckdb, hashlib
import pyarrow as pa, pyarrow.parquet as pq
from governance_pipeline.storage.parquet import WRITER
def cpu(work):
    start = time.process_time()
    work()
    return time.process_time() - start
def rows():
    with tempfile.TemporaryDirectory(dir=copy.parent.parent) as root:
        file = LogFile(copy.name, '0' * 64, copy.stat().st_size, detect(copy.name, copy, FORMATS).sample, copy)
        out = Extraction('r-1')
        audit_log.read([file], out)
        (spool,) = out.found('core_steps').frames
        stored = Lake(Path(root)).put_batches('core_steps', 'r-1', spool.batches(), {})
        with pq.ParquetFile(stored.path) as found:
            yield from map(found.read_row_group, range(found.num_row_groups))
def write():
    spent, writer, sink = 0.0, None, pa.BufferOutputStream()
    for group in rows():
        group = group.combine_chunks()
        writer = writer or pq.ParquetWriter(sink, group.schema, **WRITER)
        spent += cpu(lambda: writer.write_table(group))
    spent += cpu(writer.close)
    written = sink.getvalue()
    return spent, cpu(lambda: hashlib.sha256(written))
def outputs():
    query = f"SELECT output_result FROM read_json('{sys.argv[2]}', columns={{output_result: 'VARCHAR'}})"
    spent = 0.0
    for batch in duckdb.sql(query).to_arrow_reader(7_200):
        texts = [text.encode() for text in batch.column(0).unique().to_pylist()]
        spent += cpu(lambda: [hashlib.sha256(text).digest() for text in texts])
    return spent
def floor():
    written, of_file = write()
    return [0.0, [round(written, 2), round(of_file, 2), round(outputs(), 2)]]
timed(floor, 1)
"""


def main() -> None:
    """Compare the sides, or measure memory."""
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        if "--memory" in sys.argv:
            measure_memory(Path(folder), int(arguments[0]) if arguments else TINY_LINES)
        else:
            compare(Path(folder), int(arguments[0]) if arguments else RECORDS)


def compare(folder: Path, records: int) -> None:
    """Print a line per side, and each goal as met or not."""
    log, clean, part = (folder / name / "log.jsonl" for name in ("round", "clean", "part"))
    for path in (log, clean, part):
        path.parent.mkdir()
    bad = write_log(log, records)
    write_log(clean, records, bad=0)
    write_log(part, records // PANDAS_PART, bad=0)
    floor = Side("floor", FROM_COPY.rpartition("timed(")[0] + FLOOR, [str(log), str(clean)])
    sides = [
        Side(PARSE_NAME, SPENT + DUCKDB, [str(clean), "parse"]),
        Side("duckdb, clean", SPENT + DUCKDB, [str(clean), "write"]),
        Side("pandas.read_json", SPENT + PANDAS, [str(part)]),
        Side("orjson loop", SPENT + ORJSON, [str(log)]),
        Side(FROM_COPY_NAME, SPENT + FROM_COPY, [str(log)]),
        Side(WHOLE_NAME, SPENT + WHOLE, [str(log), "2"]),
    ]
    for _ in range(RUNS):
        for side in [*sides, floor]:
            side.run()
    size = log.stat().st_size / 1e6
    scale = {side.name: PANDAS_PART if side.name == "pandas.read_json" else 1 for side in sides}
    seconds = {side.name: side.median * scale[side.name] for side in sides}
    spent = {side.name: side.answer[0] * scale[side.name] for side in sides}
    print(f"{records:,} records, {size:.0f} MB, {bad} bad lines; {RUNS} run, sides in turn")
    print(f"{'':20} {'wall':>9} {'MB/s':>5} {'x':>6} {'CPU':>9} {'x':>6} {'peak':>8}  rows, bad lines found")
    for side in sides:
        wall, cpu = seconds[side.name], spent[side.name]
        print(
            f"{side.name:20} {wall:7.2f} s {size / wall:5.0f} {wall / seconds[FROM_COPY_NAME]:6.2f} {cpu:7.2f} s "
            f"{cpu / spent[FROM_COPY_NAME]:6.2f} {side.megabytes:5.0f} MB  {side.answer[1]}"
        )
    judge(seconds, spent, sides, bad)
    tell_floor(spent[PARSE_NAME], floor.answer[1], spent[FROM_COPY_NAME])


def tell_floor(parse: float, others: list[float], spent: float) -> None:
    """Print the CPU seconds of the work nobody can leave out, each part alone and bare, and what is spent on all."""
    names = ("parse", "Parquet of the same 23 columns", "SHA-256 of that file", "SHA-256 of the outputs")
    parts = dict(zip(names, [parse, *others], strict=True))
    floor = sum(parts.values())
    said = " + ".join(f"{name} {seconds:.2f}" for name, seconds in parts.items())
    print(f"floor, CPU: {said} = {floor:.2f} s; {FROM_COPY_NAME} spends {spent / floor:.2f} times that")


def judge(seconds: dict[str, float], spent: dict[str, float], sides: list[Side], bad: int) -> None:
    """Print each goal as met or not; the ratio of CPU seconds beside it tells what a busy machine distorts."""
    for name, bound, factor in GOALS:
        wall, cpu = (
            times[name] / times[FROM_COPY_NAME] if bound == "at least" else times[FROM_COPY_NAME] / times[name]
            for times in (seconds, spent)
        )
        met = wall >= factor if bound == "at least" else wall <= factor
        said = "faster than" if bound == "at least" else "the time of"
        print(f"{'met' if met else 'NOT MET':8} {bound} {factor:g} times {said} {name}: {wall:.2f} (CPU {cpu:.2f})")
    for side in sides:
        if side.name in (FROM_COPY_NAME, WHOLE_NAME):
            peak, found = side.megabytes, side.answer[1][1]
            print(
                f"{'met' if peak <= MEMORY_GOAL_MB else 'NOT MET':8} {side.name}: {peak:.0f} MB of {MEMORY_GOAL_MB:g}"
            )
            print(f"{'met' if found == bad else 'NOT MET':8} {side.name}: {found} of {bad} bad lines found")


def measure_memory(folder: Path, lines: int) -> None:
    """Print peak memory and what was found for files of hostile sizes."""
    signature = b'{"timestamp": "2026-01-01T00:00:00Z", "agent_id": "a", "run_id": "r", "tool_called": "t"}\n'
    cases = {
        f"{lines:,} tiny sound lines": (b'{"run_id":"r"}\n', lines),
        f"{lines:,} tiny broken lines": (b"7\n", lines),
        f"{lines:,} blank lines": (b"\n", lines),
        "one line of 1 GiB between two": (b"x" * 2**20, 2**10),
    }
    for place, (name, (piece, count)) in enumerate(cases.items()):
        log = folder / f"case-{place}" / "log.jsonl"
        log.parent.mkdir()
        with log.open("wb") as stream:
            stream.write(signature)
            at_once = max(1, 2**20 // len(piece))  # a child's peak begins with the memory of this process
            for _ in range(count // at_once):
                stream.write(piece * at_once)
            stream.write(piece * (count % at_once) + b"\n" + signature)
        side = Side(name, SPENT + WHOLE, [str(log), "1"])
        side.run()
        print(
            f"{name:32} {log.stat().st_size / 1e6:6.0f} MB {side.seconds[0]:6.1f} s, peak {side.megabytes:5.0f} MB, "
            f"[steps, quarantined] {side.answer[1]}"
        )
        log.unlink()
    print(f"this process itself: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
