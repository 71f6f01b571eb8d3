"""Ledgers for tests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.ledger.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Give an empty ledger."""
    return Ledger.create(tmp_path / "ledger.sqlite")


@pytest.fixture
def forge(ledger: Ledger) -> Callable[..., None]:
    """Run SQL on the file of the ledger as somebody would who does not care for triggers."""

    def run(*statements: str) -> None:
        with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
            triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)
            for _, sql in triggers:
                connection.execute(sql)

    return run
