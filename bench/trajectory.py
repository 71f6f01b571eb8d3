"""W4: five million files of steps over 10,000 rounds: files, lines, modules and entropy of every step, beside pandas.

Usage: python bench/trajectory.py [--small]

The product's counting of files (`trajectory.files`, `surface`, `entropy`), as the tables use it: paths and modules are
texts and come in the order of the events. Peers answer the same of the same rows: pandas by groupby, DuckDB by SQL, its
result as the reference. Answers are compared as sums of F, L, M and H. Reading the rows counts in none of them. Source
of workload and goals: research/performance.md W4, whose rows hold codes instead of texts.
"""

from __future__ import annotations

import sys

from sides import Side, judge, run_in_turn

ROWS = """
import sys
import numpy as np
import pandas as pd
import pyarrow as pa
ROWS, ROUNDS = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(20260101)
step = np.sort(random.integers(0, ROWS // 5, ROWS))
event = np.unique(step, return_inverse=True)[1]
file = random.integers(0, 400, ROWS)
path = pa.DictionaryArray.from_arrays(pa.array(file), pa.array([f"m{n % 40}/f{n}.py" for n in range(400)]))
module = pa.DictionaryArray.from_arrays(pa.array(file % 40), pa.array([f"m{n}" for n in range(40)]))
table = pa.table({
    "event": event, "file_path": path.cast(pa.string()), "module": module.cast(pa.string()),
    "added_count": random.integers(0, 60, ROWS), "deleted_count": random.integers(0, 20, ROWS),
})
EVENTS = int(event[-1]) + 1
def told(*terms):
    return [round(float(np.sum(term)), 6) for term in terms]
"""
OURS = (
    ROWS
    + """
from governance_pipeline.trajectory.entropy import entropy_nats
from governance_pipeline.trajectory.files import event_files
from governance_pipeline.trajectory.rules import rules_of
from governance_pipeline.trajectory.surface import churn, files_modified, modules_touched
from governance_pipeline.contracts.registry import frame_of
names = [f"r-{n:05d}" for n in range(ROUNDS)]
rounds = frame_of("core_rounds", ({"round_id": n, "contract_state": "absent", "runs_count": 0} for n in names))
by_round = rules_of(rounds, frame_of("core_criteria", []))
rules = [by_round[names[at * ROUNDS // EVENTS]] for at in range(EVENTS)]
listed = table.to_pandas(types_mapper=pd.ArrowDtype)
for name in ("added_count", "deleted_count"):
    listed[name] = listed[name].astype("Int64")
def work():
    files = event_files(listed, rules)
    return told(files_modified(files), churn(files)[0], modules_touched(files), entropy_nats(files)[0])
timed(work)
"""
)
PANDAS = (
    ROWS
    + """
rows = table.to_pandas()
def work():
    lines = rows["added_count"] + rows["deleted_count"]
    by_file = rows.assign(lines=lines).groupby(["event", "file_path"], sort=False)
    of_file = by_file.agg(lines=("lines", "sum"), module=("module", "first")).reset_index()
    of_module = of_file.groupby(["event", "module"], sort=False)["lines"].agg(["sum", "size"]).reset_index()
    of_event = of_file.groupby("event")["lines"].agg(["sum", "size"])
    total = of_event["sum"].reindex(of_module["event"]).to_numpy()
    size = of_event["size"].reindex(of_module["event"]).to_numpy()
    share = np.where(total > 0, of_module["sum"] / np.maximum(total, 1), of_module["size"] / size)
    part = -share * np.log(share, where=share > 0, out=np.zeros_like(share))
    return told(of_event["size"], of_event["sum"], of_module.groupby("event").size(), part)
timed(work)
"""
)
DUCKDB = (
    ROWS
    + """
import duckdb
QUERY = '''
with of_file as (
    select event, file_path, sum(added_count + deleted_count) as lines, any_value(module) as module
    from rows group by event, file_path
), of_module as (
    select event, module, sum(lines) as lines, count(*) as files from of_file group by event, module
), shares as (
    select event, lines, files,
        case when sum(lines) over e > 0 then lines / sum(lines) over e else files / sum(files) over e end as share
    from of_module window e as (partition by event)
)
select sum(files), sum(lines), count(*), -sum(case when share > 0 then share * ln(share) else 0 end) from shares
'''
connection = duckdb.connect()
connection.register("rows", table)
timed(lambda: [round(float(value), 6) for value in connection.execute(QUERY).fetchone()])
"""
)


def main() -> None:
    """Print one line per side, then each goal."""
    sizes = ["500000", "1000"] if "--small" in sys.argv else ["5000000", "10000"]
    ours, pandas, duckdb = (
        Side(name, code, sizes) for name, code in (("ours", OURS), ("pandas", PANDAS), ("duckdb", DUCKDB))
    )
    run_in_turn([ours, pandas, duckdb])
    apart = max(abs(a - b) / abs(b) for one in (ours, pandas) for a, b in zip(one.answer, duckdb.answer, strict=True))
    results = [
        judge("pandas / ours, warm", pandas.median / ours.median, 5, at_least=True),
        judge("pandas / duckdb", pandas.median / duckdb.median, 1, at_least=True),
        judge("answers differ by, relative", apart, 1e-9, at_least=False),
    ]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
