"""Text files of a governed folder that a person edits and the library adds to: read whole, replaced in one step.

What belongs here: reading strictly, and one writer at a time. What does not: what is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UnreadableError
from governance_pipeline.framework.locks import Locks
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.strict.files import open_regular
from governance_pipeline.strict.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.ledger.ledger import Ledger

WAIT_S: Final = 30.0
"""How long another writer of the same file is waited for; each writes for milliseconds."""
_MODE: Final = 0o644


def read_text(folder: GovernedFolder, name: str) -> str:
    """Read a text file of a folder; `name` is its path below it.

    Raises:
        FileRefused: it is not there, or no regular file.
        UnreadableError: it is no UTF-8, or larger than any such file.
    """
    with open_regular(folder.path(name)) as stream:
        data = stream.read(LIMITS.document_bytes + 1)
    if len(data) > LIMITS.document_bytes:
        raise UnreadableError(f"{folder.path(name)} has more than {LIMITS.document_bytes} bytes; no such file has")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{folder.path(name)} is no UTF-8 (byte {error.start}); save it as UTF-8"
        raise UnreadableError(message) from None


def rewrite(folder: GovernedFolder, ledger: Ledger, name: str, lock: str, change: Callable[[str], str]) -> bool:
    """Change a text file under a lock of the folder; gives whether it is another one now.

    Args:
        folder: the governed folder.
        ledger: where it is recorded that the lock was taken from a writer that died.
        name: path of the file below it.
        lock: name of the lock.
        change: gives the new text from the one that is there.

    Raises:
        As `read_text` and `locks.Locks.held`; StorageError: it could not be written, and holds what it held before.
    """
    with Locks(folder, ledger=ledger).held(lock, f"write {name}", wait_s=WAIT_S):
        before = read_text(folder, name)
        after = change(before)
        if after != before:
            AtomicWriter(folder.root).write(folder.path(name), after.encode(), mode=_MODE)
        return after != before
