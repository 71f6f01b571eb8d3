"""Declared against computed over Parquet files, against pandas and datacompy (research/performance.md, W2).

Usage: python bench/crosscheck.py [VALUES]    default: 2,000,000 declared values with 5 component rows each

A third each of integers (exact), currency (half a cent, in DECIMAL) and floats (1e-6). Ours gives the verdict table,
which is what pandas gives, and the whole run: records with both digests, proofs, validator, guardian and the report.
datacompy compares aggregates that are ready and gives one number. The floor is the bare SQL over the same files: no
key is checked, nothing is kept per value, and what it cannot be exact about is decided all the same. Goals for the
verdict table: at least 4x faster than pandas, 6x than a Python loop, 1.5x than datacompy's compare alone, at most
600 MB; the whole run works within 2 GiB.

The goal against datacompy cannot be reached from Parquet where the bare SQL itself does not reach it, and the figures
printed say so: datacompy starts after reading and adding up, which is most of the work of the other sides.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb
from sides import Side, judge, peer_interpreter, run_in_turn

VALUES = 2_000_000
COMPONENTS = 5
ROW_WISE_VALUES = 60_000
KINDS = {
    "integer": ("(hash(i, 1) % 1000)::INTEGER", "0", "BIGINT"),
    "currency": ("((hash(i, 2) % 100000) / 100)::DECIMAL(14, 2)", "0.005", "DECIMAL(18, 2)"),
    "float": ("(hash(i, 3) % 100000) / 700.0", "0.000001", "DOUBLE"),
}
OURS = """
from collections import Counter
from pathlib import Path
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.run import run_checks
def work():
    batch = run_checks(load_check_set(Path(sys.argv[1]) / "checks.yaml"))
    return dict(sorted(Counter(r.status.value for records in batch.records.values() for r in records).items()))
timed(work, 1)
"""
OURS_VERDICTS = """
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
import pyarrow.compute
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.set_plan import opened_set
from governance_pipeline.crosscheck.set_verdicts import verdicts
def work():
    check_set, found = load_check_set(Path(sys.argv[1]) / "checks.yaml"), Counter(match=0, mismatch=0, unverifiable=0)
    for check in check_set.checks:
        sides = (check_set.sources[f"{check.id}_{side}"] for side in "dl")
        with TemporaryDirectory() as spill, opened_set(check, *sides, check_set.policy, Path(spill)) as records:
            for batch in verdicts(records):
                for row in pyarrow.compute.value_counts(batch["status"]).to_pylist():
                    found[row["values"]] += row["counts"]
    return dict(sorted(found.items()))
timed(work)
"""
OURS_LARGE = """
from pathlib import Path
from tempfile import TemporaryDirectory
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.guardian import judge
from governance_pipeline.crosscheck.report import batch_counts, write_report
from governance_pipeline.crosscheck.run import run_checks
from governance_pipeline.settings import Settings
def work():
    with TemporaryDirectory() as spill, TemporaryDirectory() as out:
        check_set, settings = load_check_set(Path(sys.argv[1]) / "checks.yaml"), Settings(large_check_bytes=0)
        batch = run_checks(check_set, spill=Path(spill), settings=settings)
        judgement = judge(batch)
        write_report(batch, judgement, Path(out))
        counts = batch_counts(batch)
        assert judgement.guardian == "pass"
        return {name: counts[name] for name in ("match", "mismatch", "unverifiable")}
timed(work, 1)
"""
# research/performance.md W2: a dataclass per row and Decimal arithmetic, the peer nobody has to install.
PYTHON = """
import dataclasses, decimal
import pyarrow.parquet as parquet
@dataclasses.dataclass
class Row:
    id: int
    value: object
def rows(path, column):
    for batch in parquet.ParquetFile(path).iter_batches():
        yield from map(Row, batch["id"].to_pylist(), batch[column].to_pylist())
def work():
    counts = {"match": 0, "mismatch": 0, "unverifiable": 0}
    for kind, epsilon in (("integer", 0), ("currency", decimal.Decimal("0.005")), ("float", 1e-6)):
        sums = {}
        for row in rows(f"{sys.argv[1]}/{kind}_lines.parquet", "part"):
            sums[row.id] = sums.get(row.id, 0) + row.value
        for row in rows(f"{sys.argv[1]}/{kind}_declared.parquet", "total"):
            known = row.value is not None and row.id in sums
            far = known and abs(row.value - sums[row.id]) > epsilon
            counts["unverifiable" if not known else "mismatch" if far else "match"] += 1
    return counts
timed(work)
"""
PANDAS = """
import pandas, numpy
from decimal import Decimal
def work():
    counts = {"match": 0, "mismatch": 0, "unverifiable": 0}
    for kind, epsilon in (("integer", 0), ("currency", 0.5), ("float", 1e-6)):
        declared = pandas.read_parquet(f"{sys.argv[1]}/{kind}_declared.parquet")
        lines = pandas.read_parquet(f"{sys.argv[1]}/{kind}_lines.parquet")
        if kind == "currency":  # cents: exact, and far faster than Decimal objects
            for frame, name in ((declared, "total"), (lines, "part")):
                frame[name] = (pandas.to_numeric(frame[name]).astype("float64") * 100).round().astype("Int64")
        sums = lines.groupby("id", as_index=False)["part"].sum()
        both = declared.merge(sums, on="id", how="outer")
        known = both["total"].notna() & both["part"].notna()
        far = ((both["total"] - both["part"]).abs() > epsilon).fillna(False).astype(bool)
        counts["match"] += int((known & ~far).sum())
        counts["mismatch"] += int((known & far).sum())
        counts["unverifiable"] += int((~known).sum())
    return counts
timed(work)
"""
FLOOR = """
import duckdb
def work():
    counts = {"match": 0, "mismatch": 0, "unverifiable": 0}
    with duckdb.connect(config={"threads": 2}) as session:
        for kind, epsilon in (("integer", 0), ("currency", 0.005), ("float", 1e-6)):
            total = "fsum" if kind == "float" else "sum"
            sums = f"SELECT id, {total}(part) AS part FROM '{sys.argv[1]}/{kind}_lines.parquet' GROUP BY id"
            ((rows, unknown, far),) = session.execute(
                f"SELECT count(*), count(*) FILTER (total IS NULL OR part IS NULL), "
                f"count(*) FILTER (abs(total - part) > {epsilon}) "
                f"FROM '{sys.argv[1]}/{kind}_declared.parquet' LEFT JOIN ({sums}) USING (id)"
            ).fetchall()
            counts["match"] += rows - unknown - far
            counts["mismatch"] += far
            counts["unverifiable"] += unknown
    return counts
timed(work)
"""
DATACOMPY = """
import polars
from datacompy import PolarsCompare
ready = []
for kind in ("integer", "currency", "float"):
    declared = polars.read_parquet(f"{sys.argv[1]}/{kind}_declared.parquet")
    lines = polars.read_parquet(f"{sys.argv[1]}/{kind}_lines.parquet")
    sums = lines.group_by("id").agg(polars.col("part").sum().cast(polars.Float64).alias("total"))
    ready.append((declared.with_columns(polars.col("total").cast(polars.Float64)), sums))
def work():
    tolerances = (0, 0.005, 1e-6)
    return sum(
        int((~PolarsCompare(*pair, join_columns="id", abs_tol=epsilon).intersect_rows["total_match"]).sum())
        for pair, epsilon in zip(ready, tolerances)
    )
timed(work)
"""


def make(folder: Path, values: int) -> None:
    """Write a pair of files per kind of number, and the check file; one in 1000 declared values is false."""
    sources, checks = [], []
    subjects = values // len(KINDS)
    with duckdb.connect(config={"memory_limit": "3GB", "temp_directory": str(folder / "spill")}) as session:
        session.execute("SET enable_progress_bar = false")
        for kind, (part, epsilon, total) in KINDS.items():
            lines = f"SELECT i % {subjects} AS id, {part} AS part FROM range({subjects * COMPONENTS}) t(i)"
            session.execute(f"CREATE OR REPLACE TABLE lines AS {lines}")
            session.execute(f"COPY (FROM lines ORDER BY hash(id, part)) TO '{folder}/{kind}_lines.parquet'")
            declared = f"(fsum(part) + CASE WHEN id % 1000 = 7 THEN 1 ELSE 0 END)::{total}"
            if kind != "float":
                declared = declared.replace("fsum", "sum")
            session.execute(
                f"COPY (SELECT id, CASE WHEN id % 2000 <> 11 THEN {declared} END AS total FROM lines GROUP BY id "
                f"ORDER BY hash(id)) TO '{folder}/{kind}_declared.parquet'"
            )
            sources += [
                f"  {kind}_d: {{path: {kind}_declared.parquet, key: id, role: declared}}",
                f"  {kind}_l: {{path: {kind}_lines.parquet, key: id, role: components}}",
            ]
            checks.append(
                f"  - {{id: {kind}, field: total, declared: {kind}_d.total, recompute: sum({kind}_l.part), "
                f'data_type: {kind}, epsilon: "{epsilon}", epsilon_reason: a benchmark, escalate_to: nobody}}'
            )
    text = "\n".join(["schema: govern/checks/v1", "sources:", *sources, "checks:", *checks, ""])
    (folder / "checks.yaml").write_text(text)


def sides_of(folder: str, values: int, peer: str | None) -> dict[str, Side]:
    """Return the sides by short name; those that need an object per record only for few values."""
    sides = {
        "verdicts": Side("govern, verdict table", OURS_VERDICTS, [folder]),
        "floor": Side("floor: bare DuckDB SQL", FLOOR, [folder]),
        "pandas": Side("pandas groupby + merge", PANDAS, [folder]),
        "python": Side("Python loop, Decimal", PYTHON, [folder]),
        "large": Side("govern, whole run with report", OURS_LARGE, [folder]),
    }
    if peer:
        sides["datacompy"] = Side("datacompy, compare alone", DATACOMPY, [folder], peer)
    if values <= ROW_WISE_VALUES:
        sides["rows"] = Side("govern, row by row, with proofs", OURS, [folder])
    else:
        print(f"govern, row by row: not run above {ROW_WISE_VALUES} values (one object per record)")
    return sides


def main() -> None:
    """Print one line per side, the ratios, and whether the goals are met."""
    values = int(sys.argv[1]) if len(sys.argv) > 1 else VALUES
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), values)
        sides = sides_of(name, values, peer_interpreter())
        print(f"{values} declared values, {values * COMPONENTS} component rows; sides in turn")
        run_in_turn(list(sides.values()), runs=3 if values <= VALUES // 8 else 1)
    ours = sides["verdicts"]
    met = [
        judge("whole run: peak memory, MB", sides["large"].megabytes, 2048, at_least=False),
        judge("verdict table: peak memory, MB", ours.megabytes, 600, at_least=False),
        judge("verdict table: times faster than pandas", sides["pandas"].median / ours.median, 4, at_least=True),
        judge("verdict table: times faster than Python", sides["python"].median / ours.median, 6, at_least=True),
    ]
    if "datacompy" in sides:
        ratio = sides["datacompy"].median / ours.median
        met.append(judge("verdict table: times faster than datacompy", ratio, 1.5, at_least=True))
        print(f"      (the floor would be {sides['datacompy'].median / sides['floor'].median:.2f} times as fast)")
    verdicts = [side.answer for side in sides.values() if isinstance(side.answer, dict)]
    agree = verdicts.count(verdicts[0]) == len(verdicts)
    print(f"{'pass' if agree else 'FAIL'}  the same verdicts from all sides that give verdicts")
    print(f"{sum(met)} of {len(met)} goals met")


if __name__ == "__main__":
    main()
