"""How often the detectors are right: on clean history, on planted faults, and beside unasked on tangled commits.

Usage:
    python bench/detectors.py                                      a small run over this repository, printed
    python bench/detectors.py --repo NAME=PATH … [--results FILE]  measure histories, keep the numbers
    python bench/detectors.py --scope NAME=PATH … --scratch FOLDER scope drift beside unasked, keep the numbers
    python bench/detectors.py --add FILE …                         take the numbers of other result files in
    python bench/detectors.py --page                               write the tables of docs/detectors.md

The numbers are kept in bench/detectors.json, the page is made from it alone, and a test holds one to the other.
GOVERN_BENCH_UNASKED is the Python of an environment that has unasked; it is no requirement of ours.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from detector_history import findings, last_commits
from detector_page import rewrite
from detector_planting import planted
from detector_scope import measure_scope
from detector_tables import fired_rows

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "detectors.json"
PAGE = ROOT / "docs" / "detectors.md"
SEEDS = (1, 2)
"""Seeds whose cases are published. Seed 0 was used while the edits were written, so its cases are not."""


def main() -> None:
    """Do what the arguments ask for."""
    given = _arguments()
    results = _read(given.results)
    for name, path in given.repo:
        results["histories"][name] = measure(path, given.commits, given.cases, given.end)
        _write(given.results, results)
    for name, path in given.scope:
        interpreter = os.environ.get("GOVERN_BENCH_UNASKED")
        if interpreter is None:
            raise SystemExit("set GOVERN_BENCH_UNASKED to the Python of an environment that has unasked 0.14.0")
        results["scope"][name] = measure_scope(name, path, given.scratch, interpreter, SEEDS)
        _write(given.results, results)
    for other in given.add:
        for group, entries in _read(other).items():
            results[group] |= entries
        _write(given.results, results)
    if given.page:
        PAGE.write_text(rewrite(PAGE.read_text("utf-8"), _read(given.results)), "utf-8")
    elif not (given.repo or given.scope or given.add):
        print(fired_rows({"this repository": measure(ROOT, 20, 1, "HEAD")}))


def measure(path: Path, commits: int, cases: int, end: str) -> dict[str, Any]:
    """Measure one history: what fires on its last commits, and what is found of what is planted in them."""
    history = last_commits(path, commits, end)
    fired: dict[str, dict[str, int]] = {}
    for _, found in findings(history.commits):
        for code in {one.code for one in found}:
            entry = fired.setdefault(code, {"commits": 0, "findings": 0})
            entry["commits"] += 1
            entry["findings"] += sum(one.code == code for one in found)
    return {
        "first": history.commits[0].sha,
        "last": history.commits[-1].sha,
        "commits": len(history.commits),
        "left_out": history.left_out,
        "fired": dict(sorted(fired.items())),
        "planted": {str(seed): planted(path, history.commits, cases, seed) for seed in SEEDS},
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", action="append", default=[], type=_named, metavar="NAME=PATH")
    parser.add_argument("--scope", action="append", default=[], type=_named, metavar="NAME=PATH")
    parser.add_argument("--commits", type=int, default=300, help="last commits of each history")
    parser.add_argument("--end", default="HEAD", help="revision the history ends at")
    parser.add_argument("--cases", type=int, default=5, help="planted cases of each kind, history and seed")
    parser.add_argument("--scratch", type=Path, default=Path("scratch"), help="clones and answers of unasked")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--add", action="append", default=[], type=Path, metavar="FILE")
    parser.add_argument("--page", action="store_true")
    return parser.parse_args()


def _named(text: str) -> tuple[str, Path]:
    name, sign, path = text.partition("=")
    if not sign or not Path(path).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME=FOLDER, a folder that is a git repository")
    return name, Path(path)


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8")) if path.exists() else {"histories": {}, "scope": {}}


def _write(path: Path, results: dict[str, Any]) -> None:
    """Write one line per history and member, sorted: a new run shows what it changed."""
    groups = []
    for group, entries in sorted(results.items()):
        parts = []
        for name, entry in sorted(entries.items()):
            members = (
                f"   {json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in sorted(entry.items())
            )
            parts.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(members) + "\n  }")
        groups.append(f" {json.dumps(group)}: {{\n" + ",\n".join(parts) + "\n }")
    path.write_text("{\n" + ",\n".join(groups) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
