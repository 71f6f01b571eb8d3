"""The SQLite file of a ledger: making it, opening it, and what counts as broken.

What belongs here: connections and their settings. What does not: events. Every operation opens its own connection, so
that neither a fork nor another thread ever shares one; SQLite's locks need a local file system.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing, contextmanager, suppress
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import StorageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.storage.lock import refuse_network
from governance_pipeline.trust.new_files import sync_folder, write_new
from governance_pipeline.trust.owned_files import folder_fault, foreign_fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APPLICATION_ID: Final = 0x474C4544
"""'GLED': says in the file's header that it is a ledger."""
VERSION: Final = 1

_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",  # an event that was acknowledged survives a power loss
    "PRAGMA trusted_schema = OFF",
    "PRAGMA recursive_triggers = ON",
    "PRAGMA cell_size_check = ON",
)


def create(path: Path) -> None:
    """Make an empty ledger in a file that must not exist, on a local disk.

    Raises:
        UsageError: something is there already.
        StorageError: the folder is on a network file system, or the file could not be made.
    """
    refuse_network(path.parent)
    write_new(path, b"")
    try:
        with closing(_connected(path)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(
                f"BEGIN IMMEDIATE; {schema()} PRAGMA application_id = {APPLICATION_ID}; "
                f"PRAGMA user_version = {VERSION}; COMMIT;"
            )
    except sqlite3.Error as error:
        with suppress(OSError):
            path.unlink()
        raise broken(path, error) from error
    sync_folder(path.parent)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger for one operation.

    Raises:
        StorageError: there is none, it is no regular file, others than its owner may write it or its folder, it is no
            ledger of this version, on a network file system, or SQLite cannot use it.
    """
    _check_file(path)
    refuse_network(path.parent)
    try:
        with closing(_connected(path)) as database:
            _check_identity(database, path)
            yield database
    except sqlite3.Error as error:
        raise broken(path, error) from error


@contextmanager
def snapshot(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger for reading: everything read inside is of one moment.

    Raises:
        StorageError: as `opened`.
    """
    with opened(path) as database:
        database.execute("PRAGMA query_only = ON")
        database.execute("BEGIN")
        yield database


@cache
def schema() -> str:
    """Give the SQL that makes the tables and triggers of a ledger."""
    return files("governance_pipeline.ledger").joinpath("schema.sql").read_text("utf-8")


def broken(path: Path, error: sqlite3.Error) -> StorageError:
    """Give the error for what SQLite says of a ledger."""
    return StorageError(
        f"ledger {path} cannot be used ({error}); nothing was recorded by this call unless "
        "`govern ledger verify` shows it. Free space, rights or the process that holds it, then try again"
    )


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=SETTINGS.lock_wait_s
    )
    for setting in _SETTINGS:
        database.execute(setting)
    return database


def _check_file(path: Path) -> None:
    try:
        status = os.lstat(path)
    except OSError as error:
        raise StorageError(
            f"there is no ledger at {path} ({error.strerror}); `govern trust init` makes one. If there was one, its "
            "history is gone: restore it, never start a new one in its place"
        ) from None
    if not stat.S_ISREG(status.st_mode):
        raise StorageError(f"ledger {path} is no regular file; put the file itself there")
    fault = foreign_fault(status, path) or folder_fault(path.parent)
    if fault is not None:
        raise StorageError(f"the ledger is not used as it is: {fault}")


def _check_identity(database: sqlite3.Connection, path: Path) -> None:
    (found,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if found != APPLICATION_ID:
        raise StorageError(f"{path} is no ledger; check the path")
    if version != VERSION:
        raise StorageError(f"ledger {path} has layout {version}, this program knows {VERSION}; use a newer program")
