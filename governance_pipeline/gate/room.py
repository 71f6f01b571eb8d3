"""Room for what a gated asset will write, asked before a decision is used.

What belongs here: how much that is. What does not: the question to the file system (`storage.free_space`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from governance_pipeline.storage.free_space import require_free_space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.gate.inputs import RoundInputs
    from governance_pipeline.gate.passage import Verifier


def require_room(verifier: Verifier, read: Sequence[RoundInputs]) -> None:
    """Refuse where the disk could not take what is made from these tables; a decision is not used for half a file.

    Raises:
        StorageError: there is too little room, and how much is needed.
    """
    needed = sum(table.size for inputs in read for table in inputs.tables.values())
    for folder in (verifier.ledger.path.parent, verifier.lake.root):
        if folder.is_dir():
            require_free_space(folder, needed)
