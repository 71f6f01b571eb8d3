"""The form of each field of a confidence event: what it must look like, and the value the fold reads.

What belongs here: one function per form; each returns the typed value or raises `NotOfThisForm`. What does not: where
a field is required or forbidden (`event_form`). Source: the table of spec/confidence.md §12.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from governance_pipeline.confidence.terms import (
    ClusterRole,
    Domain,
    EventType,
    Quadrant,
    Role,
    Severity,
    Trigger,
)
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import exact_number

if TYPE_CHECKING:
    from decimal import Decimal

RUNTIME_LENGTH: Final = 200
SCORE_PLACES: Final = 2
MICROSECONDS_PER_SECOND: Final = 10**6
SECONDS_PER_DAY: Final = 86_400

Member = TypeVar("Member", bound=StrEnum)

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}", re.ASCII)
_EVIDENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/#@-]{0,255}", re.ASCII)
_PATTERN = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)
_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._:@+-]*"
_RUNTIME = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT}){{2,}}", re.ASCII)
# The hour is bounded here: later Pythons read 24:00 as the next day.
_TS = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,6}))?Z", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class NotOfThisForm(ValueError):  # noqa: N818 - a signal to whoever refuses the line
    """The value of a field is not of its form."""


def is_id(value: Any) -> bool:
    """Tell whether a value is an identifier of events, sessions, subjects and clusters."""
    return isinstance(value, str) and not isinstance(value, Lexeme) and _ID.fullmatch(value) is not None


def identifier(value: Any) -> str:
    """Read an identifier."""
    return _matched(value, _ID)


def evidence(value: Any) -> str:
    """Read a record or finding id."""
    return _matched(value, _EVIDENCE)


def pattern_code(value: Any) -> str:
    """Read the code of a pattern."""
    return _matched(value, _PATTERN)


def runtime(value: Any) -> str:
    """Read `platform/model/thinking`; the model may have several segments."""
    text = _matched(value, _RUNTIME)
    if len(text) > RUNTIME_LENGTH:
        raise NotOfThisForm
    return text


def free_text(value: Any) -> str:
    """Read a note or context: any text."""
    if not isinstance(value, str) or isinstance(value, Lexeme):
        raise NotOfThisForm
    return value


def instant(value: Any) -> int:
    """Read a UTC instant as microseconds since 0001-01-01; a second 60 is none."""
    match = _TS.fullmatch(free_text(value))
    if match is None:
        raise NotOfThisForm
    try:
        moment = datetime.fromisoformat(match[1])
    except ValueError:
        raise NotOfThisForm from None
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    fraction = int((match[2] or "0").ljust(6, "0"))
    return (moment.toordinal() * SECONDS_PER_DAY + seconds) * MICROSECONDS_PER_SECOND + fraction


def day(value: Any) -> int:
    """Read a calendar date as a proleptic ordinal."""
    text = _matched(value, _DAY)
    try:
        return date.fromisoformat(text).toordinal()
    except ValueError:
        raise NotOfThisForm from None


def day_of(ts: int) -> int:
    """Return the UTC date of an instant, as a proleptic ordinal."""
    return ts // (MICROSECONDS_PER_SECOND * SECONDS_PER_DAY)


def event_type(value: Any) -> EventType:
    """Read what happened."""
    return _member(value, EventType)


def role(value: Any) -> Role:
    """Read who is judged."""
    return _member(value, Role)


def domain(value: Any) -> Domain:
    """Read a domain."""
    return _member(value, Domain)


def severity(value: Any) -> Severity:
    """Read how bad an error is."""
    return _member(value, Severity)


def cluster_role(value: Any) -> ClusterRole:
    """Read the place in a causal chain."""
    return _member(value, ClusterRole)


def quadrant(value: Any) -> Quadrant:
    """Read a quadrant."""
    return _member(value, Quadrant)


def trigger(value: Any) -> Trigger:
    """Read a trigger that scores."""
    return _member(value, Trigger)


def points(value: Any, least: int, most: int) -> int:
    """Read whole points between two bounds; ``2.0`` is 2."""
    number = _number(value)
    if number != number.to_integral_value() or not least <= number <= most:
        raise NotOfThisForm
    return int(number)


def score(value: Any) -> int:
    """Read a judgement between -100 and 100 with at most two decimals, as hundredths."""
    hundredths = _number(value).scaleb(SCORE_PLACES)
    if hundredths != hundredths.to_integral_value() or not -10_000 <= hundredths <= 10_000:  # noqa: PLR2004 - ±100
        raise NotOfThisForm
    return int(hundredths)


def scores_by_domain(value: Any) -> dict[Domain, int]:
    """Read the judgements of a seal: any of the five domains, each a `score`."""
    if not isinstance(value, dict):
        raise NotOfThisForm
    return {domain(name): score(number) for name, number in value.items()}


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Lexeme):
        raise NotOfThisForm
    number = exact_number(str(value))
    if number is None:
        raise NotOfThisForm
    return number


def _matched(value: Any, form: re.Pattern[str]) -> str:
    text = free_text(value)
    if form.fullmatch(text) is None:
        raise NotOfThisForm
    return text


def _member(value: Any, names: type[Member]) -> Member:
    try:
        return names(free_text(value))
    except ValueError:
        raise NotOfThisForm from None
