"""Shape of a report: which members each object has and what kind of value stands in each.

What belongs here: missing_field, unknown_field, bad_type and schema_wrong. What does not: whether a value is right
(`crosscheck.report_record`, `crosscheck.report_validator`).

The JSON Schema shipped beside it says the same for other programs; a test holds the two to the same members. This
table is used here because a schema cannot see how a number is spelt, and because every run is validated: the general
validator needs a hundred times as long for each record. Source: spec/crosscheck.md §12.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.crosscheck.check import NoComponents, Role
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.vocabulary import DataType, RecordStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Kind = Callable[[Any], bool]
    Shape = Mapping[str, Kind]


class Violation(NamedTuple):
    """One thing wrong with a report: stable code, and the RFC 6901 pointer of the place."""

    code: str
    where: str

    def __str__(self) -> str:
        return f"{self.code} {self.where}"


_CANONICAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?", re.ASCII)
_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)


def is_number(value: Any) -> bool:
    """Tell whether a value is a number written canonically: no exponent, no trailing zero after the point, no -0."""
    if type(value) is int:
        return True
    return type(value) is Lexeme and value != "-0" and _CANONICAL.fullmatch(value) is not None


def _text(value: Any) -> bool:
    return type(value) is str and value != ""


def _any_text(value: Any) -> bool:
    return type(value) is str


def _digest(value: Any) -> bool:
    return type(value) is str and _HEX.fullmatch(value) is not None


def _flag(value: Any) -> bool:
    return type(value) is bool


def _null(value: Any) -> bool:
    return value is None


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _line(value: Any) -> bool:
    return type(value) is int and value >= 1


def _texts(value: Any) -> bool:
    return type(value) is list and all(map(_text, value))


def _object(value: Any) -> bool:
    return type(value) is dict


def _list(value: Any) -> bool:
    return type(value) is list


def _or_null(kind: Kind) -> Kind:
    return lambda value: value is None or kind(value)


def _one_of(values: Any) -> Kind:
    words = frozenset(map(str, values))
    return lambda value: type(value) is str and value in words


_DATA_TYPE: Final = _one_of(DataType)
_COUNTS: Final = dict.fromkeys(("records", *RecordStatus), _count)

REPORT: Final[Shape] = {
    "schema": _any_text,
    "check_set": _object,
    "fields": _list,
    "records": _list,
    "escalations": _list,
    "structural_tests": _object,
    "validation": _object,
    "guardian": _one_of(("pass", "block")),
}
CHECK_SET: Final[Shape] = {"checks_sha256": _digest, "epsilon_policy": _object, "sources": _list, **_COUNTS}
POLICY: Final[Shape] = {"schema": _any_text, "max": _object}
MAXIMA: Final[Shape] = dict.fromkeys(("integer", "currency", "float", "float_relative", "percent"), is_number)
SOURCE: Final[Shape] = {
    "name": _text,
    "path": _any_text,
    "role": _one_of(Role),
    "key": _text,
    "sha256": _digest,
    "bytes": _count,
    "rows": _count,
    "quarantined": _count,
    "blank": _count,
}
FIELD: Final[Shape] = {
    "check_id": _text,
    "field": _text,
    "data_type": _DATA_TYPE,
    "unit": _or_null(_any_text),
    "declared": _text,
    "formula": _text,
    "formula_digest": _digest,
    "components": _texts,
    "epsilon": _or_null(is_number),
    "epsilon_reason": _any_text,
    "epsilon_relative": _or_null(is_number),
    "epsilon_relative_reason": _or_null(_any_text),
    "no_components": _one_of(NoComponents),
    "no_components_reason": _or_null(_any_text),
    "escalate_to": _text,
    "independent": _flag,
    "can_fail": _flag,
    **_COUNTS,
}
RECORD: Final[Shape] = {
    "record_id": _digest,
    "check_id": _text,
    "round_id": _or_null(_text),
    "subject_id": _or_null(_text),
    "field": _text,
    "data_type": _DATA_TYPE,
    "unit": _or_null(_any_text),
    "declared": _or_null(is_number),
    "declared_raw": _or_null(_any_text),
    "computed": _or_null(is_number),
    "delta": _or_null(is_number),
    "epsilon": _or_null(is_number),
    "epsilon_reason": _any_text,
    "status": _one_of(RecordStatus),
    "mismatch": _or_null(_flag),
    "action": _any_text,
    "reason_code": _or_null(_any_text),
    "overwritten": _flag,
    "formula": _text,
    "formula_digest": _digest,
    "components_count": _count,
    "components_digest": _or_null(_digest),
    "declared_pointer": _object,
    "escalate_to": _text,
    "opened_at": _null,
}
POINTER: Final[Shape] = {"file": _digest, "line": _or_null(_line), "pointer": _any_text}
ESCALATION: Final[Shape] = {
    "case_id": _text,
    "record_id": _digest,
    "assignee": _text,
    "reason": _text,
    "declared": _or_null(is_number),
    "computed": _or_null(is_number),
    "opened_at": _null,
    "age_days": _null,
    "state": _one_of(("open",)),
}
STRUCTURAL_TESTS: Final = (
    "injected_mismatch_flagged",
    "silent_overwrite_rejected",
    "epsilon_justified",
    "recompute_independent",
    "validator_passed",
)
CLAIMS: Final = (
    "fields_verifiable",
    "epsilon_justified",
    "records_recomputed",
    "mismatches_visible",
    "mismatches_escalated",
    "silent_correction_blocked",
    "structural_tests_passed",
    "validator_passed",
)
TESTS_SHAPE: Final[Shape] = dict.fromkeys(STRUCTURAL_TESTS, _flag)
CLAIMS_SHAPE: Final[Shape] = dict.fromkeys(CLAIMS, _flag)


def shape_violations(value: Any, shape: Shape, where: str) -> list[Violation]:
    """Return what is wrong with the shape of one object; an object that is none is one bad_type."""
    if type(value) is not dict:
        return [Violation("bad_type", where or "/")]
    found = []
    if value.keys() != shape.keys():
        found += [Violation("missing_field", f"{where}/{name}") for name in shape if name not in value]
        found += [Violation("unknown_field", f"{where}/{_escaped(name)}") for name in value if name not in shape]
    wrong = [name for name, kind in shape.items() if name in value and not kind(value[name])]
    found += [Violation("bad_type", f"{where}/{name}") for name in wrong]
    return found


def schema_violations(value: Mapping[str, Any], schema: str, where: str) -> Iterator[Violation]:
    """Yield schema_wrong when an object names another schema than the one it must have."""
    if value.get("schema", schema) != schema:
        yield Violation("schema_wrong", f"{where}/schema")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
