"""JSON files that both people and the library keep: how their bytes are written and read back.

What belongs here: the one spelling, and reading a file together with its exact bytes. What does not: their schemas
(`documents`) and where they are (`folder`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from governance_pipeline.errors import Fault, FaultyFileError
from governance_pipeline.framework.documents import parsed_document
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def file_text(document: Mapping[str, Any]) -> bytes:
    """Write a document as people read it in an editor: two blanks a level, UTF-8, a line feed at the end.

    Raises:
        ValueError: a number is not finite.
    """
    return (json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def read_json_file(path: Path, schema: str) -> tuple[dict[str, Any], bytes]:
    """Read a document and its exact bytes.

    Args:
        path: the file.
        schema: file name in `framework/schemas`, without its ending.

    Raises:
        FileRefused: it is not there (`not_found`), or no regular file.
        FaultyFileError: it is no strict JSON or breaks its schema; the fault holds the path of the place.
    """
    with open_regular(path) as stream:
        data = stream.read(LIMITS.document_bytes + 1)
    if len(data) > LIMITS.document_bytes:
        fault = Fault("document_too_large", None, f"more than {LIMITS.document_bytes} bytes; no such document has")
        raise FaultyFileError(str(path), [fault])
    return parsed_document(str(path), data, schema), data
