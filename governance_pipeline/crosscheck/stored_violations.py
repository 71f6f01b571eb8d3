"""The validator over stored records: SQL proves most of them sound, the rest are looked at one by one.

What belongs here: the same judgement as `crosscheck.report_validator`, for records too many to look at singly. What
does not: what a violation is. SQL only ever says "sound", and only where each derived member was recomputed from the
texts of the record itself; every other record goes through `record_faults`. A test holds both to the same codes.

Source: spec/crosscheck.md §7 and §12.
"""

# ruff: noqa: S608 - statements are built of column names and quoted literals; no text of a file is part of one

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from governance_pipeline.crosscheck import report_shape as shape
from governance_pipeline.crosscheck.digest_text import canonical_array
from governance_pipeline.crosscheck.report_record import record_faults
from governance_pipeline.crosscheck.report_shape import Violation, shape_violations
from governance_pipeline.crosscheck.report_validator import (
    ReportHead,
    all_field_violations,
    case_violations,
    count_violations,
    row_violations,
)
from governance_pipeline.crosscheck.stored_records import BATCH_ROWS
from governance_pipeline.strict.numbers import EXACT, ZERO, canonical
from governance_pipeline.strict.sql_session import literal
from governance_pipeline.vocabulary import Action, DataType, RecordStatus, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from decimal import Decimal

    from governance_pipeline.crosscheck.report_field import FieldRules
    from governance_pipeline.crosscheck.stored_records import StoredRecords

    Object = Mapping[str, Any]

_NUMBER: Final = r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,20})?"
_CANONICAL: Final = r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,19}[1-9])?"
_NUMBERS: Final = ("declared", "computed", "delta")
_DIGEST: Final = "[0-9a-f]{64}"
_EXACT: Final = "DECIMAL(38, 20)"
_ESCAPED: Final = '[\\x00-\\x1f"\\\\]'


def stored_violations(
    check_set: Object,
    fields: Sequence[Object],
    records: Mapping[str, StoredRecords],
    escalations: Iterable[Mapping[str, Any]],
) -> Iterator[Violation]:
    """Yield what is wrong with all of a report but what it claims of itself; as `body_violations`.

    Args:
        check_set: the member of that name.
        fields: its fields.
        records: its records by check id, each in the order of the report.
        escalations: its cases, in their order.
    """
    head = ReportHead(check_set)
    yield from head.violations
    rules: dict[str, FieldRules | None] = {}
    yield from all_field_violations(fields, head, rules)
    at = 0
    for check_id in sorted(records):
        yield from _of_check(records[check_id], rules.get(check_id), at)
        at += records[check_id].statuses().total()
    yield from count_violations(check_set, fields, {name: found.statuses() for name, found in records.items()})
    yield from row_violations(fields, head, {name: _rows(found) for name, found in records.items()})
    yield from _escalations(escalations, records)


def accepted_mutants(records: StoredRecords, rules: FieldRules) -> int:
    """Return how many records SQL calls sound once they are overwritten; whatever it does not is refused or looked at.

    Two mutants, of every record and of every mismatch: `overwritten` set, and the declared value replaced by the
    computed one with all that follows from it.
    """
    match, accept = literal(RecordStatus.MATCH.value), literal(Action.ACCEPT.value)
    corrected = f"computed AS declared, '0' AS delta, {match} AS status, {accept} AS action, false AS mismatch"
    mutants = (
        "SELECT * REPLACE (true AS overwritten) FROM records",
        f"SELECT * REPLACE ({corrected}) FROM records WHERE status = {literal(RecordStatus.MISMATCH.value)}",
    )
    with records.session() as session:
        found = (
            session.execute(f"SELECT count(*) FROM ({mutant}) WHERE {_soundness(rules)}").fetchall()
            for mutant in mutants
        )
        return sum(int(count) for ((count,),) in found)


def _rows(records: StoredRecords) -> int:
    """How many records point at a line."""
    with records.session() as session:
        ((count,),) = session.execute("SELECT count(line) FROM records").fetchall()
    return int(count)


def _of_check(records: StoredRecords, rules: FieldRules | None, at: int) -> Iterator[Violation]:
    yield from _placed(records, at)
    sound = "false" if rules is None else _soundness(rules)
    numbered = "SELECT *, row_number() OVER () - 1 AS number FROM records"
    # The first one is always looked at: it shows the members all records of a check share.
    sql = f"SELECT * FROM ({numbered}) WHERE number = 0 OR NOT coalesce({sound}, false)"
    with records.session() as session:
        for batch in session.sql(sql).to_arrow_reader(BATCH_ROWS):
            for row in batch.to_pylist():
                yield from _one(records.record(row).to_json(), rules, f"/records/{at + row['number']}")


def _one(record: dict[str, Any], rules: FieldRules | None, where: str) -> Iterator[Violation]:
    found = shape_violations(record, shape.RECORD, where)
    if not found:
        found = shape_violations(record["declared_pointer"], shape.POINTER, f"{where}/declared_pointer")
    yield from found
    if not found and rules is not None:
        yield from (Violation(code, f"{where}/{member}") for code, member in record_faults(record, rules))


def _soundness(rules: FieldRules) -> str:
    """SQL: whether each derived member of a verifiable record is what it must be; null or false where it cannot say."""
    check = rules.check
    if rules.file is None or rules.is_incomplete or check.epsilon_relative is not None:
        return "false"
    declared, computed, delta = (_exact(name) for name in ("declared", "computed", "delta"))
    head = canonical_array([check.id, check.formula.digest]).decode()[:-1] + ',"'
    tail = f'","{rules.file}",'
    pointer = "," + canonical_array([check.pointer]).decode()[1:]
    text = f"concat({literal(head)}, subject_id, {literal(tail)}, line, {literal(pointer)})"
    flags = [
        f"(status = {literal(status.value)} AND action = {literal(action.value)} AND mismatch = {flag})"
        for status, action, flag in (
            (RecordStatus.MATCH, Action.ACCEPT, "false"),
            (RecordStatus.MISMATCH, Action.ESCALATE, "true"),
        )
    ]
    return " AND ".join([
        f"({' OR '.join(flags)})", "NOT overwritten", "reason_code IS NULL",
        f"subject_id <> '' AND NOT regexp_matches(subject_id, {literal(_ESCAPED)})", "line >= 1",
        f"record_id = sha256({text})", "components_count > 0",
        f"regexp_full_match(components_digest, {literal(_DIGEST)})",
        f"regexp_full_match(declared_raw, {literal(_NUMBER)})",
        *(f"regexp_full_match({name}, {literal(_CANONICAL)}) AND {name} <> '-0'" for name in _NUMBERS),
        _is_as_written(check.data_type), f"{delta} = {declared} - {computed}",
        f"epsilon = {_epsilon(rules)}", f"mismatch = (abs({delta}) > {_exact('epsilon')})",
    ])  # fmt: skip


def _is_as_written(data_type: DataType) -> str:
    if data_type is DataType.FLOAT:
        # What reads back and is the shortest that does: the spelling of the engine of a plain number.
        text = "(declared::DOUBLE::VARCHAR)"
        return f"declared = declared_raw AND declared = if(ends_with({text}, '.0'), {text}[:-3], {text})"
    same = f"{_exact('declared')} = {_exact('declared_raw')}"
    return f"{same} AND NOT contains(declared, '.')" if data_type is DataType.INTEGER else same


def _epsilon(rules: FieldRules) -> str:
    """SQL: the epsilon the policy gives a number by its decimals; null where it is not allowed."""
    decimals = "CASE WHEN contains(declared_raw, '.') THEN length(declared_raw) - strpos(declared_raw, '.') ELSE 0 END"
    cases = []
    for places in range(rules.policy.decimals + 1):
        lexeme = f"1.{'0' * places}" if places else "1"
        epsilon = rules.policy.epsilon(rules.check, EXACT.create_decimal(1), lexeme)
        if ZERO <= epsilon <= _least_bound(rules, lexeme):
            cases.append(f"WHEN {places} THEN {literal(canonical(epsilon))}")
    return f"CASE least({decimals}, {rules.policy.decimals}) {' '.join(cases)} END" if cases else "NULL"


def _least_bound(rules: FieldRules, lexeme: str) -> Decimal:
    """The bound for a declared zero: a relative term only ever widens it."""
    return rules.policy.bound(rules.check.data_type, ZERO, lexeme)


def _exact(name: str) -> str:
    return f"TRY_CAST({name} AS {_EXACT})"


def _placed(records: StoredRecords, at: int) -> Iterator[Violation]:
    """Order, repeated places and repeated subjects, batch by batch with the last row of the one before.

    The place of a record makes its id, so records in strictly rising order have different ids.
    """
    with records.session() as session:
        reader = session.sql("SELECT subject_id, line, reason_code FROM records").to_arrow_reader(BATCH_ROWS)
        last, is_repeated = None, False
        for batch in reader:
            rows = pa.Table.from_batches([batch] if last is None else [last, batch]).combine_chunks()
            if not rows.num_rows:
                continue
            here, after = rows.slice(0, rows.num_rows - 1), rows.slice(1)
            same = pc.fill_null(pc.equal(here["subject_id"], after["subject_id"]), False).to_numpy().tolist()
            yield from _order(here, after, same, at)
            yield from _repeated(here, same, is_repeated, at)
            is_repeated = same[-1] if same else is_repeated
            at += here.num_rows
            last = rows.slice(rows.num_rows - 1).to_batches()[0]
        if last is not None:
            yield from _repeated(pa.Table.from_batches([last]), [False], is_repeated, at)


def _order(here: Any, after: Any, same: list[bool], at: int) -> Iterator[Violation]:
    rises = pc.or_kleene(pc.is_null(after["subject_id"]), pc.less(here["subject_id"], after["subject_id"]))
    rises = pc.and_(pc.fill_null(rises, False), pc.is_valid(here["subject_id"])).to_numpy().tolist()
    if all(rises):
        return
    lines = [pc.fill_null(side["line"], 2**62).to_pylist() for side in (here, after)]
    nulls = pc.and_(pc.is_null(here["subject_id"]), pc.is_null(after["subject_id"])).to_pylist()
    for index, is_rising in enumerate(rises):
        if not is_rising and not ((same[index] or nulls[index]) and lines[0][index] < lines[1][index]):
            is_equal = (same[index] or nulls[index]) and lines[0][index] == lines[1][index]
            code, member = ("duplicate_record", "/record_id") if is_equal else ("order_wrong", "")
            yield Violation(code, f"/records/{at + index + 1}{member}")


def _repeated(rows: Any, same: list[bool], is_repeated: bool, at: int) -> Iterator[Violation]:
    """A subject that has one record is no duplicate, and each of several is one."""
    told = pc.fill_null(pc.equal(rows["reason_code"], UnknownReason.DUPLICATE_SUBJECT.value), False).to_pylist()
    before = [is_repeated, *same[:-1]] if same else []
    found = [first or second for first, second in zip(before, same, strict=True)]
    if found == told:
        return
    known = pc.is_valid(rows["subject_id"]).to_pylist()
    for index, (is_found, is_told) in enumerate(zip(found, told, strict=True)):
        if known[index] and is_found != is_told:
            yield Violation("reason_code_wrong", f"/records/{at + index}/reason_code")


def _escalations(escalations: Iterable[Object], records: Mapping[str, StoredRecords]) -> Iterator[Violation]:
    """Cases are those of the records that do not match, each once, in their order: the two walk side by side."""
    unmatched = frozenset(RecordStatus) - {RecordStatus.MATCH}
    asked = (record for name in sorted(records) for record in records[name].having("status", unmatched))
    for index, (case, record) in enumerate(zip_longest(escalations, asked)):
        where = f"/escalations/{index}"
        if record is None or (case is not None and case["record_id"] != record.record_id):
            yield Violation("escalation_extra", where)
            return
        if case is None:
            yield Violation("escalation_missing", f"case-{record.record_id}")
            return
        unsound = shape_violations(case, shape.ESCALATION, where)
        yield from unsound
        if not unsound:
            yield from case_violations(case, record.to_json(), where)
