"""One JSON text from hostile bytes: a value, or a refusal with a code and a byte offset.

What belongs here: everything that decides whether bytes are one acceptable JSON text (RFC 8259, narrowed). What does
not: cutting a file into lines (`strict.lines`) and what the value means (ingest).

Python's C scanner does the work; its four known leniencies are closed by hooks (repeated members, NaN and Infinity,
numbers that lose digits) and by a look at the bytes (lone surrogates). Depth and counts are judged before the scanner
runs, from the brackets, colons and commas outside strings, and exactly only where a plain count of bytes could exceed
the bound: ordinary records pay for four byte counts and nothing else. Sources: research/security.md (b10, rows
44-46), research/performance.md (pitfalls), spec/ingest.md §5.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.lexeme import Lexeme, NonFinite
from governance_pipeline.strict.limits import LIMITS, Limits

BOM = b"\xef\xbb\xbf"
WHITESPACE = b" \t\n\r"
"""JSON whitespace (RFC 8259 §2) and nothing else: a form feed or a no-break space is not blank."""

_INT64_DIGITS = 19  # 2**63 - 1 has 19 digits: fewer characters always fit
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}

# A string (with the colon that makes it a member name), a bracket, or a number that is none.
_TOKEN = re.compile(r'(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+")(?P<name>[ \t\n\r]*+:)?|[\[\]{}]|-?Infinity|NaN', re.DOTALL)
# Walks over every escape, so that an escaped backslash before "ud800" is not mistaken for a surrogate.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F])|.)", re.DOTALL
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class _DuplicateMember(Exception):  # noqa: N818 - a signal from the hook to `parse_json`
    """An object repeats a member name."""


class _NotFinite(Exception):  # noqa: N818 - a signal from the hook to `parse_json`
    """The text holds NaN, Infinity or -Infinity."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateMember
    return members


def _integer(text: str) -> int | Lexeme:
    if len(text) < _INT64_DIGITS and text != "-0":
        return int(text)
    # One more character for the sign; anything longer cannot fit, and int() of 5,000 digits would raise.
    if len(text) <= _INT64_DIGITS + 1 and text != "-0" and _INT64_MIN <= (number := int(text)) <= _INT64_MAX:
        return number
    return Lexeme(text)


def _refuse_constant(_text: str) -> Any:
    raise _NotFinite


_STRICT = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=Lexeme, parse_int=_integer, parse_constant=_refuse_constant
)
_WITH_NONFINITE = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=Lexeme, parse_int=_integer, parse_constant=NonFinite
)


def parse_json(data: bytes, limits: Limits = LIMITS, *, nonfinite: bool = False) -> Any:
    """Parse one JSON text; whitespace around it is allowed, anything else is not.

    Objects are dicts, arrays lists, texts str. A number is an int when it is written as an integer that fits 64 bits
    signed, otherwise a `Lexeme` (``-0`` too), so no number is ever rounded or infinite.

    Args:
        data: the bytes of one record.
        limits: bounds; `limits.document_bytes` bounds `data`, the length of a line is judged by who cuts lines.
        nonfinite: accept ``NaN``, ``Infinity`` and ``-Infinity`` as `NonFinite` texts instead of refusing them.

    Raises:
        RecordRefused: with the byte offset in `data` where reading stopped (0 for counts and sizes) and one of the
            codes document_too_large, empty, byte_order_mark, nul_byte, not_utf8, too_deep, too_many_keys,
            too_many_values, lone_surrogate, malformed_json, trailing_data, duplicate_member, not_finite.
    """
    text = _decode(data, limits)
    _check_structure(data, text, limits)
    _check_surrogates(data)
    return _scan(text, _WITH_NONFINITE if nonfinite else _STRICT)


def _decode(data: bytes, limits: Limits) -> str:
    if len(data) > limits.document_bytes:
        message = f"{len(data)} bytes, at most {limits.document_bytes} are read; split the file"
        raise RecordRefused("document_too_large", 0, message)
    if not data.strip(WHITESPACE):
        raise RecordRefused("empty", 0, "there is no JSON text; expected one value")
    if data.startswith(BOM):
        message = "a byte order mark is allowed only at the start of a file; remove it"
        raise RecordRefused("byte_order_mark", 0, message)
    if (at := data.find(0)) >= 0:
        raise RecordRefused("nul_byte", at, "a raw NUL byte is not allowed in JSON; escape it or repair the file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 ({error.reason}); convert the file to UTF-8"
        raise RecordRefused("not_utf8", error.start, message) from None


def _check_structure(data: bytes, text: str, limits: Limits) -> None:
    """Refuse what is too deep or has too many members or values, before any object is built."""
    openings = data.count(b"[") + data.count(b"{")
    if openings <= limits.depth and data.count(b":") <= limits.keys and openings + data.count(b",") <= limits.values:
        return
    outside = _outside_strings(data)
    if _depth(outside) > limits.depth:
        raise _too_deep(text, limits)
    if (keys := outside.count(b":")) > limits.keys:
        message = f"{keys} members, at most {limits.keys} are read here; split the line or the file"
        raise RecordRefused("too_many_keys", 0, message)
    values = outside.count(b",") + outside.count(b"[") + outside.count(b"{")
    if values > limits.values:
        message = f"{values} commas and brackets, at most {limits.values} are read here; split the line or the file"
        raise RecordRefused("too_many_values", 0, message)


def _outside_strings(data: bytes) -> bytes:
    """The bytes outside strings: what is left after the escapes are gone stands between every second quote."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(data.split(b'"')[::2])


def _depth(outside: bytes) -> int:
    return max(accumulate(map(_STEP.__getitem__, outside.translate(None, _NOT_BRACKETS))), default=0)


def _too_deep(text: str, limits: Limits) -> RecordRefused:
    depth, at = 0, 0
    for token in _TOKEN.finditer(text):
        depth += _STEP.get(ord(text[token.start()]), 0)
        if depth > limits.depth:
            at = token.start()
            break
    message = f"nested deeper than {limits.depth} levels; flatten the record"
    return RecordRefused("too_deep", _byte_offset(text, at), message)


def _check_surrogates(data: bytes) -> None:
    if b"\\u" not in data or not _SURROGATE.search(data):
        return
    for escape in _ESCAPE.finditer(data):
        if escape["lone"]:
            message = "an escaped surrogate without its partner is no character; write the character itself"
            raise RecordRefused("lone_surrogate", escape.start(), message)


def _scan(text: str, decoder: json.JSONDecoder) -> Any:
    start = len(text) - len(text.lstrip(" \t\n\r"))
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} (line {error.lineno}, column {error.colno} of the record); repair the source"
        raise RecordRefused("malformed_json", _byte_offset(text, error.pos), message) from None
    except _DuplicateMember:
        raise _duplicate(text) from None
    except _NotFinite:
        at = next((t.start() for t in _TOKEN.finditer(text) if t[0][-1] in "Ny"), 0)
        message = "NaN and Infinity are not JSON numbers; write null or a text"
        raise RecordRefused("not_finite", _byte_offset(text, at), message) from None
    except RecursionError:
        # The depth was judged above: only a caller close to Python's own stack limit comes here.
        raise RecordRefused("too_deep", 0, "nested deeper than the calling stack allows; flatten the record") from None
    rest = text[end:].lstrip(" \t\n\r")
    if rest:
        message = "text after the JSON value; write one value per record"
        raise RecordRefused("trailing_data", _byte_offset(text, len(text) - len(rest)), message)
    return value


def _duplicate(text: str) -> RecordRefused:
    r"""Where the first repeated member name stands; names are compared decoded, so ``"a"`` repeats ``"\u0061"``."""
    names: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        mark = text[token.start()]
        if mark in "{[":
            names.append(set())
        elif mark in "}]":
            names.pop()
        elif token["name"]:
            name = json.loads(token["text"])
            if name in names[-1]:
                message = f"member {excerpt(name, 40)} is repeated in its object; keep one"
                return RecordRefused("duplicate_member", _byte_offset(text, token.start()), message)
            names[-1].add(name)
    return RecordRefused("duplicate_member", 0, "a member is repeated in its object; keep one")


def _byte_offset(text: str, position: int) -> int:
    return len(text[:position].encode("utf-8"))
