"""Rows the engine reads: declared values and component rows, from whatever holds them.

What belongs here: the shape of what a source wrote. What does not: reading files (`crosscheck.sources`) or tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from governance_pipeline.vocabulary import ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping


class Value(NamedTuple):
    """One value as written.

    `raw` is its raw text (spec/crosscheck.md §11): the lexeme of a number, the content of a text, ``true``, ``false``,
    ``object``, ``array``, the token of a not finite number; None when missing.
    """

    kind: ValueKind
    raw: str | None


MISSING = Value(ValueKind.MISSING, None)


class DeclaredRow(NamedTuple):
    """One declared value: the subject it is about, the value, and where it stands.

    `file` is the SHA-256 of the file, `line` its physical line (None when the file is one document), `pointer` the
    RFC 6901 pointer of the value. A quarantined row could not be read, so it has neither subject nor value.
    """

    subject: str | None
    value: Value
    file: str
    line: int | None
    pointer: str
    is_quarantined: bool = False


class ComponentRow(NamedTuple):
    """One component row of one subject; a column that is not among `values` is missing."""

    subject: str
    source: str
    line: int | None
    values: Mapping[str, Value]
