"""The table `audit_locks`: one row per lock, with what shows where it stands and its takeovers."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from governance_pipeline.contracts.audit_locks import AuditLocks
from governance_pipeline.contracts.rules import structure_breaches, value_breaches
from governance_pipeline.framework.lock_rows import lock_rows, locks_document, rows
from governance_pipeline.framework.locks import SILENT_AFTER, Locks
from governance_pipeline.ledger.ledger import Ledger

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
GONE = 2**31 - 1


@pytest.fixture
def locks(folder):
    """Give the locks of a folder, at a time that stands still."""
    return Locks(folder, clock=lambda: NOON)


def _checked(frame):
    assert structure_breaches(AuditLocks, frame) == []
    assert value_breaches(AuditLocks, frame) == []
    return frame.set_index("lock")


def test_a_folder_without_locks_has_no_rows(folder):
    assert len(_checked(rows(folder, NOON))) == 0


def test_every_lock_has_a_row_with_its_standing(folder, locks):
    locks.claim("live", os.getpid(), "x", purpose="load")
    locks.claim("dead", GONE, "y")
    (locks.folder / "other.json").write_text('{"pid": %s}' % os.getppid())  # noqa: UP031 - braces are JSON here
    (locks.folder / "broken.json").write_text("?")
    with locks.held("running", "z"):
        frame = _checked(rows(folder, NOON + SILENT_AFTER + timedelta(seconds=1)))
    assert frame["standing"].to_dict() == {
        "broken": "unknown", "dead": "orphaned", "live": "live", "other": "unknown", "running": "live",
    }  # fmt: skip
    assert frame["reason_code"].to_dict() == {
        "broken": "owner_unreadable", "dead": "process_gone", "live": "process_alive",
        "other": "identity_not_recorded", "running": "kernel_lock_held",
    }  # fmt: skip
    assert frame.loc["live", ["purpose", "pid"]].tolist() == ["load", os.getpid()]
    assert frame.loc["running", "is_silent"]
    assert not frame.loc["live", "is_silent"], "a claim gives no sign of life"
    assert pd.isna(frame.loc["broken", "is_silent"])


def test_takeovers_are_counted_from_the_file_and_from_the_ledger_of_this_folder(folder, locks, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    locks.claim("db", GONE, "x")
    with locks.held("db", "y"):
        pass
    with_ledger = Locks(folder, ledger=ledger, clock=lambda: NOON + timedelta(hours=1))
    with_ledger.claim("db", GONE, "x")
    with with_ledger.held("db", "y"):
        pass
    ledger.append("LOCK_TAKEN_OVER", "x", {"lock": "db", "folder": "elsewhere"}, ts=NOON)
    assert _checked(rows(folder, NOON)).loc["db", "takeover_count"] == 1
    row = _checked(rows(folder, NOON, ledger=ledger)).loc["db"]
    assert (row["takeover_count"], row["last_takeover_at"]) == (2, NOON + timedelta(hours=1))


def test_a_line_of_the_takeover_file_that_is_no_takeover_hides_no_lock(folder, locks):
    locks.claim("db", os.getpid(), "x")
    (locks.folder / "takeovers.jsonl").write_text('7\n{"lock": 1}\n{"lock": "db", "ts": "yesterday"}\n{"lock": "db"}\n')
    assert _checked(rows(folder, NOON)).loc["db", "takeover_count"] == 0


def test_the_document_has_every_member_of_a_row(folder, locks):
    locks.claim("db", os.getpid(), "x")
    (lock,) = locks_document(lock_rows(folder, NOON))["locks"]
    assert list(lock) == list(AuditLocks.to_schema().columns)
