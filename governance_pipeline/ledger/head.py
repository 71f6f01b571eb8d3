"""The head of a ledger: what a checkpoint signs and an approval remembers."""

from __future__ import annotations

from typing import NamedTuple


class Head(NamedTuple):
    """Size of a ledger and the RFC 9162 root over the bytes of its events, lower-case hex."""

    size: int
    root: str
