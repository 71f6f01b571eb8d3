"""Canonical JSON (RFC 8785) and digests, so that equal documents have equal digests.

What belongs here: bytes that digests are made from. What does not: reading JSON, and documents for people.
"""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785

from governance_pipeline.errors import UnreadableError
from governance_pipeline.strict.lexeme import Lexeme, NonFinite


def canonical_json(value: Any) -> bytes:
    """The RFC 8785 form of a JSON value: sorted members, shortest numbers, UTF-8, no whitespace.

    RFC 8785 knows binary64 numbers only. A `Lexeme` is therefore written as a number only if its text already is
    that form (``1.5``, ``1e+21``): then nothing is lost. ``1.50``, ``-0``, ``1e999`` or 2^64 are refused, because the
    number written would not be the one that was declared; put such a value into the document as text
    (``str(lexeme)``) when its spelling matters.

    Args:
        value: None, bool, int up to 2^53 - 1, finite float, str, `Lexeme`, list or tuple, dict with text keys.

    Raises:
        UnreadableError: the value has no such form; says why.
    """
    try:
        return rfc8785.dumps(_plain(value))
    except rfc8785.CanonicalizationError as error:
        reason = str(error)
    except UnicodeEncodeError:  # from the sorting of member names, which the library does not guard
        reason = "a member name holds a lone surrogate"
    except RecursionError:
        reason = "it is nested too deep"
    message = f"no canonical JSON (RFC 8785) for this value: {reason}; carry such a value as text"
    raise UnreadableError(message)


def sha256_hex(data: bytes) -> str:
    """SHA-256 of bytes as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def _plain(value: Any) -> Any:
    """The same value with numbers in place of lexemes."""
    if isinstance(value, Lexeme):
        return _number(value)
    if isinstance(value, NonFinite):
        message = f"{value} is not a JSON number"
        raise rfc8785.CanonicalizationError(message)
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _number(lexeme: Lexeme) -> float:
    number = float(lexeme)
    if rfc8785.dumps(number) != lexeme.encode():
        message = f"{lexeme[:40]} is not the RFC 8785 spelling of a number"
        raise rfc8785.CanonicalizationError(message)
    return number
