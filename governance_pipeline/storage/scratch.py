"""Copies of source files for one process that throws them away: the checks of the content store without its waiting.

What belongs here: what a folder nobody else knows and nobody keeps can do without: the lock and the sync to disk.
What does not: anything about the copies themselves; they are made and hashed as in every content store. Measured:
the syncs were a third of the wall time of `govern audit` over small rounds.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.storage.content import ContentStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class ScratchStore(ContentStore):
    """A content store in a folder of this process alone, gone when it ends."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, _ScratchWriter(root))


class _ScratchWriter(AtomicWriter):
    @contextmanager
    def locked(self, name: str) -> Iterator[None]:  # noqa: ARG002 - nobody else writes here
        yield

    def _sync(self, descriptor: int, path: Path) -> None:
        """Nothing has to survive a power loss."""
