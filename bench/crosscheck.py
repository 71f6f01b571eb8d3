"""Declared against computed over Parquet files, against pandas and datacompy (research/performance.md, W2).

Usage: python bench/crosscheck.py [VALUES]    default: 2,000,000 declared values with 5 component rows each

A third each of integers (exact), currency (half a cent, in DECIMAL) and floats (1e-6). Ours gives whole records with
both digests as a Parquet table, and for few values also row by row with the mutation proof; pandas gives verdicts;
datacompy compares aggregates that are ready and gives one number. Goals: at least 4x faster than pandas, 1.5x than
datacompy's compare alone, at most 600 MB; works within 2 GiB.
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
OURS_SET = """
from collections import Counter
from pathlib import Path
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.set_records import set_records
def work():
    folder = Path(sys.argv[1])
    check_set, found = load_check_set(folder / "checks.yaml"), Counter(match=0, mismatch=0, unverifiable=0)
    for check in check_set.checks:
        sides = (check_set.sources[f"{check.id}_{side}"] for side in "dl")
        found += set_records(check, *sides, check_set.policy, folder / f"{check.id}_records.parquet").statuses
    return dict(sorted(found.items()))
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


def main() -> None:
    """Print one line per side, the ratios, and whether the goals are met."""
    values = int(sys.argv[1]) if len(sys.argv) > 1 else VALUES
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), values)
        ours = Side("govern, set-based, whole records", OURS_SET, [name])
        pandas = Side("pandas groupby + merge", PANDAS, [name])
        sides = [ours, pandas]
        peer = peer_interpreter()
        if peer:
            sides.append(Side("datacompy, compare alone", DATACOMPY, [name], peer))
        if values <= ROW_WISE_VALUES:
            sides.append(Side("govern, row by row, with proofs", OURS, [name]))
        else:
            print(f"govern, row by row: not run above {ROW_WISE_VALUES} values (one object per record)")
        print(f"{values} declared values, {values * COMPONENTS} component rows; sides in turn")
        run_in_turn(sides, runs=3 if values <= VALUES // 8 else 1)
    met = [
        judge("govern: peak memory, MB, bound", ours.megabytes, 2048, at_least=False),
        judge("govern: peak memory, MB", ours.megabytes, 600, at_least=False),
        judge("govern: times faster than pandas", pandas.median / ours.median, 4, at_least=True),
    ]
    if peer:
        met.append(judge("govern: times faster than datacompy", sides[2].median / ours.median, 1.5, at_least=True))
    verdicts = [side.answer for side in sides if isinstance(side.answer, dict)]
    agree = verdicts.count(verdicts[0]) == len(verdicts)
    print(f"{'pass' if agree else 'FAIL'}  the same verdicts from all sides that give verdicts")
    print(f"{sum(met)} of {len(met)} goals met")


if __name__ == "__main__":
    main()
