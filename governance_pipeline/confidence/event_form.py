"""Whether an object is a confidence event: which fields it must have, may have and must not have, in order.

What belongs here: the checks that need nothing but the line and the registry. What does not: what earlier events make
of it (`fold`). Source: spec/confidence.md §12; the first reason that applies is the one given.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence import event_fields as form
from governance_pipeline.confidence.event import EVENT_SCHEMA, Event
from governance_pipeline.confidence.terms import EventType, PatternKind, RefusalReason, Role
from governance_pipeline.strict.lexeme import Lexeme

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from governance_pipeline.confidence.patterns import Pattern
    from governance_pipeline.confidence.registry import Registry

    Values = Mapping[str, Any]


_GIVEN = "names of the given members"
_NEVER_READ = (_GIVEN, "note", "context")  # notes and contexts change no score, so the fold does not see them


class LineRefused(Exception):  # noqa: N818 - a refusal is data
    """A line that is no event; holds the reason and the field it is about."""

    def __init__(self, reason: RefusalReason, field: str | None = None) -> None:
        self.reason = reason
        self.field = field
        super().__init__(reason, field)


class Need(Enum):
    """Whether a field belongs into an event."""

    REQUIRED = "R"
    ALLOWED = "A"
    FORBIDDEN = "-"


class FieldRule(NamedTuple):
    """One field: when it is needed, and its form; both see the values read before it."""

    name: str
    need: Callable[[Values], Need]
    read: Callable[[Any, Values], Any]


def read_event(value: Mapping[str, Any], registry: Registry) -> Event:
    """Judge an object that is no registry line.

    Raises:
        LineRefused: it breaks a rule; the first one in the order of the specification.
    """
    _check_schema(value.get("schema"))
    given = {name: member for name, member in value.items() if member is not None and name != "schema"}
    unknown = value.keys() - _NAMES - {"schema"}
    if unknown:
        raise LineRefused(RefusalReason.UNKNOWN_FIELD, min(unknown))
    values: dict[str, Any] = {_GIVEN: given.keys()}
    for rule in RULES:
        values[rule.name] = _read(rule, given, values)
    for name in _NEVER_READ:
        del values[name]
    _check_day(values)
    _check_registered(values, registry)
    members = {"schema": EVENT_SCHEMA, **{name: _plain(member) for name, member in given.items()}}
    return Event(**values, members=members)


def _check_schema(schema: Any) -> None:
    if schema is None:
        raise LineRefused(RefusalReason.MISSING_FIELD, "schema")
    if schema != EVENT_SCHEMA:
        raise LineRefused(RefusalReason.UNKNOWN_SCHEMA)


def refused_id(value: Any) -> str | None:
    """Return the event id of a refused object where it is a valid one."""
    found = value.get("event_id") if isinstance(value, dict) else None
    return found if form.is_id(found) else None


def _read(rule: FieldRule, given: Values, values: Values) -> Any:
    need = rule.need(values)
    if rule.name not in given:
        if need is Need.REQUIRED:
            raise LineRefused(RefusalReason.MISSING_FIELD, rule.name)
        return None
    if need is Need.FORBIDDEN:
        raise LineRefused(RefusalReason.INVALID_FIELD, rule.name)
    try:
        return rule.read(given[rule.name], values)
    except form.NotOfThisForm:
        raise LineRefused(RefusalReason.INVALID_FIELD, rule.name) from None


def _always(_: Values) -> Need:
    return Need.REQUIRED


def _anywhere(_: Values) -> Need:
    return Need.ALLOWED


def _session(values: Values) -> Need:
    return Need.ALLOWED if values["event_type"] is EventType.SEAL else Need.REQUIRED


def _runtime(values: Values) -> Need:
    return Need.REQUIRED if values["role"] is Role.AGENT else Need.FORBIDDEN


def _domain(values: Values) -> Need:
    return Need.FORBIDDEN if values["event_type"] is EventType.SEAL else Need.REQUIRED


def _severity(values: Values) -> Need:
    return Need.ALLOWED if values["event_type"] is EventType.ERROR else Need.FORBIDDEN


def _pattern(values: Values) -> Need:
    if values["event_type"] is EventType.PRO_PATTERN:
        return Need.REQUIRED
    return _but_seal(values)


def _cluster(other: str, values: Values) -> Need:
    if values["event_type"] is not EventType.ERROR:
        return Need.FORBIDDEN
    return Need.REQUIRED if other in values[_GIVEN] else Need.ALLOWED


def _but_seal(values: Values) -> Need:
    return Need.FORBIDDEN if values["event_type"] is EventType.SEAL else Need.ALLOWED


def _points_need(values: Values) -> Need:
    return Need.REQUIRED if values["event_type"] in _POINTS else Need.FORBIDDEN


def _points(value: Any, values: Values) -> int:
    return form.points(value, *_POINTS[values["event_type"]])


def _judgement(value: Any, values: Values) -> Any:
    return form.scores_by_domain(value) if values["event_type"] is EventType.SEAL else form.score(value)


def _plainly(read: Callable[[Any], Any]) -> Callable[[Any, Values], Any]:
    return lambda value, _: read(value)


_POINTS: dict[EventType, tuple[int, int]] = {EventType.BONUS: (1, 3), EventType.EXCEPTIONAL: (5, 10)}

RULES: tuple[FieldRule, ...] = (
    FieldRule("event_id", _always, _plainly(form.identifier)),
    FieldRule("event_type", _always, _plainly(form.event_type)),
    FieldRule("ts", _always, _plainly(form.instant)),
    FieldRule("day", _always, _plainly(form.day)),
    FieldRule("session_id", _session, _plainly(form.identifier)),
    FieldRule("role", _always, _plainly(form.role)),
    FieldRule("subject_id", _always, _plainly(form.identifier)),
    FieldRule("runtime", _runtime, _plainly(form.runtime)),
    FieldRule("domain", _domain, _plainly(form.domain)),
    FieldRule("severity", _severity, _plainly(form.severity)),
    FieldRule("pattern_code", _pattern, _plainly(form.pattern_code)),
    FieldRule("cluster_id", partial(_cluster, "cluster_role"), _plainly(form.identifier)),
    FieldRule("cluster_role", partial(_cluster, "cluster_id"), _plainly(form.cluster_role)),
    FieldRule("quadrant", _but_seal, _plainly(form.quadrant)),
    FieldRule("trigger", _but_seal, _plainly(form.trigger)),
    FieldRule("points", _points_need, _points),
    FieldRule("self_score", _anywhere, _judgement),
    FieldRule("user_score", _anywhere, _judgement),
    FieldRule("evidence", _anywhere, _plainly(form.evidence)),
    FieldRule("note", _anywhere, _plainly(form.free_text)),
    FieldRule("context", _anywhere, _plainly(form.free_text)),
)
"""Every field in the order it is checked (spec/confidence.md §12)."""

_NAMES = frozenset(rule.name for rule in RULES)


def _check_day(values: Values) -> None:
    if abs(values["day"] - form.day_of(values["ts"])) > 1:
        raise LineRefused(RefusalReason.DAY_MISMATCH)


def _check_registered(values: Values, registry: Registry) -> None:
    if (values["role"], values["subject_id"]) not in registry.weights:
        raise LineRefused(RefusalReason.UNKNOWN_SUBJECT)
    if values["runtime"] is not None and values["runtime"] not in registry.pools:
        raise LineRefused(RefusalReason.UNKNOWN_POOL)
    pattern = None
    if values["pattern_code"] is not None:
        pattern = registry.patterns.get(values["pattern_code"])
        if pattern is None or pattern.role is not values["role"]:
            raise LineRefused(RefusalReason.UNKNOWN_PATTERN)
        _check_pattern(values, pattern)
    if values["event_type"] is EventType.ERROR and not (values["severity"] or (pattern and pattern.severity)):
        raise LineRefused(RefusalReason.MISSING_FIELD, "severity")


def _check_pattern(values: Values, pattern: Pattern) -> None:
    wanted = _KIND_OF.get(values["event_type"])
    if wanted is None:
        return
    fixed = ((pattern.domain, values["domain"]), (pattern.severity, values["severity"]))
    if pattern.kind is not wanted or any(own and said and own is not said for own, said in fixed):
        raise LineRefused(RefusalReason.PATTERN_MISMATCH)


_KIND_OF = {EventType.ERROR: PatternKind.ANTI, EventType.PRO_PATTERN: PatternKind.PRO}


def _plain(value: Any) -> Any:
    """The same member with its number in plain form: 2.0 and 2 are one number."""
    if isinstance(value, Lexeme):
        number = float(value)
        return int(number) if number.is_integer() else number
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    return value
