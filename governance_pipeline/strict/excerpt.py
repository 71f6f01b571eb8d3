r"""Hostile text made safe to show: escaped, credentials masked, cut.

What belongs here: text transformations for people (excerpts, reports, metadata, terminals). What does not: anything
a digest or a comparison is made from; the bytes themselves stay in the stored copy, unmasked and unescaped.

The result is not reversible: a backslash that was there already is left alone, so ``\n`` may have been a line feed
or two characters. Order matters: masking first (an escape in the middle would hide a credential from its pattern),
then escaping, then cutting.
"""

from __future__ import annotations

import re

from governance_pipeline.strict.credentials import CREDENTIALS

ELLIPSIS = "…"

_WINDOW_BYTES = 4  # of UTF-8 per character at most
_LATIN_1_MAX, _BASIC_PLANE_MAX = 0xFF, 0xFFFF
_MARGIN = 512  # characters masked beyond the cut: more than any pattern needs to recognise what crosses it

# Printable by Python's rule, yet shown as nothing: Hangul fillers, the grapheme joiner, the empty Braille cell,
# variation selectors (they carry hidden bytes). Zero-width, bidi, C0 and C1 characters are not printable anyway.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def excerpt(data: bytes | str, length: int = 160) -> str:
    r"""The beginning of a record as text that is safe to print: at most `length` characters, the ellipsis included.

    Bytes that are not UTF-8 are shown as ``\xNN``. Cost does not depend on the size of `data`.
    """
    window = length + _MARGIN
    if isinstance(data, bytes):
        # One byte too many shows that there is more; a character cut in half lies beyond the window.
        data = data[: window * _WINDOW_BYTES + 1].decode("utf-8", "backslashreplace")
    is_whole = len(data) <= window
    shown = escape_unprintable(mask_secrets(data[:window])[: length + 1])  # escaping makes nothing shorter
    if is_whole and len(shown) <= length:
        return shown
    return shown[: max(length - len(ELLIPSIS), 0)] + ELLIPSIS


def escape_unprintable(text: str) -> str:
    r"""Replace whatever a screen would not show as it is: ``\x1b``, ``\u202e``, ``\U000e0041``; line feed is ``\n``.

    That is every character that is not printable (C0, C1, bidi controls, zero-width, separators other than the plain
    space, lone surrogates, unassigned and private characters) and those that print as nothing.
    """
    if text.isprintable() and not _INVISIBLE.search(text):
        return text
    return "".join(map(_visible, text))


def is_said(text: str) -> bool:
    """Tell whether a text, such as a reason, has a character that a screen shows; blanks and invisible ones do not."""
    return any(not character.isspace() and _visible(character) == character for character in text)


def mask_secrets(text: str) -> str:
    """Replace whatever looks like a credential by ``[masked:<kind>]`` (kinds and sources: `strict.credentials`).

    Recognition is by shape, so it can err both ways; it protects what people see, and never what is stored.
    """
    lowered = text.lower()
    for credential in CREDENTIALS:
        if any(hint in lowered for hint in credential.hints):
            text = credential.pattern.sub(credential.replacement, text)
    return text


def _visible(character: str) -> str:
    if character.isprintable() and not _INVISIBLE.match(character):
        return character
    return _SHORT.get(character) or _escape(ord(character))


def _escape(code: int) -> str:
    if code <= _LATIN_1_MAX:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _BASIC_PLANE_MAX else f"\\U{code:08x}"
