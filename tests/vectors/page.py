"""Writes docs/security-vectors.md: each row of the attack table with its vectors, its tests and what they answer.

Run it after a row, vector or test was added: `python tests/vectors/page.py`. A test holds the page to what it makes.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PAGE = ROOT / "docs" / "security-vectors.md"
KINDS = ("ledger", "proofs", "root", "lines")
GATE = ROOT / "tests" / "unit" / "gate" / "vectors.json"
HEAD = """# Attacks and faults, row by row

Made by `tests/vectors/page.py` from the vectors and the list of rows beside it; a test holds this page to them.

A **vector** is a JSON record `{id, input, expect_code}` that is played through the library and through the command
line; both must answer with the code, or let it pass where the code is *passes* (the sound case beside the attack).
Vectors of the gate are in `tests/unit/gate/vectors.json`, the others in `tests/vectors/*.json`. What no record can hold
(a race, a killed process, a browser, a running Dagster) is a test, named here by file and function. *Long* ones run in
`make test-long`, the others in every `make test`; a vector or test that answers otherwise fails the run, so what this
page says holds for the commit it is in. With each step of verification left out in turn some vector passes that must
not: `test_without_this_step_a_forgery_passes_that_only_this_step_stops` holds that too, and
`test_without_the_atomic_use_two_runs_pass_that_asked_at_the_same_time` for the use itself.

"""


def rows() -> list[dict[str, Any]]:
    """Read the rows: `{row, attack, expected, vectors, tests, not_here}`; A1 to A10 are the acceptance tests."""
    return json.loads((FOLDER / "rows.json").read_text("utf-8"))


@cache
def vectors() -> dict[str, str | None]:
    """Give every vector's expected code by its name, those of one row together."""
    files = [GATE, *(FOLDER / f"{kind}.json" for kind in KINDS)]
    return {v["id"]: v["expect_code"] for file in files for v in json.loads(file.read_text("utf-8"))}


def of_row(row: dict[str, Any]) -> list[str]:
    """Give the vectors of a row: those named by it, and those it names."""
    number = f"row{int(row['row']):02d}-" if row["row"].isdigit() else "-"
    return sorted({*(name for name in vectors() if name.startswith(number)), *row["vectors"]})


@cache
def tests_of(path: str) -> dict[str, bool]:
    """Give the tests of a file and whether each is a long one, by reading it."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    is_long_file = any(
        isinstance(node, ast.Assign) and ast.unparse(node).startswith("pytestmark = pytest.mark.long")
        for node in tree.body
    )
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            found[node.name] = is_long_file or "pytest.mark.long" in marks
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = is_long_file
    return found


def page() -> str:
    """Write the page."""
    listed = rows()
    attacks = [row for row in listed if row["row"].isdigit()]
    promises = [row for row in listed if not row["row"].isdigit()]
    counts = (
        f"{len(vectors())} vectors, {len({test for row in listed for test in row['tests']})} named tests; rows that "
        f"cannot run here: {', '.join(row['row'] for row in listed if row['not_here']) or 'none'}.\n\n"
    )
    parts = ["## Attacks and faults\n\n", *_table(attacks), "\n## What a gate must keep\n\n", *_table(promises)]
    return HEAD + counts + "".join(parts)


def _table(listed: list[dict[str, Any]]) -> list[str]:
    lines = ["| row | attack or fault | expected | vectors and tests, with their answers |\n", "|---|---|---|---|\n"]
    return lines + [f"| {row['row']} | {row['attack']} | {row['expected']} | {_evidence(row)} |\n" for row in listed]


def _evidence(row: dict[str, Any]) -> str:
    parts = [f"`{name}` → {vectors()[name] or 'passes'}" for name in of_row(row)]
    for test in row["tests"]:
        path, _, name = test.partition("::")
        long = " (long)" if tests_of(path)[name] else ""
        parts.append(f"`{path.removeprefix('tests/')}` {name.removeprefix('test_').replace('_', ' ')}{long}")
    if row["not_here"]:
        parts.append(f"**not run here**: {row['not_here']}")
    return "<br>".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
