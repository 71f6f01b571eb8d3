"""Does reading a log of any format take time in proportion to its records? n against 4n, CPU seconds.

Usage: python bench/scaling.py [FORMAT ...]        default: every format with seeds

The logs are grown out of the small hostile rounds of the fuzz run (`tests/unit/ingest/seeds`): the lines of a file, and
in a document its outermost list and its innermost list of objects, once with every id made new and once with the same
ids again. A format that looks through what it has already read for every record takes 16 times as long, one that does
not 4 times; the goal is below 6. The smaller log is grown until it takes 0.05 s or
holds 6,400 copies; of each format the three longest seeds are grown.
"""

from __future__ import annotations

import copy
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.scratch import ScratchStore

if TYPE_CHECKING:
    from collections.abc import Iterator

SEEDS = Path(__file__).parents[1] / "tests" / "unit" / "ingest" / "seeds"
GOAL, FACTOR = 6.0, 4
FIRST, MOST, LONG_ENOUGH_S = 400, 6_400, 0.05
SEEDS_OF_A_FORMAT = 3
ID = re.compile(r"(?:id|Id|ID|uuid|sha|key|name)$")


def renamed(value: Any, number: int) -> Any:
    """Give a copy in which every member that looks like an id has a new one."""
    if isinstance(value, list):
        return [renamed(item, number) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{held}.{number}" if ID.search(name) and isinstance(held, str) and held else renamed(held, number)
        for name, held in value.items()
    }


def lists_in(value: Any, depth: int = 0) -> Iterator[tuple[int, list[Any]]]:
    """Give every list of objects in a value and how deep it is."""
    if isinstance(value, list):
        if any(isinstance(item, dict | list) for item in value):
            yield depth, value
        for item in value:
            yield from lists_in(item, depth + 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from lists_in(item, depth + 1)


def grown(text: str, name: str, times: int, mode: str) -> str | None:
    """Give a log `times` as long; None where the mode has nothing to grow in it."""
    is_new = not mode.endswith("same ids")
    lines = text.splitlines()
    is_text = len(lines) > 1 and not text.lstrip().startswith(("{", "["))
    if is_text or name.endswith((".jsonl", ".csv", ".yml", ".yaml")):
        if not mode.startswith("outer"):
            return None
        head, body = (lines[:1], lines[1:]) if name.endswith(".csv") else ([], lines)
        return "\n".join([*head, *(_line(line, number, is_new) for number in range(times) for line in body)]) + "\n"
    try:
        document = json.loads(text)
    except ValueError:
        return None
    found = sorted(lists_in(document), key=lambda each: each[0])
    if not found or (mode.startswith("inner") and len(found) == 1):
        return None
    chosen = found[0 if mode.startswith("outer") else -1][1]
    items = copy.deepcopy(chosen)
    chosen[:] = [renamed(item, number) if is_new else item for number in range(times) for item in items]
    return json.dumps(document)


def _line(line: str, number: int, is_new: bool) -> str:
    if not is_new or not line.startswith("{"):
        return line
    try:
        return json.dumps(renamed(json.loads(line), number))
    except ValueError:
        return line


def seconds(files: dict[str, str]) -> tuple[float, int]:
    """Give the CPU seconds reading a round takes, and the records that were read."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in files.items():
            target = root / "round" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        found = scan(root / "round")
        start = time.process_time()
        tables = read_files(found, "r-1", ScratchStore(root))
        spent = time.process_time() - start
        return spent, int(tables.frame("raw_log_files")["accepted"].sum())


def measure(seed: dict[str, str], mode: str) -> tuple[int, float, float] | None:
    """Give records of the smaller log, and the CPU seconds of both; None where nothing grows, or all is refused."""
    texts = {name: text for name, text in seed.items() if isinstance(text, str)}
    times, best = FIRST, None
    while times <= MOST:
        logs = {name: grown(text, name, times, mode) for name, text in texts.items()}
        large = {name: grown(text, name, times * FACTOR, mode) or text for name, text in texts.items()}
        if not any(logs.values()):
            return None
        small, records = seconds({name: log or texts[name] for name, log in logs.items()})
        long, accepted = seconds(large)
        if not accepted:  # beyond the limits of one document: refused, which is quick
            break
        best = records, small, long
        if small >= LONG_ENOUGH_S:
            break
        times *= 2
    return best


def main() -> None:
    """Print a line per format and way to grow, the worst of its seeds; the exit code says whether all are in bounds."""
    worst = 0.0
    for path in sorted(SEEDS.glob("*.json")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        seeds = sorted(json.loads(path.read_text("utf-8")), key=lambda seed: -len(str(seed)))[:SEEDS_OF_A_FORMAT]
        for mode in ("outer, new ids", "outer, same ids", "inner, new ids", "inner, same ids"):
            rows = [row for seed in seeds if (row := measure(seed, mode)) is not None]
            if rows:
                records, small, large = max(rows, key=lambda row: row[2] / max(row[1], 1e-9))
                ratio = large / max(small, 1e-9)
                worst = max(worst, ratio)
                said = "met    " if ratio < GOAL else "NOT MET"
                times = f"{records:8,} records {small:6.2f} s, 4n {large:6.2f} s: {ratio:5.2f}"
                print(f"{said} {path.stem:24} {mode:16} {times}", flush=True)
    print(f"worst ratio {worst:.2f}, goal below {GOAL:g}")
    raise SystemExit(worst >= GOAL)


if __name__ == "__main__":
    main()
