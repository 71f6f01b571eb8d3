"""One typed fact about a change, small enough to be kept where whole sources are not.

What belongs here: the shape. What does not: how a fact is found (outlines, manifests, signatures) and what follows
from it (verdict). Facts of both signs are kept, removed and added alike: only together do they show whether something
that went away in one step came back in another.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from governance_pipeline.vocabulary import ChangeAspect, FactKind

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_TEXT: Final = 300
"""Characters kept of a signature, a specifier or a marker."""

DIGEST_DIGITS: Final = 10
"""Hex digits of the digest of one assertion: two different ones in a round share them once in 2^40 pairs."""


class ChangeFact(NamedTuple):
    """One fact.

    Attributes:
        kind: what happened.
        subject: what it happened to: a test, a signature, `ecosystem:package`; of `unjudged`, the aspect.
        before: text before: marker, signature, specifier; None when there was none.
        after: text after; of `parse_failed` the error, of `unjudged` the reason.
        removed: digests of assertions that went away, sorted, repeated ones repeated.
        added: digests of assertions that came.
        file_line: line in the changed file, from 1: after the change, of what went away before it.
    """

    kind: FactKind
    subject: str
    before: str | None = None
    after: str | None = None
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    file_line: int | None = None


def unjudged(aspect: ChangeAspect, reason: str) -> ChangeFact:
    """Say that nobody can tell from what is at hand what a change did in one respect."""
    return ChangeFact(FactKind.UNJUDGED, str(aspect), after=reason)


def short(text: str) -> str:
    """Cut a text to what is kept of it; blanks run together."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_TEXT else flat[: LONGEST_TEXT - 1] + "…"


def digest(text: str) -> str:
    """Digest of one assertion, its blanks left out: another layout is the same assertion."""
    return hashlib.sha256("".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS]


def sorted_digests(texts: Iterable[str]) -> tuple[str, ...]:
    """Digests of assertions, sorted."""
    return tuple(sorted(map(digest, texts)))
