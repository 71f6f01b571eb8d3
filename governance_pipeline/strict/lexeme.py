"""Numbers kept as the text that was written, so that nothing is rounded before a person sees it.

What belongs here: the two text types a parsed document can hold where a source wrote a number. What does not:
turning them into exact numbers (`strict.numbers`). Why text: a binary float cannot hold 0.1, and a reader that
turns 2^64 into a float or 1e999 into infinity has already changed what was declared (design §3, law 1).
"""

from __future__ import annotations


class Lexeme(str):
    """A JSON number exactly as its source wrote it.

    Every number with a fraction or an exponent, every integer beyond 64 bits signed, and ``-0``. A document holds
    it where `json.loads` would put a float; it differs from a text value by its type only, so test for it before
    `str`.
    """

    __slots__ = ()


class NonFinite(str):
    """``NaN``, ``Infinity`` or ``-Infinity`` as written; only with `parse_json(…, nonfinite=True)`."""

    __slots__ = ()
