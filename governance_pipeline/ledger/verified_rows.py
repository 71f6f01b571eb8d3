"""Rows of a ledger that were verified before, named by a digest over all that is in them.

What belongs here: that digest, and holding the beginning of a walk to it. What does not: what is asked of a row that is
new (`verification`), and where the digest is remembered (`remembered_rows`). The form of a row is a pure function of
the row: where every byte of every column is what it was when a row was found sound, it is sound. Whoever changes one
changes the digest, and then every row is asked anew. The chain, the numbers and the types are checked every time, so
that not even a digest somebody forged hides an event or moves one.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class VerifiedRows:
    """The first rows of a ledger, found sound: how many, and the digest over them; none at first.

    A walk over the rows brings a new one up to date; `size` and `sha256` are then those of all rows, if all were sound.
    """

    def __init__(self, size: int = 0, sha256: str = "") -> None:
        self.size = size
        self.sha256 = sha256

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerifiedRows) and (self.size, self.sha256) == (other.size, other.sha256)

    __hash__ = None  # type: ignore[assignment]  # it changes


class RowDigest:
    """Digest over rows, taken one by one."""

    def __init__(self) -> None:
        self._made = hashlib.sha256()

    def add(self, columns: Sequence[object], leaf: bytes, chain: bytes) -> None:
        """Take a row: its columns but for the bytes, the leaf hash of the bytes, and its chain."""
        seq, ts, kind, actor, body, unique = columns
        said = f"{seq} {len(str(ts))} {len(str(kind))} {len(str(actor))} {len(str(body))} {unique!r} {ts}{kind}{actor}"
        self._made.update(f"{said}{body}".encode(errors="surrogatepass") + leaf + chain)

    @property
    def sha256(self) -> str:
        """The digest over the rows so far."""
        return self._made.hexdigest()


def is_plainly_sound(expected: int, columns: Sequence[object], data: bytes) -> bool:
    """Tell whether a row known to be sound has the number it must, and the type its bytes end with."""
    return columns[0] == expected and data.endswith(f'"type":"{columns[2]}"}}'.encode())
