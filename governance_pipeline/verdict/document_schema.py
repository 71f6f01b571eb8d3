"""JSON documents held to their shipped schemas, without the leniencies of JSON Schema.

What belongs here: the one validator of this package's documents. What does not: rules a schema cannot say. A schema
alone would take 2.0 for an integer, and a number kept as text (`strict.lexeme`) for a text; both are closed here.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lexeme import Lexeme

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_MESSAGE_CHARACTERS = 200


def document_fault(schema: str, document: Any) -> str | None:
    """What is wrong with a strictly parsed document, as place and sentence; None when it keeps its schema.

    Args:
        schema: file name in `verdict/schemas`.
        document: values as `strict.json_text.parse_json` gives them.
    """
    error = best_match(_validator(schema).iter_errors(document))
    return None if error is None else f"{excerpt(error.json_path, 80)}: {excerpt(error.message, _MESSAGE_CHARACTERS)}"


def schema_document(schema: str) -> dict[str, Any]:
    """Read one of the shipped schemas."""
    file = resources.files("governance_pipeline.verdict") / "schemas" / schema
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return document


def _is_text(_checker: TypeChecker, value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Lexeme)


def _is_integer(_checker: TypeChecker, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@cache
def _validator(schema: str) -> Validator:
    checker = Draft202012Validator.TYPE_CHECKER.redefine_many({"string": _is_text, "integer": _is_integer})
    strict = extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]  # jsonschema types all but this
    validator: Validator = strict(schema_document(schema))
    return validator
