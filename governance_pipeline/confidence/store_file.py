"""The SQLite file of confidence events: making it, opening it, and what counts as broken.

What belongs here: connections and their settings. What does not: events (`store`). Every operation opens its own
connection, so that neither a fork nor another thread ever shares one.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage.lock import refuse_network
from governance_pipeline.trust.new_files import sync_folder, write_new

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APPLICATION_ID: Final = 0x47434F4E
"""'GCON': says in the file's header that it holds confidence events."""
VERSION: Final = 1


def create(path: Path) -> None:
    """Make an empty store in a file that must not exist, on a local disk; its folder is made where it is missing.

    Raises:
        UsageError: something is there already.
        StorageError: the folder is on a network file system, or the file could not be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"folder {path.parent} cannot be made: {error.strerror}; name another place") from error
    refuse_network(path.parent)
    write_new(path, b"")
    schema = files("governance_pipeline.confidence").joinpath("store.sql").read_text("utf-8")
    try:
        with closing(_connected(path)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(
                f"BEGIN IMMEDIATE; {schema} PRAGMA application_id = {APPLICATION_ID}; "
                f"PRAGMA user_version = {VERSION}; COMMIT;"
            )
    except sqlite3.Error as error:
        path.unlink(missing_ok=True)
        raise _broken(path, error, is_writing=True) from error
    sync_folder(path.parent)


@contextmanager
def opened(path: Path, *, is_writing: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a store for one transaction: what is read is of one moment, what is written happens whole or not at all.

    Raises:
        StorageError: there is none, it is no store of this version, on a network file system, or SQLite cannot use it.
    """
    if not path.is_file() or path.is_symlink():
        raise StorageError(f"there are no confidence events at {path}; `govern confidence init` makes the place")
    refuse_network(path.parent)
    try:
        with closing(_connected(path)) as database:
            _check_identity(database, path)
            if not is_writing:
                database.execute("PRAGMA query_only = ON")
            database.execute("BEGIN IMMEDIATE" if is_writing else "BEGIN")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
    except sqlite3.Error as error:
        raise _broken(path, error, is_writing=is_writing) from error


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=SETTINGS.lock_wait_s
    )
    for setting in ("synchronous = FULL", "trusted_schema = OFF", "recursive_triggers = ON", "cell_size_check = ON"):
        database.execute(f"PRAGMA {setting}")
    return database


def _check_identity(database: sqlite3.Connection, path: Path) -> None:
    (found,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if found != APPLICATION_ID:
        raise StorageError(f"{path} holds no confidence events; check the path")
    if version != VERSION:
        raise StorageError(f"{path} has layout {version}, this program knows {VERSION}; use a newer program")


def _broken(path: Path, error: sqlite3.Error, *, is_writing: bool) -> StorageError:
    outcome = "; nothing was recorded by this call" if is_writing else ""
    return StorageError(f"confidence events {path} cannot be used ({error}){outcome}. {_what_to_do(error)}")


def _what_to_do(error: sqlite3.Error) -> str:
    if is_damage(error):
        return (
            "Its bytes are damaged: move it and the files beside it with -wal and -shm out of the way, then put a "
            "backup in its place; without one make it anew with `govern confidence init`, `govern confidence derive` "
            "(verified facts) and `govern confidence import FILE` (events kept in a file)"
        )
    return "Free space, rights or the process that holds it, then try again"


def is_damage(error: sqlite3.Error) -> bool:
    """Tell whether an error means that the bytes of a file are not those SQLite wrote: waiting and room do not help.

    A table that is missing is `SQLITE_ERROR`; a text that cannot be decoded comes without any code.
    """
    code = getattr(error, "sqlite_errorcode", None)
    # an extended code holds its kind in the low byte
    return code is None or code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
