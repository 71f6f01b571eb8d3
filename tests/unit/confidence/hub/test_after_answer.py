"""What a command does about the hub after its answer: quick, silent where nothing is registered, and never a failure."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing

import pytest

from governance_pipeline.confidence.hub import after_answer as module
from governance_pipeline.confidence.hub import courier
from governance_pipeline.confidence.hub.after_answer import after_answer
from governance_pipeline.confidence.hub.courier import Occasion


@pytest.fixture
def started():
    return []


@pytest.fixture
def tell(started):
    def _tell(place, occasion=Occasion.EVENT, session="s1"):
        def _start(*arguments):
            started.append(arguments)

        return after_answer(place.folder, session, occasion, place.clock(), "en", _start)

    return _tell


def test_where_nothing_is_registered_nothing_is_started_and_no_file_made(place, tell, started):
    before = sorted(file.name for file in place.folder.iterdir())
    assert tell(place) == []
    assert (started, sorted(file.name for file in place.folder.iterdir())) == ([], before)


def test_an_active_registration_starts_a_process_for_its_session(active, tell, started):
    assert tell(active, session="s7") == []
    assert started == [(active.folder, "s7", Occasion.EVENT)]


@pytest.mark.parametrize(("status", "occasion", "starts"), [
    ("pending_email", "event", False), ("pending_email", "start", True), ("error", "event", False),
    ("error", "start", False), ("suspended", "start", False), ("active", "seal", True),
])  # fmt: skip
def test_a_process_is_started_only_where_it_has_something_to_do(active, tell, started, status, occasion, starts):
    active.set(status=status)
    tell(active, Occasion(occasion))
    assert bool(started) is starts


def test_a_hub_file_somebody_holds_is_not_waited_for(active, tell, monkeypatch):
    active.set(latest_skill_version="99.0.0")
    with closing(sqlite3.connect(active.place.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        (line,) = tell(active)
    assert line.startswith("hub: skipped (StorageError)")
    assert module.LOCK_WAIT_S <= 0.1


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be one" * 40])
def test_a_broken_hub_file_is_one_line_and_no_failure(active, tell, content):
    active.place.path.write_bytes(content)
    (line,) = tell(active)
    assert "hub: skipped" in line


def test_a_process_that_cannot_be_started_is_one_line(active):
    def _start(*_):
        raise OSError(12, "no memory for it")

    (line,) = after_answer(active.folder, "s1", Occasion.EVENT, active.clock(), "en", _start)
    assert line == "hub: skipped (OSError); `govern confidence hub status` shows more"


def test_a_started_process_sends_by_itself(active):
    now = courier._now()
    active.clock.now = now
    active.set(registered_at="2026-03-02T09:00:00.000000Z")
    active.rate()
    child = courier.start(active.folder, "s1", Occasion.EVENT)
    assert child is not None
    until = time.monotonic() + 60
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert len(active.hub.bodies()) == 1
    assert active.waiting() == []


def test_a_process_that_fails_leaves_a_line_in_the_local_log(active, monkeypatch):
    monkeypatch.setattr(courier.signal, "alarm", lambda _: None)
    active.set(registered_at="2026-03-02T09:00:00.000000Z")
    active.rate()
    active.store.path.write_bytes(b"")
    courier.main([str(active.folder), "s1", "event"])
    assert active.log()[-1][0] == "client_failed"
