"""Table `audit_cross_checks`: the built-in checks over the declared aggregates and components of rounds.

The same engine as for user check files does the comparing; this module only groups rows by round and subject. A
quarantined record in a file that holds the components of a number may belong to that number, so the number becomes
`components_incomplete` (spec/crosscheck.md §11).
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pandas as pd

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.crosscheck.engine import evaluate
from governance_pipeline.crosscheck.policy import shipped_epsilon_policy
from governance_pipeline.crosscheck.rows import ComponentRow, DeclaredRow, Value
from governance_pipeline.vocabulary import ANY_SOURCE, Disposition, ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from governance_pipeline.crosscheck.catalogue import Catalogue
    from governance_pipeline.crosscheck.formula import Formula

    Row = Mapping[str, Any]
    Subject = tuple[str, str, str]  # round, format, subject


def cross_checks(declared: pd.DataFrame, components: pd.DataFrame, quarantine: pd.DataFrame) -> pd.DataFrame:
    """Return one row per declared value and check of its format; columns as contract `audit_cross_checks`.

    Args:
        declared: `core_declared` of any number of rounds.
        components: `core_components` of the same rounds.
        quarantine: `raw_quarantine` of the same rounds.
    """
    parts = component_rows(components)
    broken = broken_files(quarantine)
    return frame_of("audit_cross_checks", sorted(_records(declared, parts, broken), key=_order))


def not_checkable(declared: pd.DataFrame) -> pd.DataFrame:
    """Return one row per declared value its format offers no parts for: round_id, format, field, subject_id, reason."""
    known = catalogue()
    rows = [
        (r["round_id"], r["format"], r["field"], r["subject_id"], reason)
        for r in plain_rows(declared)
        if (reason := known.why_not(r["format"], r["field"])) is not None
    ]
    return pd.DataFrame(rows, columns=["round_id", "format", "field", "subject_id", "reason"])


def unchecked(declared: pd.DataFrame, checks: pd.DataFrame) -> pd.DataFrame:
    """Return the declared rows that lack a record of one of their checks, or have no check and no stated reason why.

    Empty when all is well; the rows keep their index and columns.
    """
    known = catalogue()
    places = plain_rows(
        checks[["round_id", "declared_path", "declared_line", "declared_pointer", "subject_id", "check_id"]]
    )
    seen = {tuple(place.values()) for place in places}
    missing = [not _is_answered(row, known, seen) for row in plain_rows(declared)]
    return declared[pd.Series(missing, index=declared.index, dtype=bool)]


def _is_answered(row: Row, known: Catalogue, seen: set[tuple[Any, ...]]) -> bool:
    """Tell whether each check of a declared value has its record, or why it has no check is stated."""
    checks = known.checks_for(row["format"], row["field"])
    place = (row["round_id"], row["path"], row["line"], row["pointer"], row["subject_id"])
    if checks:
        return all((*place, check.id) in seen for check in checks)
    return known.why_not(row["format"], row["field"]) is not None


def _records(
    declared: pd.DataFrame, parts: Mapping[Subject, list[ComponentRow]], broken: Mapping[str, frozenset[str]]
) -> Iterator[dict[str, Any]]:
    known, policy = catalogue(), shipped_epsilon_policy()
    grouped: dict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
    for row in plain_rows(declared):
        grouped[(row["round_id"], row["format"], row["subject_id"], row["field"])].append(row)
    for (round_id, format_name, subject, field), rows in grouped.items():
        for check in known.checks_for(format_name, field):
            records = evaluate(
                check,
                [declared_row(row) for row in rows],
                parts.get((round_id, format_name, subject), []),
                policy=policy,
                incomplete=incomplete_sources(check.formula, rows, broken.get(round_id, frozenset())),
                declared_file=rows[0]["file_sha256"],
                with_undeclared=False,
                round_id=round_id,
            )
            paths = {(row["file_sha256"], row["line"], row["pointer"]): row["path"] for row in rows}
            for record in records:
                yield _table_row(record, round_id, paths, rows[0]["path"])


def _table_row(record: Any, round_id: str, paths: Mapping[Any, str], path: str) -> dict[str, Any]:
    row = dict(record.to_json())
    pointer = row.pop("declared_pointer")
    key = (pointer["file"], pointer["line"], pointer["pointer"])
    return {
        **row,
        "round_id": round_id,
        "declared_file_sha256": pointer["file"],
        "declared_path": paths.get(key, path),
        "declared_line": pointer["line"],
        "declared_pointer": pointer["pointer"],
    }


def declared_row(row: Row) -> DeclaredRow:
    """Return one row of `core_declared` as the engine reads it."""
    value = Value(ValueKind(row["value_kind"]), row["value_raw"])
    return DeclaredRow(row["subject_id"], value, row["file_sha256"], row["line"], row["pointer"])


def component_rows(components: pd.DataFrame) -> dict[Subject, list[ComponentRow]]:
    """Return the component rows of `core_components` by round, format and subject, each ordered by source and line."""
    wide: dict[tuple[str, str, str, str, int], dict[str, Value]] = defaultdict(dict)
    for r in plain_rows(components):
        key = (r["round_id"], r["format"], r["subject_id"], r["source"], r["row_index"])
        wide[key][r["column"]] = Value(ValueKind(r["value_kind"]), r["value_raw"])
    rows: dict[Subject, list[ComponentRow]] = defaultdict(list)
    for (round_id, format_name, subject, source, index), values in sorted(wide.items(), key=lambda item: item[0]):
        rows[(round_id, format_name, subject)].append(ComponentRow(subject, source, index, values))
    return rows


def broken_files(quarantine: pd.DataFrame) -> dict[str, frozenset[str]]:
    """Return the paths of files that hold a quarantined record, by round."""
    broken = quarantine[quarantine["disposition"] == Disposition.QUARANTINED]
    return {str(round_id): frozenset(part["path"]) for round_id, part in broken.groupby("round_id")}


def incomplete_sources(formula: Formula, rows: Iterable[Row], broken: frozenset[str]) -> frozenset[str]:
    """Return the component sources of an expression that may miss a row.

    Args:
        formula: the expression.
        rows: rows of `core_declared` it is held against.
        broken: paths of files that hold a quarantined record.
    """
    found = set()
    for row in rows:
        for source, paths in json.loads(row["component_paths"]).items():
            if not broken.isdisjoint(paths):
                found |= set(formula.sources) if source == ANY_SOURCE else {source}
    return frozenset(found)


def _order(row: Row) -> tuple[str, str, str, bool, int, str, str]:
    """Order of spec/crosscheck.md §12 inside a round; path and pointer decide between documents of one subject."""
    line = row["declared_line"]
    return (row["round_id"], row["check_id"], row["subject_id"], line is None, line or 0,
            row["declared_path"], row["declared_pointer"])  # fmt: skip
