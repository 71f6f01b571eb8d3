"""The SQLite file of the hub client: making it, opening it for one transaction, and where it is.

What belongs here: the file and its connections. What does not: what is in it (`hub_sync`, `queue`, `journal`, `once`).
It is another file than that of the events, so that waiting for the hub never holds a lock a rating needs.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from governance_pipeline.confidence.store_file import is_damage
from governance_pipeline.errors import StorageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage.lock import refuse_network
from governance_pipeline.trust.new_files import write_new

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HUB_FILE: Final = "hub.sqlite"
APPLICATION_ID: Final = 0x47485542
"""'GHUB': says in the file's header what it holds."""
VERSION: Final = 1


class HubPlace:
    """The folder that holds events, the hub's file and the key; any number of processes may use it at once.

    Attributes:
        folder: the folder of the confidence events.
        wait_s: seconds a transaction may wait for another process.
    """

    def __init__(self, folder: Path, wait_s: float = SETTINGS.lock_wait_s) -> None:
        self.folder = folder
        self.path = folder / HUB_FILE
        self.wait_s = wait_s

    def exists(self) -> bool:
        """Tell whether anybody ever asked for the hub here; one look at the disk."""
        return self.path.exists()

    def make(self) -> None:
        """Make the file, where there is none.

        Raises:
            UsageError, StorageError: it cannot be made.
        """
        if self.exists():
            return
        refuse_network(self.folder)
        write_new(self.path, b"")
        try:
            with closing(self._connected()) as database:
                database.execute("PRAGMA journal_mode = WAL")
                schema = files("governance_pipeline.confidence.hub").joinpath("hub.sql").read_text("utf-8")
                marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
                database.executescript(f"BEGIN IMMEDIATE; {schema} {marks} COMMIT;")
        except sqlite3.Error as error:
            self.path.unlink(missing_ok=True)
            raise self._broken(error) from error

    @contextmanager
    def opened(self, *, is_writing: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction.

        Raises:
            StorageError: there is none, it is another file, or SQLite cannot use it in time.
        """
        if not self.path.is_file() or self.path.is_symlink():
            raise StorageError(f"there is no hub at {self.path}; `govern confidence hub register` makes it")
        try:
            with closing(self._connected()) as database:
                self._check_identity(database)
                database.execute("BEGIN IMMEDIATE" if is_writing else "BEGIN")
                try:
                    yield database
                except BaseException:
                    database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _connected(self) -> sqlite3.Connection:
        database = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=self.wait_s
        )
        for setting in ("synchronous = FULL", "trusted_schema = OFF", "cell_size_check = ON"):
            database.execute(f"PRAGMA {setting}")
        return database

    def _check_identity(self, database: sqlite3.Connection) -> None:
        (found,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if (found, version) != (APPLICATION_ID, VERSION):
            raise StorageError(f"{self.path} is no hub file of this version; move it away or use a newer program")

    def _broken(self, error: sqlite3.Error) -> StorageError:
        advice = "free space, rights or the process that holds it, then try again"
        if is_damage(error):
            advice = (
                "its bytes are damaged: move it and the files beside it with -wal and -shm out of the way, then enter "
                "the key with `govern confidence hub key --url … --runtime … --runtime-id …`; what waited in it is lost"
            )
        return StorageError(f"hub file {self.path} cannot be used ({error}); scores are not concerned. Now {advice}")
