"""The documents of this package held to their shipped schemas.

What belongs here: the one validator of this package. What does not: rules a schema cannot say.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def document_fault(schema: str, document: Any, *, is_secret: bool = False) -> str | None:
    """Say what is wrong with a document, as place and sentence; None when it keeps its schema.

    Args:
        schema: file name in `notify/schemas`, without its ending.
        document: plain values.
        is_secret: say only where and which rule, and nothing of the values.
    """
    error = best_match(_validator(schema).iter_errors(document))
    if error is None:
        return None
    said = f"rule {error.validator!r} does not hold" if is_secret else excerpt(error.message, 200)
    return f"{excerpt(error.json_path, 80)}: {said}"


@cache
def _validator(schema: str) -> Validator:
    file = resources.files("governance_pipeline.notify") / "schemas" / f"{schema}.json"
    return Draft202012Validator(json.loads(file.read_text("utf-8")))
