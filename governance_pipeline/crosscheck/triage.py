"""Triage of a request: is this a cross-check, and can it be one (spec/crosscheck.md §6, §12).

What belongs here: the typed request and the typed answer. What does not: running a check. No free text is ever
interpreted: a request says what it wants in members with a closed list of values, or it is refused.
"""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.validators import extend

from governance_pipeline.errors import RecordRefused, UnreadableError, UsageError
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular, refusal_of
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.limits import LIMITS
from governance_pipeline.vocabulary import DataType, ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from jsonschema.protocols import Validator

ANSWER_SCHEMA: Final = "govern/crosscheck-triage-answer/v1"
BAD_REQUEST: Final = "bad_request"
ESCALATE: Final = "escalate"
REQUEST_BYTES: Final = 2**20
"""Largest request: a few names; anything longer is none."""

_CORRECTIONS: Final = ("overwrite", "reconcile")


class Answer(StrEnum):
    """What becomes of a request.

    VERIFY: both sides are there, a check can run. DEGRADE_TO_HUMAN: a person must decide. NOT_APPLICABLE: it is no
    cross-check. REFUSE: it asks to make the numbers agree, for which there is no code path.
    """

    VERIFY = "verify"
    DEGRADE_TO_HUMAN = "degrade_to_human"
    NOT_APPLICABLE = "not_applicable"
    REFUSE = "refuse"


EXIT_OF: Final = {
    Answer.VERIFY: ExitCode.CLEAN,
    Answer.NOT_APPLICABLE: ExitCode.CLEAN,
    Answer.DEGRADE_TO_HUMAN: ExitCode.UNKNOWN,
    Answer.REFUSE: ExitCode.REFUSED,
}


class Triage(NamedTuple):
    """The answer and the reason it was given for."""

    answer: Answer
    reason_code: str

    def to_json(self) -> dict[str, str]:
        """Return the document ``govern/crosscheck-triage-answer/v1``."""
        return {"schema": ANSWER_SCHEMA, "answer": str(self.answer), "reason_code": self.reason_code}


def read_request(path: Path) -> Mapping[str, Any]:
    """Read a request; null and empty members count as absent and are left out.

    Raises:
        UsageError: it cannot be read, is not strict JSON, or no ``govern/crosscheck-triage-request/v1``; the message
            names the place.
    """
    try:
        with open_regular(path) as stream:
            return request_of(stream.read(REQUEST_BYTES + 1))
    except OSError as error:
        raise UsageError(f"{BAD_REQUEST}: {refusal_of(error, path)}") from None
    except UnreadableError as error:
        raise UsageError(f"{BAD_REQUEST}: {error}") from None


def request_of(data: bytes) -> Mapping[str, Any]:
    """Read the bytes of a request; errors as `read_request`."""
    try:
        request = parse_json(data, replace(LIMITS, line_bytes=REQUEST_BYTES))
    except RecordRefused as error:
        raise UsageError(f"{BAD_REQUEST}: {error}") from None
    for fault in sorted(_validator().iter_errors(request), key=lambda fault: fault.json_path):
        raise UsageError(f"{BAD_REQUEST}: {fault.json_path}: {excerpt(fault.message)}")
    return {name: value for name, value in request.items() if name != "schema" and value not in (None, "", [])}


def triage(request: Mapping[str, Any]) -> Triage:
    """Answer a request (`read_request`): the first rule that applies, in the order of spec/crosscheck.md §12."""
    ask = request.get("ask")
    if ask in _CORRECTIONS or request.get("on_mismatch", ESCALATE) != ESCALATE:
        return Triage(Answer.REFUSE, "silent_correction")
    if not request:
        return Triage(Answer.NOT_APPLICABLE, "empty")
    if ask == "check_format":
        return Triage(Answer.NOT_APPLICABLE, "format_question")
    if ask == "other":
        return Triage(Answer.NOT_APPLICABLE, "other_task")
    if "data_type" in request and request["data_type"] not in set(DataType):
        return Triage(Answer.NOT_APPLICABLE, "not_numeric")
    missing = _missing(request)
    return Triage(Answer.VERIFY, "both_present") if missing is None else Triage(Answer.DEGRADE_TO_HUMAN, missing)


def _missing(request: Mapping[str, Any]) -> str | None:
    """Give what keeps a check from running, None when nothing does."""
    if "data_type" not in request:
        return "data_type_unknown"
    if "declared" not in request:
        return "declared_missing"
    if "components" not in request:
        return "components_missing"
    derived = {request["declared"], *request.get("derived_from_declared", ())}
    return "not_independent" if derived.intersection(request["components"]) else None


def _is_text(_checker: TypeChecker, value: Any) -> bool:
    """A number keeps its spelling as a text of a type of its own (`strict.lexeme`); it is none all the same."""
    return isinstance(value, str) and not isinstance(value, Lexeme)


@cache
def _validator() -> Validator:
    file = resources.files("governance_pipeline.crosscheck") / "schemas" / "crosscheck-triage-request-v1.json"
    checker = Draft202012Validator.TYPE_CHECKER.redefine("string", _is_text)
    strict = extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]
    validator: Validator = strict(json.loads(file.read_text("utf-8")))
    return validator
