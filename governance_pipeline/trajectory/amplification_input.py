"""The `govern/amplification-input/v1` document: strict JSON in, units with their factors out.

What belongs here: reading and refusing. What does not: any formula. The shape is the shipped schema; what a schema
cannot say (repeated ids, 2.0 for a count, numbers no double holds) is closed here. Source: spec/trajectory.md §9.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

from governance_pipeline.errors import UsageError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import binary64
from governance_pipeline.strict.records import Refused, json_document
from governance_pipeline.trajectory.amplification import AmplificationRule, Factors, Unit
from governance_pipeline.trajectory.touch_frequency import History, read_history

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jsonschema.protocols import Validator

INPUT_SCHEMA_FILE: Final = "amplification-input-v1.json"
_EXACT_RULES: Final = ("k", "material_min", "material_share")
_PATH_CHARACTERS, _MESSAGE_CHARACTERS = 80, 200


@dataclass(frozen=True, slots=True)
class AmplificationInput:
    """Everything amplification is computed from.

    Attributes:
        rule: thresholds, defaults filled in.
        provider: what the adapter says about its counts, as given; empty without one.
        history: commits the frequencies were counted in; None when the input has none.
        units: in input order; a baseline frequency that was unknown is already the one of the history.
    """

    rule: AmplificationRule
    provider: Mapping[str, Any]
    history: History | None
    units: tuple[Unit, ...]


def read_amplification_input(data: bytes) -> AmplificationInput:
    """Read the bytes of an input document.

    Raises:
        UsageError: not strict JSON, not the schema, a repeated id, or a number beyond a double; the message names
            the place.
    """
    read = json_document(data)
    if isinstance(read, Refused):
        raise UsageError(
            f"the input is no strict JSON document: {read.code} at byte {read.stopped_at}; repair the file"
        )
    document = _with_doubles(read.value)
    error = best_match(_validator().iter_errors(document))
    if error is not None:
        place = excerpt(error.json_path, _PATH_CHARACTERS)
        raise UsageError(f"the input is refused: {place}: {excerpt(error.message, _MESSAGE_CHARACTERS)}")
    commits = document.get("history")
    _refuse_repeated("history", (commit["id"] for commit in commits or ()))
    _refuse_repeated("units", (unit["id"] for unit in document["units"]))
    rule = _rule(document.get("rule") or {})
    history = None if commits is None else read_history((commit["files"] for commit in commits), rule.max_files)
    units = tuple(_unit(unit, history) for unit in document["units"])
    return AmplificationInput(rule, document.get("provider") or {}, history, units)


def _with_doubles(value: Any, place: str = "$") -> Any:
    """Turn numbers with a fraction or an exponent into doubles; what the provider says stays as written."""
    if isinstance(value, Lexeme):
        number = binary64(value)
        if number is None:
            raise UsageError(f"the input is refused: {excerpt(place, _PATH_CHARACTERS)}: a number beyond a double")
        return number
    if isinstance(value, list):
        return [_with_doubles(item, f"{place}[{at}]") for at, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            name: item if place == "$" and name == "provider" else _with_doubles(item, f"{place}.{name}")
            for name, item in value.items()
        }
    return value


def _rule(given: Mapping[str, Any]) -> AmplificationRule:
    known: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    known |= {name: _exact(known[name]) for name in _EXACT_RULES if name in known}
    return AmplificationRule(**known)


def _unit(given: Mapping[str, Any], history: History | None) -> Unit:
    files = given.get("files")
    baseline = _factors(given["baseline"])
    if history is not None and baseline is not None and baseline.frequency is None:
        frequency = history.frequency([given["id"]] if files is None else files)
        baseline = Factors(Fraction(frequency), baseline.impact)
    return Unit(given["id"], given["touched"], baseline, _factors(given["candidate"]))


def _factors(given: Mapping[str, Any] | None) -> Factors | None:
    if given is None:
        return None
    frequency, impact = given.get("frequency"), given.get("impact")
    return Factors(
        None if frequency is None else _exact(frequency),
        None if impact is None else _exact(impact),
    )


def _exact(number: float) -> Fraction:
    """Give the decimal that was meant: 0.2 is one fifth, not the double next to it."""
    return Fraction(repr(number))


def _refuse_repeated(place: str, ids: Iterable[str]) -> None:
    repeated = sorted(id_ for id_, count in Counter(ids).items() if count > 1)
    if repeated:
        shown = excerpt(repeated[0], _PATH_CHARACTERS)
        raise UsageError(f"the input is refused: {place} repeats the id {shown}; ids are unique")


def _is_integer(_checker: TypeChecker, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@cache
def _validator() -> Validator:
    file = resources.files("governance_pipeline.trajectory") / "schemas" / INPUT_SCHEMA_FILE
    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    strict = extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]  # jsonschema types all but this
    validator: Validator = strict(json.loads(file.read_text("utf-8")))
    return validator
