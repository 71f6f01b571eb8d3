"""Y: distinct symbols of which a step changed the body or the signature.

Functions, classes and methods count; a class only for what is its own, which is for the provider to say: its methods
are symbols themselves. Source: spec/trajectory.md §2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

COUNTED_KINDS: Final = frozenset({"function", "class", "method"})
"""Kinds of symbols that count; a variable, say, does not."""


class SymbolChange(NamedTuple):
    """What a step did to a symbol: its id and kind, and whether body and signature changed (None: unknown)."""

    id: str
    kind: str
    body: bool | None
    signature: bool | None

    @property
    def is_changed(self) -> bool | None:
        """Whether the symbol changed; None when that is unknown."""
        if self.body or self.signature:
            return True
        return None if self.body is None or self.signature is None else False


def changed_symbols(symbols: Iterable[SymbolChange] | None) -> int | None:
    """Count distinct changed symbols; None when the list, or the change of one of them, is unknown.

    A symbol listed twice changed if one entry says so, whatever the other says.
    """
    if symbols is None:
        return None
    said: dict[str, set[bool | None]] = {}
    for symbol in symbols:
        if symbol.kind in COUNTED_KINDS:
            said.setdefault(symbol.id, set()).add(symbol.is_changed)
    if any(None in answers and True not in answers for answers in said.values()):
        return None
    return sum(True in answers for answers in said.values())
