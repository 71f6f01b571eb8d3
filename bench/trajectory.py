"""W4: five million files of steps over 10,000 rounds: files, lines, modules and entropy of every step, beside pandas.

Usage: python bench/trajectory.py [--small]

Twice: rows as a log has them, ordered by step, and the same rows shuffled. Rows hold numbers for rounds, steps, files
and modules, as in the workload of research/performance.md W4, and reading them counts in none of the sides. Ours is
what `features_step_surface` is made by (`packed_keys`, `files.distinct_files`, `terms.counts_of`); peers answer the
same of the same rows, pandas by groupby, DuckDB by SQL, its result as the reference. Answers are compared as sums of
F, L, M and H. Goals: warm and cold (the first pass of a process) against pandas.
"""

from __future__ import annotations

import statistics
import sys

from sides import Side, judge, run_in_turn

ROWS = """
import sys
import numpy as np
ROWS, ROUNDS, SHUFFLED = (int(text) for text in sys.argv[1:4])
random = np.random.default_rng(20260101)
step = np.unique(np.sort(random.integers(0, ROWS // 5, ROWS)), return_inverse=True)[1]
EVENTS = int(step[-1]) + 1
rows = {
    "round": step * ROUNDS // EVENTS, "step": step, "file": random.integers(0, 400, ROWS),
    "added": random.integers(0, 60, ROWS), "deleted": random.integers(0, 20, ROWS),
}
if SHUFFLED:
    order = random.permutation(ROWS)
    rows = {name: column[order] for name, column in rows.items()}
rows["module"] = rows["file"] % 40
def told(*terms):
    return [round(float(np.sum(term)), 6) for term in terms]
"""
OURS = (
    ROWS
    + """
from governance_pipeline.trajectory.files import EventFiles, distinct_files
from governance_pipeline.trajectory.packed_keys import distinct_of, packed
from governance_pipeline.trajectory.terms import counts_of
def work():
    events, event = distinct_of(*packed([rows["round"], rows["step"]]))
    found = distinct_files(event, rows["file"], rows["module"], rows["added"], rows["deleted"])
    flags = np.ones(len(found.event), dtype=bool)
    names = np.arange(400)
    counts = counts_of(EventFiles(
        len(events), found.event, found.path, found.module, flags, found.churn, found.is_churn_known, ~flags, ~flags,
        names, names[:40],
    ))
    return told(counts.files, counts.churn, counts.modules, counts.entropy)
timed(work)
"""
)
PANDAS = (
    ROWS
    + """
import pandas as pd
rows = pd.DataFrame(rows)
STEP = ["round", "step"]
def work():
    lines = rows["added"] + rows["deleted"]
    of_file = rows.assign(lines=lines).groupby([*STEP, "file"], sort=False).agg(
        lines=("lines", "sum"), module=("module", "first")).reset_index()
    of_module = of_file.groupby([*STEP, "module"], sort=False)["lines"].agg(["sum", "size"]).reset_index()
    by_step = of_module.groupby(STEP, sort=False)
    total, size = by_step["sum"].transform("sum"), by_step["size"].transform("sum")
    share = np.where(total > 0, of_module["sum"] / total.clip(lower=1), of_module["size"] / size)
    part = -share * np.log(share, where=share > 0, out=np.zeros_like(share))
    answer = of_module.assign(part=part).groupby(STEP, sort=False).agg(
        files=("size", "sum"), lines=("sum", "sum"), modules=("module", "size"), entropy=("part", "sum"))
    return told(*(answer[name] for name in ("files", "lines", "modules", "entropy")))
timed(work)
"""
)
DUCKDB = (
    ROWS
    + """
import duckdb
import pyarrow as pa
QUERY = '''
with of_file as (
    select round, step, file, sum(added + deleted) as lines, any_value(module) as module from rows group by all
), of_module as (
    select round, step, module, sum(lines) as lines, count(*) as files from of_file group by all
), of_step as (
    select round, step, sum(files) as files, sum(lines) as lines, count(*) as modules,
        case when sum(lines) > 0
            then ln(sum(lines)) - sum(case when lines > 0 then lines * ln(lines) else 0 end) / sum(lines)
            else ln(sum(files)) - sum(files * ln(files)) / sum(files) end as entropy
    from of_module group by all
)
select sum(files), sum(lines), sum(modules), sum(entropy) from of_step
'''
connection = duckdb.connect()
connection.register("rows", pa.table(rows))
timed(lambda: [round(float(value), 6) for value in connection.execute(QUERY).fetchone()])
"""
)


def compared(sizes: list[str], order: str) -> list[bool]:
    """Run the three sides on rows in one order, print them, and judge them."""
    print(f"rows {order}")
    arguments = [*sizes, str(int(order == "shuffled"))]
    ours, pandas, duckdb = (
        Side(name, code, arguments) for name, code in (("ours", OURS), ("pandas", PANDAS), ("duckdb", DUCKDB))
    )
    run_in_turn([ours, pandas, duckdb])
    apart = max(abs(a - b) / abs(b) for one in (ours, pandas) for a, b in zip(one.answer, duckdb.answer, strict=True))
    cold = statistics.median(pandas.cold) / statistics.median(ours.cold)
    return [
        judge("pandas / ours, warm", pandas.median / ours.median, 5, at_least=True),
        judge("pandas / ours, cold", cold, 4, at_least=True),
        judge("pandas / duckdb", pandas.median / duckdb.median, 1, at_least=True),
        judge("answers differ by, relative", apart, 1e-9, at_least=False),
    ]


def main() -> None:
    """Print one line per side, then each goal, for rows in both orders."""
    sizes = ["500000", "1000"] if "--small" in sys.argv else ["5000000", "10000"]
    results = [*compared(sizes, "ordered"), *compared(sizes, "shuffled")]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
