"""The one way a DuckDB connection is opened: offline, locked, in UTC.

What belongs here: configuration. What does not: any statement over data. DuckDB's own page on security puts the
boundary outside the engine, so it never sees a file somebody else wrote (spec/ingest.md §5), loads no extension, and
reaches only the folders it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

_OFFLINE: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",  # a table name is never looked up among Python variables
}


def open_session(
    database: Path | None = None,
    *,
    folders: Sequence[Path] = (),
    files: Sequence[str] = (),
    spill: Path | None = None,
    memory: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB connection whose configuration cannot be changed any more; the caller closes it.

    Args:
        database: file to make or open; None for one in memory.
        folders: the only folders whose files statements may open.
        files: single files that statements may open too.
        spill: folder for what does not fit in memory, made when needed; None keeps everything in memory, since
            DuckDB would otherwise write into the current folder.
        memory: what DuckDB may hold before it spills, such as ``1GiB``; None for its own default.
    """
    import duckdb  # a tenth of a second that an audit in memory need not pay

    session = duckdb.connect(":memory:" if database is None else str(database), config=_OFFLINE)
    session.execute("SET TimeZone = 'UTC'")
    session.execute("SET enable_progress_bar = false")
    session.execute(f"SET temp_directory = {literal('' if spill is None else str(spill))}")
    if memory is not None:
        session.execute(f"SET memory_limit = {literal(memory)}")
    session.execute(f"SET allowed_paths = [{', '.join(map(literal, files))}]")
    session.execute(f"SET allowed_directories = [{', '.join(literal(f'{folder}/') for folder in folders)}]")
    session.execute("SET enable_external_access = false")
    session.execute("SET lock_configuration = true")
    return session


def literal(value: object) -> str:
    """Write a text, number or truth value as an SQL literal."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Write a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
