"""The SQLite history of Dagster as the processes of a backfill write it: connections kept, many events in one commit.

Dagster opens an engine and a connection for every single event, and asks for the list of all partitions for every
round a step reports. Over thousands of rounds that was more than nine tenths of a backfill (decision 0014). Files,
tables and rows are Dagster's own: what is written here is read by its web server, its daemon and its command line.

What belongs here: how the history is written, for the pinned version of Dagster. What does not: what is in it.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import dagster as dg

# No public name is the SQLite storage; decision 0014 has the exit condition.
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (  # noqa: TID251
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
)
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage  # noqa: TID251
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.pool import StaticPool

EVENTS_TOGETHER = 100
"""Events of one step that are committed at once; so many are lost at most if the machine stops meanwhile."""

BUSY_TIMEOUT_S = 60
"""How long a process waits while another one writes, as Dagster has it."""

_BATCH_SIZE = "DAGSTER_EVENT_BATCH_SIZE"

_WITHOUT_WAITING = text("PRAGMA synchronous = NORMAL")
"""With a write-ahead log a commit is whole and in order; one that is not on the disk yet is lost with the power only,
and the history is display: what is true is in the lake and the ledger."""

_PARTITIONS_STATE = text(
    "SELECT count(*), max(id), max(create_timestamp) FROM dynamic_partitions WHERE partitions_def_name = :name"
)
"""What changes whenever partitions come or go, also by another process."""


class KeptEventLog(SqliteEventLogStorage):
    """Dagster's SQLite event log with one open connection for the index and one for the run being written."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:
        self._engines: dict[str, Engine] = {}
        self._open: dict[str, Connection] | None = None
        self._commits = ExitStack()
        self._known: dict[str, tuple[Any, Sequence[str]]] = {}
        self._tables: set[str] = set()
        super().__init__(base_dir, inst_data)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        if self._open is not None:  # inside store_event_batch, which holds the lock and commits
            if shard not in self._open:
                connection = self._commits.enter_context(self._engine(shard).connect())
                self._commits.enter_context(connection.begin())
                self._open[shard] = connection
            yield self._open[shard]
            return
        with self._db_lock, self._engine(shard).connect() as connection, connection.begin():
            yield connection

    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        """Store events in one commit per file instead of several for each event."""
        with self._db_lock:
            try:
                self._open = {}
                with self._commits:
                    for event in events:
                        self.store_event(event)
            finally:
                self._open = None

    def has_table(self, table_name: str) -> bool:
        """Tell whether the index has a table; one that is there stays."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def get_dynamic_partitions(self, partitions_def_name: str) -> Sequence[str]:
        """Give the partitions of a definition, read again only when some came or went."""
        self._check_partitions_table()
        with self.index_connection() as connection:
            state = tuple(connection.execute(_PARTITIONS_STATE, {"name": partitions_def_name}).one())
        known = self._known.get(partitions_def_name)
        if known is None or known[0] != state:
            self._known[partitions_def_name] = known = (state, super().get_dynamic_partitions(partitions_def_name))
        return list(known[1])

    def dispose(self) -> None:
        """Close what is open."""
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()
        super().dispose()

    def _engine(self, shard: str) -> Engine:
        """Give the one open connection of a file; that of the run before is closed when another run begins."""
        if shard not in self._engines:
            if shard != INDEX_SHARD_NAME:
                for other in [name for name in self._engines if name not in (INDEX_SHARD_NAME, *(self._open or ()))]:
                    self._engines.pop(other).dispose()
            arguments = {"timeout": BUSY_TIMEOUT_S, "check_same_thread": False}  # _db_lock lets one thread in
            engine = create_engine(self.conn_string_for_shard(shard), poolclass=StaticPool, connect_args=arguments)
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            with engine.connect() as connection:
                connection.execute(_WITHOUT_WAITING)
            self._engines[shard] = engine
        return self._engines[shard]


class KeptStorage(DagsterSqliteStorage):
    """Dagster's SQLite storage whose event log keeps its connections."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage = KeptEventLog(os.path.join(base_dir, "history", "runs", ""), inst_data)  # noqa: PTH118 - as Dagster spells it

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> "KeptStorage":
        """Make it as Dagster makes its own."""
        return cls.from_local(inst_data=inst_data, **config_value)


@contextmanager
def with_kept_connections(instance: dg.DagsterInstance) -> Iterator[dg.DagsterInstance]:
    """Open the same instance as it is best written to by one process; one that is not kept in SQLite as it is."""
    ref = instance.get_ref()
    kept = ref.storage_data
    if kept is None or kept.class_name != DagsterSqliteStorage.__name__:
        yield instance
        return
    os.environ.setdefault(_BATCH_SIZE, str(EVENTS_TOGETHER))
    storage = kept._replace(module_name=KeptStorage.__module__, class_name=KeptStorage.__name__)
    with dg.DagsterInstance.from_ref(ref._replace(storage_data=storage)) as opened:
        yield opened
