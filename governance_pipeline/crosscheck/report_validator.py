"""The validator of reports: every derived member recomputed offline, every way a report can be wrong by its code.

What belongs here: the report as a whole: order, counts, escalations, claims, guardian. What does not: one object's
shape (`crosscheck.report_shape`), one field (`crosscheck.report_field`), one record (`crosscheck.report_record`).

A run validates its own report while it is still a stream of records, and `govern crosscheck validate` one that was
read from a file: both come through `body_violations`. Source: spec/crosscheck.md §7 and §12.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck import report_shape as shape
from governance_pipeline.crosscheck.policy import SCHEMA as POLICY_SCHEMA
from governance_pipeline.crosscheck.policy import shipped_epsilon_policy
from governance_pipeline.crosscheck.report_claims import claim_violations
from governance_pipeline.crosscheck.report_field import FieldRules, field_rules, field_violations
from governance_pipeline.crosscheck.report_record import record_faults
from governance_pipeline.crosscheck.report_shape import Violation, schema_violations, shape_violations
from governance_pipeline.vocabulary import RecordStatus, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from governance_pipeline.crosscheck.policy import EpsilonPolicy

    Object = Mapping[str, Any]

SCHEMA: Final = "govern/cross-check-report/v1"
_BODY: Final = ("check_set", "fields", "records", "escalations")
_COUNTED: Final = ("records", *map(str, RecordStatus))


def report_violations(document: Any) -> list[Violation]:
    """Return everything that is wrong with a report; nothing when it is sound and green.

    Args:
        document: the JSON value as `strict.json_text` reads it, so that the spelling of numbers is known.
    """
    found = shape_violations(document, shape.REPORT, "")
    if not isinstance(document, dict):
        return found
    found += schema_violations(document, SCHEMA, "")
    bad = {violation.where for violation in found}
    if any(name not in document or f"/{name}" in bad for name in _BODY):
        return found
    check_set, fields, records, escalations = (document[name] for name in _BODY)
    found += body_violations(check_set, fields, records, escalations)
    if {"structural_tests", "validation"} <= document.keys():
        found += claim_violations(document, {violation.code for violation in found})
    return found


def body_violations(
    check_set: Object, fields: Sequence[Object], records: Iterable[Object], escalations: Iterable[Object]
) -> Iterator[Violation]:
    """Yield what is wrong with all of a report but what it claims of itself; records are looked at one by one."""
    head = ReportHead(check_set)
    yield from head.violations
    rules: dict[str, FieldRules | None] = {}
    yield from all_field_violations(fields, head, rules)
    seen = _Records(rules)
    for index, record in enumerate(records):
        yield from seen.violations(record, f"/records/{index}")
    yield from seen.last_subject()
    yield from count_violations(check_set, fields, seen.counts)
    yield from row_violations(fields, head, seen.rows)
    yield from _escalations(escalations, seen)


class ReportHead:
    """Sources and policy of a report, as far as they can be used, and what is wrong with them."""

    def __init__(self, check_set: Object) -> None:
        self.sources: dict[str, Object] = {}
        self.places: dict[str, int] = {}
        self.policy: EpsilonPolicy = shipped_epsilon_policy()
        self.violations = shape_violations(check_set, shape.CHECK_SET, "/check_set")
        self._read_sources(check_set.get("sources"))
        self._read_policy(check_set.get("epsilon_policy"))

    def _read_sources(self, sources: Any) -> None:
        last = ""
        for index, source in enumerate(sources if isinstance(sources, list) else []):
            where = f"/check_set/sources/{index}"
            found = shape_violations(source, shape.SOURCE, where)
            if not found:
                if source["name"] <= last:
                    found.append(Violation("order_wrong", where))
                if source["quarantined"] > source["rows"]:
                    found.append(Violation("count_wrong", f"{where}/quarantined"))
                last = source["name"]
                self.sources[last], self.places[last] = source, index
            self.violations += found

    def _read_policy(self, policy: Any) -> None:
        where = "/check_set/epsilon_policy"
        found = shape_violations(policy, shape.POLICY, where)
        if not found:
            found += schema_violations(policy, POLICY_SCHEMA, where)
            found += shape_violations(policy["max"], shape.MAXIMA, f"{where}/max")
        if not found:
            maxima = {name: Decimal(value) for name, value in policy["max"].items()}
            loose = [name for name, value in maxima.items() if not self.policy.allows(name, value)]
            found += [Violation("epsilon_not_allowed", f"{where}/max/{name}") for name in loose]
            self.policy = self.policy.tightened({name: v for name, v in maxima.items() if name not in loose})
        self.violations += found


def all_field_violations(
    fields: Sequence[Object], head: ReportHead, rules: dict[str, FieldRules | None]
) -> Iterator[Violation]:
    """Check the fields and note what the records of each must keep; a field of unsound shape has no rules."""
    last = ""
    for index, field in enumerate(fields):
        where = f"/fields/{index}"
        found = shape_violations(field, shape.FIELD, where)
        yield from found
        if found:
            if isinstance(field, dict) and isinstance(field.get("check_id"), str):
                rules.setdefault(field["check_id"], None)
            continue
        if field["check_id"] <= last:
            yield Violation("order_wrong", where)
        last = field["check_id"]
        rules[last] = field_rules(field, head.sources, head.policy)
        yield from field_violations(field, rules[last], head.sources, where)


class _Records:
    """The records one by one, and what has to be remembered of them."""

    def __init__(self, rules: Mapping[str, FieldRules | None]) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.rows: dict[str, int | None] = {}
        self.asked: dict[str, Object] = {}
        self.unsound: set[Any] = set()
        self._rules = rules
        self._ids: set[str] = set()
        self._last: tuple[Any, ...] = ()
        self._subject: list[tuple[str, Object]] = []

    def violations(self, record: Any, where: str) -> Iterator[Violation]:
        """Yield what is wrong with the next record."""
        found = shape_violations(record, shape.RECORD, where)
        if not found:
            found = shape_violations(record["declared_pointer"], shape.POINTER, f"{where}/declared_pointer")
        if found:
            yield from found
            self._note_unsound(record)
            return
        yield from self._placed(record, where)
        rules = self._rules.get(record["check_id"])
        if rules is not None:
            for code, member in record_faults(record, rules):
                yield Violation(code, f"{where}/{member}")
        elif record["check_id"] not in self._rules:
            yield Violation("field_wrong", f"{where}/check_id")
        self._note(record)

    def last_subject(self) -> Iterator[Violation]:
        """Yield what is wrong with the reasons of the subject that ended: one record is no duplicate, two are."""
        is_duplicate = len(self._subject) > 1
        for where, record in self._subject:
            if is_duplicate != (record["reason_code"] == UnknownReason.DUPLICATE_SUBJECT):
                yield Violation("reason_code_wrong", f"{where}/reason_code")
        self._subject = []

    def _placed(self, record: Object, where: str) -> Iterator[Violation]:
        if record["record_id"] in self._ids:
            yield Violation("duplicate_record", f"{where}/record_id")
        subject, line = record["subject_id"], record["declared_pointer"]["line"]
        key = (record["check_id"], subject is None, subject or "", line is None, line or 0)
        if key < self._last:
            yield Violation("order_wrong", where)
        if key[:3] != self._last[:3]:
            yield from self.last_subject()
        if subject is not None:
            self._subject.append((where, record))
        self._last = key

    def _note(self, record: Object) -> None:
        self._ids.add(record["record_id"])
        self.counts.setdefault(record["check_id"], Counter())[record["status"]] += 1
        rows = self.rows.setdefault(record["check_id"], 0)
        if rows is not None and record["declared_pointer"]["line"] is not None:
            self.rows[record["check_id"]] = rows + 1
        if record["status"] != RecordStatus.MATCH:
            self.asked[record["record_id"]] = record

    def _note_unsound(self, record: Any) -> None:
        """Whether an unsound record is of a row or goes to a person is not known, so neither is missing or too many."""
        if isinstance(record, dict):
            self.unsound.add(str(record.get("record_id")))
            self.counts.setdefault(str(record.get("check_id")), Counter())[str(record.get("status"))] += 1
            self.rows[str(record.get("check_id"))] = None


def count_violations(
    check_set: Object, fields: Sequence[Object], by_check: Mapping[str, Counter[str]]
) -> Iterator[Violation]:
    """Yield each count of a report that is not that of its records, which are given by check and status."""
    total: Counter[str] = sum(by_check.values(), Counter())
    places = [("/check_set", check_set, total)]
    places += [
        (f"/fields/{index}", field, by_check.get(field["check_id"], Counter()))
        for index, field in enumerate(fields)
        if isinstance(field, dict) and isinstance(field.get("check_id"), str)
    ]
    for where, claimed, counts in places:
        for name in _COUNTED:
            if name in claimed and claimed[name] != (counts.total() if name == "records" else counts[name]):
                yield Violation("count_wrong", f"{where}/{name}")


def row_violations(
    fields: Sequence[Object], head: ReportHead, by_check: Mapping[str, int | None]
) -> Iterator[Violation]:
    """Yield each declared source that has not as many rows as a check on it has records of rows (spec §11, Records).

    A record that was taken out of a report together with its case and its share of the counts shows here.

    Args:
        fields: the fields of the report.
        head: its sources.
        by_check: records that point at a line, by check; None where a record is too unsound to tell.
    """
    wrong = set()
    for field in fields:
        if not isinstance(field, dict) or not all(
            isinstance(field.get(name), str) for name in ("check_id", "declared")
        ):
            continue
        source, rows = head.sources.get(field["declared"].split(".", 1)[0]), by_check.get(field["check_id"], 0)
        if source is not None and rows is not None and rows != source["rows"]:
            wrong.add(head.places[source["name"]])
    for place in sorted(wrong):
        yield Violation("count_wrong", f"/check_set/sources/{place}/rows")


def _escalations(escalations: Iterable[Object], seen: _Records) -> Iterator[Violation]:
    """Cases are those of the records that were not accepted, each once, in their order."""
    place = {record_id: at for at, record_id in enumerate(seen.asked)}
    found: set[str] = set()
    last = -1
    for index, case in enumerate(escalations):
        where = f"/escalations/{index}"
        unsound = shape_violations(case, shape.ESCALATION, where)
        yield from unsound
        record_id = case.get("record_id") if isinstance(case, dict) else None
        if not isinstance(record_id, str):
            continue
        if record_id in seen.asked and record_id not in found:
            found.add(record_id)
            if place[record_id] < last:
                yield Violation("order_wrong", where)
            last = place[record_id]
            if not unsound:
                yield from case_violations(case, seen.asked[record_id], where)
        elif record_id not in seen.unsound or record_id in found:
            yield Violation("escalation_extra", where)
    for record_id in seen.asked:
        if record_id not in found:
            yield Violation("escalation_missing", f"case-{record_id}")


def case_violations(case: Object, record: Object, where: str) -> Iterator[Violation]:
    """Yield what is wrong with a case of sound shape, held against the record it is about."""
    is_mismatch = record["status"] == RecordStatus.MISMATCH
    expected = {
        "case_id": f"case-{record['record_id']}",
        "assignee": record["escalate_to"],
        "reason": RecordStatus.MISMATCH.value if is_mismatch else record["reason_code"],
    }
    for name, value in expected.items():
        if case[name] != value:
            yield Violation("field_wrong", f"{where}/{name}")
    for name in ("declared", "computed"):
        if case[name] != record[name]:
            yield Violation("value_hidden" if case[name] is None else "field_wrong", f"{where}/{name}")
