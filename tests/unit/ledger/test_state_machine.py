"""Whatever order of appending, reopening and tampering: a model and the ledger agree, and tampering is seen."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from governance_pipeline.ledger.event import AlreadyRecorded
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.merkle import merkle_root

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TAMPERING = {
    "edit": "UPDATE events SET actor = actor || '!' WHERE seq = {seq}",
    "rewrite": "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), 'NOTE', 'VOTE') AS BLOB), type = 'VOTE' WHERE seq = {seq}",
    "delete": "DELETE FROM events WHERE seq = {seq}",
    "unlock": "UPDATE events SET unique_key = 'k' || seq WHERE seq = {seq}",
    "shift": "UPDATE events SET seq = seq + 1000 WHERE seq = {seq}",
}


class LedgerMachine(RuleBasedStateMachine):
    """Appends, reopens and tampers with one ledger beside a plain list."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="ledger-"))
        self.events = []
        self.heads = []

    @initialize()
    def create(self):
        self.ledger = Ledger.create(self.folder / "ledger.sqlite")

    @rule(body=st.dictionaries(st.sampled_from("abc"), st.integers(0, 9) | st.text(max_size=3), max_size=2))
    def append(self, body):
        self.events.append(self.ledger.append("NOTE", "ana", body, ts=NOON))

    @rule(key=st.sampled_from(["one", "two"]))
    def append_once(self, key):
        if any(event.body.get("unique") == key for event in self.events):
            with pytest.raises(AlreadyRecorded):
                self.ledger.append("NOTE", "ana", {}, ts=NOON, unique=key)
        else:
            self.events.append(self.ledger.append("NOTE", "ana", {}, ts=NOON, unique=key))

    @rule()
    def reopen(self):
        self.ledger = Ledger(self.ledger.path)

    @rule()
    def remember(self):
        self.heads.append(self.ledger.head())

    @precondition(lambda self: self.events)
    @rule(how=st.sampled_from(sorted(TAMPERING)), place=st.integers(0, 99))
    def tamper_with_a_copy(self, how, place):
        seq = place % len(self.events) + 1
        copy = self.folder / "copy.sqlite"
        with closing(sqlite3.connect(self.ledger.path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute(TAMPERING[how].format(seq=seq))
            for _, sql in triggers:
                connection.execute(sql)
        faults = Ledger(copy).verify(self.heads)
        assert faults
        assert faults[0].seq == seq, (how, seq, faults)
        copy.unlink()

    @invariant()
    def the_ledger_is_the_list(self):
        if not hasattr(self, "ledger"):
            return
        assert list(self.ledger.events()) == self.events
        assert self.ledger.head().root == merkle_root(event.bytes for event in self.events).hex()
        assert self.ledger.verify(self.heads) == []

    def teardown(self):
        shutil.rmtree(self.folder)


LedgerMachine.TestCase.settings = settings(
    max_examples=6, stateful_step_count=8, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLedgerMachine = LedgerMachine.TestCase
