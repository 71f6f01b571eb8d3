"""`govern audit` against the time orjson needs just to parse the same bytes.

Usage: python bench/audit.py [PATH...]    default: the sample rounds

Both are run as whole processes, in turn, five times; the ratio is that of the medians. The floor parses every line (or
document) of every file and keeps nothing, so no auditor can reach it; what is left is imports, typing, contracts, the
comparison and the page.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 5
FLOOR = """
import sys, pathlib, orjson
for root in sys.argv[1:]:
    for path in pathlib.Path(root).rglob('*'):
        if path.is_file():
            data = path.read_bytes()
            for part in ([data] if data[:1] in b'[{' and data.count(b'\\n{') == 0 else data.splitlines()):
                try: orjson.loads(part)
                except orjson.JSONDecodeError: pass
"""


def seconds(command: list[str]) -> tuple[float, float]:
    """Run a command; return its wall seconds and its peak memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    _, _, usage = os.wait4(child.pid, 0)
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Print one line per side, and the ratios."""
    paths = sys.argv[1:] or [str(ROOT / "data" / "sample" / "rounds")]
    size = sum(p.stat().st_size for root in paths for p in Path(root).rglob("*") if p.is_file())
    sides = {
        "orjson, parse only": [sys.executable, "-c", FLOOR, *paths],
        "python, imports only": [sys.executable, "-c", "import governance_pipeline.pipeline"],
        "govern audit": [
            sys.executable,
            "-m",
            "governance_pipeline.cli",
            "audit",
            *paths,
            "--json",
            "--fail-on",
            "never",
        ],
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for _ in range(RUNS):
        for name, command in sides.items():
            taken[name].append(seconds(command))
    print(f"{size / 1e6:.1f} MB, median of {RUNS}, sides in turn")
    medians = {name: statistics.median(t for t, _ in runs) for name, runs in taken.items()}
    for name, runs in taken.items():
        print(f"{name:22} {medians[name]:7.2f} s  {max(m for _, m in runs):6.0f} MB")
    net = medians["govern audit"] - medians["python, imports only"]
    print(f"audit / parse only: {medians['govern audit'] / medians['orjson, parse only']:.1f}x; without imports: "
          f"{net / medians['orjson, parse only']:.1f}x")  # fmt: skip


if __name__ == "__main__":
    main()
