"""The tables of docs/detectors.md, made from the kept numbers alone.

What belongs here: which table stands between which marks. What does not: the tables.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from detector_tables import fired_rows, goal_rows, kinds_table, labels_table, planted_table, scope_table

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = "this repository"


def rewrite(page: str, results: Mapping[str, Any]) -> str:
    """Give the page with each table between its marks written anew.

    Raises:
        ValueError: a mark is missing, so that a table would be lost.
    """
    for name, table in tables(results).items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if pattern.search(page) is None:
            raise ValueError(f"docs/detectors.md has no '<!-- {name} -->' with an '<!-- end -->' after it")
        page = pattern.sub(lambda match, table=table: f"{match[1]}{table}\n{match[2]}", page)
    return page


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Give every table by its mark."""
    histories, scope = results["histories"], results["scope"]
    return {
        "measured": _measured(histories),
        "planted": planted_table(histories),
        "kinds": kinds_table(histories),
        "fired": fired_rows(histories),
        "labels": labels_table(histories, OWN),
        "pairs": _pairs(scope),
        "scope": scope_table(scope),
        "goal": goal_rows(scope),
    }


def _measured(histories: Mapping[str, Any]) -> str:
    lines = ["| history | last commit | commits | left out | planted cases |", "| --- | --- | --- | --- | --- |"]
    for name, entry in sorted(histories.items()):
        cases = sum(row["cases"] for rows in entry["planted"].values() for row in rows)
        lines.append(f"| {name} | {entry['last'][:12]} | {entry['commits']} | {entry['left_out']} | {cases} |")
    return "\n".join(lines)


def _pairs(scope: Mapping[str, Any]) -> str:
    lines = ["| repository | last commit | tangled commits | clean commits |", "| --- | --- | --- | --- |"]
    for name, entry in sorted(scope.items()):
        pairs, clean = len(entry["pairs"]["unasked"]), len(entry["clean"]["unasked"])
        lines.append(f"| {name} | {entry['head'][:12]} | {pairs} | {clean} |")
    return "\n".join(lines)
