"""JSON of a governed folder: read strictly and held to its shipped schema.

What belongs here: the one validator of this package. What does not: rules a schema cannot say, and writing. A schema
alone would take 2.0 for an integer and a number kept as text (`strict.lexeme`) for a text; both are closed here.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

from governance_pipeline.errors import Fault, FaultyFileError, RecordRefused
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.limits import LIMITS
from governance_pipeline.trust.instants import instant_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from jsonschema.protocols import Validator

    from governance_pipeline.framework.folder import GovernedFolder

CURRENT_STATE: Final = "current_state-v1"
CANONICAL_REGISTRY: Final = "canonical_registry-v1"
PROMPT_REGISTRY: Final = "prompt_registry-v1"

_INSTANT_PATTERN: Final = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T"
"""Begins every pattern of an instant in the shipped schemas."""
_PATH_CHARACTERS, _MESSAGE_CHARACTERS = 80, 200


def read_document(folder: GovernedFolder, name: str, schema: str) -> dict[str, Any]:
    """Read one of the JSON files of a folder.

    Args:
        folder: the governed folder.
        name: its path in the folder (`framework.folder`).
        schema: file name in `framework/schemas`, without its ending.

    Raises:
        FileRefused: it is not there, or no regular file.
        FaultyFileError: it is no strict JSON or breaks its schema; the fault holds the path of the place.
    """
    with open_regular(folder.path(name)) as stream:
        data = stream.read(LIMITS.document_bytes + 1)
    return parsed_document(name, data, schema)


def parsed_document(name: str, data: bytes, schema: str) -> dict[str, Any]:
    """Read a document from its bytes; `name` says in messages which one. Raises as `read_document`."""
    try:
        document = parse_json(data)
    except RecordRefused as error:
        raise FaultyFileError(name, [Fault(error.code, None, str(error))]) from None
    fault = document_fault(schema, document)
    if fault is not None:
        raise FaultyFileError(name, [Fault("schema", None, fault)])
    found: dict[str, Any] = document
    return found


def document_fault(schema: str, document: Any) -> str | None:
    """Say what is wrong with a strictly parsed document, as path and sentence; None when it keeps its schema."""
    error = best_match(_validator(schema).iter_errors(document))
    if error is None:
        return None
    return f"{excerpt(error.json_path, _PATH_CHARACTERS)}: {excerpt(error.message, _MESSAGE_CHARACTERS)}"


def schema_document(schema: str) -> dict[str, Any]:
    """Read one of the shipped schemas."""
    file = resources.files("governance_pipeline.framework") / "schemas" / f"{schema}.json"
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return document


def _is_text(_checker: TypeChecker, value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Lexeme)


def _is_integer(_checker: TypeChecker, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _pattern(validator: Validator, pattern: str, value: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    """Hold a text to its pattern; one of an instant must also be a moment of the calendar, which no pattern can say."""
    yield from Draft202012Validator.VALIDATORS["pattern"](validator, pattern, value, schema)
    if pattern.startswith(_INSTANT_PATTERN) and validator.is_type(value, "string"):
        try:
            instant_of(value)
        except (ValueError, OverflowError) as error:
            yield ValidationError(f"{value!r} is no moment of the calendar ({error})")


@cache
def _validator(schema: str) -> Validator:
    checker = Draft202012Validator.TYPE_CHECKER.redefine_many({"string": _is_text, "integer": _is_integer})
    strict = extend(Draft202012Validator, {"pattern": _pattern}, type_checker=checker)  # type: ignore[no-untyped-call]
    validator: Validator = strict(schema_document(schema))
    return validator
