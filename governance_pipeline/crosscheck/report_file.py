"""A report read from a file for the validator.

What belongs here: reading, and the document that lists violations. What does not: judging
(`crosscheck.report_validator`). The file is opened read-only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck.report_stream import streamed_violations
from governance_pipeline.crosscheck.report_validator import report_violations
from governance_pipeline.errors import RecordRefused, UnreadableError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import open_regular, refusal_of
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.limits import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from governance_pipeline.crosscheck.report_shape import Violation
    from governance_pipeline.settings import Settings

VALIDATION_SCHEMA: Final = "govern/crosscheck-validation/v1"


def file_violations(path: Path, limits: Limits = LIMITS, settings: Settings = SETTINGS) -> list[Violation]:
    """Return everything that is wrong with the report in a file; nothing when it is sound and green.

    A report beyond `settings.streamed_report_bytes` is read item by item, which needs the layout `run` writes; one of
    another layout is held whole, up to `limits.document_bytes`.

    Raises:
        UnreadableError: no regular file, or not JSON (a repeated member or a number such as NaN included).
    """
    held = min(settings.streamed_report_bytes, limits.document_bytes)
    try:
        with open_regular(path) as stream:
            data = stream.read(held + 1)
            if len(data) > held:
                stream.seek(0)
                try:
                    return streamed_violations(stream, str(path))
                except UnreadableError:
                    stream.seek(0)
                    data = stream.read(limits.document_bytes + 1)
                    if len(data) > limits.document_bytes:
                        raise
    except OSError as error:
        raise refusal_of(error, path) from None
    return text_violations(data, str(path))


def text_violations(data: bytes, name: str) -> list[Violation]:
    """Return everything that is wrong with the report in these bytes; errors as `file_violations`."""
    try:
        return report_violations(parse_json(data, LIMITS.of_document()))
    except RecordRefused as refusal:
        raise UnreadableError(f"{excerpt(name)} is no JSON report: {refusal}") from None


def violations_document(violations: Iterable[Violation]) -> dict[str, Any]:
    """Return the document that lists violations, in the order they were found."""
    return {"schema": VALIDATION_SCHEMA, "violations": [violation._asdict() for violation in violations]}
