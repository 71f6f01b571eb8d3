"""Table `audit_explanations`: for each mismatch every hypothesis its format declares, tried and listed.

What belongs here: which hypotheses, rows and declared numbers belong to which mismatch. What does not: trying one
(`crosscheck.explain`). It only reads `audit_cross_checks`: flag, action, verdict and exit code are made from that
table and never from this one. Source: spec/crosscheck.md §5b.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.audit_explanations import NONE_HELD
from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.crosscheck.builtin import broken_files, component_rows, incomplete_sources
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.crosscheck.explain import Claim, Parts, Sister, attempt
from governance_pipeline.rounds.change_checks import CHANGE_CHECK_IDS
from governance_pipeline.strict.numbers import canonical
from governance_pipeline.vocabulary import Hypothesis, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from governance_pipeline.crosscheck.alternative import Alternative
    from governance_pipeline.crosscheck.catalogue import CatalogueEntry

    Row = Mapping[str, Any]
    Subject = tuple[str, str, str]  # round, format, subject

EXPLANATION_TABLES: Final = ("audit_cross_checks", "core_declared", "core_components", "raw_quarantine")
"""Tables `explanations` reads."""

NONE_TRIED: Final = "no hypothesis is declared for this check"


def explanations(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one row per mismatch and hypothesis tried; columns as contract `audit_explanations`.

    Ordered as the records, hypotheses as their check declares them; none_holds is last, and only where none holds.
    Numbers of change events are passed over: their files are known to the trajectory, which explains them.

    Args:
        tables: the frames named by `EXPLANATION_TABLES`, of the same rounds, of any number of them.
    """
    checks = tables["audit_cross_checks"]
    is_ours = (checks["status"] == str(RecordStatus.MISMATCH)) & ~checks["check_id"].isin(CHANGE_CHECK_IDS)
    found = plain_rows(checks[is_ours])
    facts = _facts(tables, found)
    entries = {entry.check.id: entry for entry in catalogue().entries}
    rows = (row for record in found for row in _rows(record, entries.get(record["check_id"]), facts, entries))
    return frame_of("audit_explanations", rows)


class _Facts(NamedTuple):
    """What hypotheses read: components by subject, files of their rows, declarations by place, records by subject."""

    parts: Mapping[Subject, list[Any]]
    files: Mapping[Subject, dict[tuple[str, int | None], str]]
    declared: Mapping[tuple[Any, ...], list[Row]]
    records: Mapping[tuple[str, str, str], list[Row]]
    broken: Mapping[str, frozenset[str]]


def _facts(tables: Mapping[str, pd.DataFrame], found: Sequence[Row]) -> _Facts:
    """Only what the mismatches can need is turned into rows: they are few."""
    places = {(r["round_id"], r["declared_path"], r["declared_pointer"]) for r in found}
    declared: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    frame = tables["core_declared"]
    for row in plain_rows(frame[frame["path"].isin({path for _, path, _ in places})]):
        if (row["round_id"], row["path"], row["pointer"]) in places:
            declared[_place(row, "path", "line", "pointer")].append(row)
    subjects = {row["subject_id"] for rows in declared.values() for row in rows}
    components = tables["core_components"]
    components = components[components["subject_id"].isin(subjects)]
    files: dict[Subject, dict[tuple[str, int | None], str]] = defaultdict(dict)
    for row in plain_rows(components):
        files[row["round_id"], row["format"], row["subject_id"]][row["source"], row["row_index"]] = row["path"]
    records: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    checks = tables["audit_cross_checks"]
    for row in plain_rows(checks[checks["subject_id"].isin(subjects)]):
        records[row["round_id"], row["check_id"], row["subject_id"]].append(row)
    return _Facts(component_rows(components), files, declared, records, broken_files(tables["raw_quarantine"]))


def _place(row: Row, path: str, line: str, pointer: str) -> tuple[Any, ...]:
    return row["round_id"], row["field"], row[path], row[line], row[pointer]


def _rows(
    record: Row, entry: CatalogueEntry | None, facts: _Facts, entries: Mapping[str, CatalogueEntry]
) -> Iterator[dict[str, Any]]:
    told = () if entry is None else entry.explanations
    tried = [alternative for alternative in told if alternative.is_about(record["subject_id"])]
    is_explained, index = False, 0
    for index, alternative in enumerate(tried, 1):
        assert entry is not None
        row = _tried(record, entry, alternative, facts, entries)
        is_explained = is_explained or row["holds"] is True
        yield _keys(record, index) | row
    if not is_explained:
        reads = NONE_HELD if tried else NONE_TRIED
        yield _keys(record, index + 1) | {"hypothesis": Hypothesis.NONE_HOLDS, "reads": reads, "holds": True}


def _keys(record: Row, index: int) -> dict[str, Any]:
    return {**{name: record[name] for name in ("round_id", "record_id", "check_id")}, "attempt_index": index}


def _tried(
    record: Row, entry: CatalogueEntry, alternative: Alternative, facts: _Facts, entries: Mapping[str, CatalogueEntry]
) -> dict[str, Any]:
    subject = (record["round_id"], entry.format, record["subject_id"])
    same = facts.declared[_place(record, "declared_path", "declared_line", "declared_pointer")]
    pooled = [part for row in same for part in facts.parts.get((subject[0], subject[1], row["subject_id"]), ())]
    found = attempt(
        alternative,
        entry.check,
        _claim(record),
        Parts(facts.parts.get(subject, []), facts.files.get(subject, {})),
        pooled=pooled,
        incomplete=incomplete_sources(alternative.formula, same, facts.broken.get(subject[0], frozenset())),
        sister=_sister(alternative, record, facts, entries),
    )
    return {
        "hypothesis": alternative.hypothesis,
        "reads": alternative.reads,
        "formula": alternative.formula.text,
        "rows_read": found.rows_read,
        "value": None if found.side.value is None else canonical(found.side.value),
        "delta": None if found.delta is None else canonical(found.delta),
        "holds": found.holds,
        "reason_code": found.side.reason,
    }


def _sister(
    alternative: Alternative, record: Row, facts: _Facts, entries: Mapping[str, CatalogueEntry]
) -> Sister | None:
    if alternative.until is None:
        return None
    found = facts.records[record["round_id"], alternative.until, record["subject_id"]]
    if len(found) != 1 or found[0]["status"] == RecordStatus.UNVERIFIABLE:
        return None
    is_whole = found[0]["status"] == RecordStatus.MATCH
    return Sister(entries[alternative.until].check, None if is_whole else _claim(found[0]))


def _claim(record: Row) -> Claim:
    return Claim(Decimal(record["declared"]), record["declared_raw"], Decimal(record["epsilon"]))
