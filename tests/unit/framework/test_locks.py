"""One holder at a time; the dead never block, the living are never broken, and what is taken from the dead is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.framework.lock_owner import owner_document
from governance_pipeline.framework.lock_standing import Reason, Standing
from governance_pipeline.framework.locks import SILENT_AFTER, LockCode, Locks, is_silent
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.takeovers import EVENT, takeovers_in
from governance_pipeline.ledger.ledger import Ledger

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
RACES, RACES_LONG = 4, 100


@pytest.fixture
def locks(folder):
    """Give the locks of a folder, at a time that stands still."""
    return Locks(folder, clock=lambda: NOON)


def _dead_claim(locks):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = locks.claim("db", child.pid, "child")
    child.communicate()
    return owner


def test_a_held_lock_refuses_every_other_holder_and_names_the_one_it_has(locks):
    with (
        locks.held("db", "first"),
        pytest.raises(FrameworkRefused, match=rf"LOCK_HELD: lock db is held by process {os.getpid()} .*'first'") as no,
        locks.held("db", "second"),
    ):
        pytest.fail("two holders")
    assert no.value.exit_code == 4


def test_a_lock_is_free_again_after_the_block_and_after_an_error_in_it(locks):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), locks.held("db", "x") as held:
            1 / (held.dead is not None)
    assert locks.standing("db").standing is Standing.FREE
    assert takeovers_in(locks.folder) == []


def test_the_lock_of_a_killed_holder_never_blocks_a_restart_and_the_takeover_is_told(folder, locks, processes):
    tell, hear = processes
    tell(("hold", folder.root, ""))
    holder = int(hear())
    with pytest.raises(FrameworkRefused, match=f"process {holder} "), locks.held("db", "second"):
        pytest.fail("two holders")
    os.kill(holder, signal.SIGKILL)
    with locks.held("db", "restart") as held:
        assert held.dead.standing is Standing.ORPHANED
    (told,) = takeovers_in(locks.folder)
    assert (told["lock"], told["dead_owner"]["pid"], told["owner"]["command"]) == ("db", holder, "restart")


def test_a_holder_that_is_stopped_keeps_its_lock(folder, locks, processes):
    tell, hear = processes
    tell(("hold", folder.root, ""))
    holder = int(hear())
    os.kill(holder, signal.SIGSTOP)
    try:
        with pytest.raises(FrameworkRefused, match="LOCK_HELD"), locks.held("db", "second"):
            pytest.fail("two holders")
    finally:
        os.kill(holder, signal.SIGKILL)


def test_a_claim_lasts_as_long_as_its_process(locks):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    locks.claim("db", child.pid, "child")
    with pytest.raises(FrameworkRefused, match=f"process {child.pid} "), locks.held("db", "second"):
        pytest.fail("two holders")
    with pytest.raises(FrameworkRefused, match="LOCK_HELD"):
        locks.claim("db", os.getpid(), "second")
    child.communicate()
    assert locks.claim("db", os.getpid(), "second").process.pid == os.getpid()


def test_a_takeover_stands_in_the_ledger_where_there_is_one(folder, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    locks = Locks(folder, ledger=ledger, clock=lambda: NOON)
    dead = _dead_claim(locks)
    with locks.held("db", "restart"):
        pass
    (event,) = ledger.events(types={EVENT})
    assert event.body["dead_owner"] == owner_document(dead)
    assert (event.body["lock"], event.body["reason"]) == ("db", "process_gone")
    assert takeovers_in(locks.folder) == []


def test_a_ledger_that_cannot_be_written_does_not_keep_the_lock_of_the_dead(folder, tmp_path):
    locks = Locks(folder, ledger=Ledger(tmp_path / "none.sqlite"), clock=lambda: NOON)
    _dead_claim(locks)
    with locks.held("db", "restart"):
        pass
    (told,) = takeovers_in(locks.folder)
    assert "there is no ledger" in told["ledger_fault"]


def test_a_takeover_that_cannot_be_told_anywhere_does_not_happen(locks, monkeypatch):
    dead = _dead_claim(locks)
    (locks.folder / "takeovers.jsonl").mkdir()
    with pytest.raises(StorageError, match="could not be recorded"), locks.held("db", "restart"):
        pytest.fail("taken in silence")
    assert locks.standing("db").owner == dead


def test_a_line_cut_off_by_a_crash_neither_hides_the_next_nor_is_one(locks):
    (locks.folder.parent / "locks").mkdir(exist_ok=True)
    (locks.folder / "takeovers.jsonl").write_text('{"lock": "d')
    _dead_claim(locks)
    with locks.held("db", "restart"):
        pass
    assert [told["lock"] for told in takeovers_in(locks.folder)] == ["db"]


def test_only_its_owner_and_what_descends_from_it_gives_a_claim_back(locks):
    locks.claim("db", os.getppid(), "parent")
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        locks.claim("other", stranger.pid, "stranger")
        with pytest.raises(FrameworkRefused, match="LOCK_NOT_YOURS"):
            locks.release("other", os.getpid())
        assert locks.release("db", os.getpid()).standing is Standing.LIVE
        assert locks.standing("db").standing is Standing.FREE
    finally:
        stranger.communicate()
    assert locks.release("other", os.getpid()).standing is Standing.ORPHANED
    assert [told["owner"] for told in takeovers_in(locks.folder)] == [None]
    assert locks.release("other", os.getpid()).standing is Standing.FREE


def test_a_lock_that_is_held_by_a_running_block_is_not_released_from_outside(locks):
    with locks.held("db", "x"), pytest.raises(FrameworkRefused, match="LOCK_NOT_YOURS"):
        locks.release("db", os.getpid())


def test_an_owner_nobody_can_tell_about_keeps_the_lock_and_the_way_out_is_said(locks):
    with locks.held("db", "x"):
        pass
    (locks.folder / "db.json").write_text(f'{{"pid": {os.getppid()}}}')
    for act in (lambda: locks.claim("db", os.getpid(), "x"), lambda: locks.release("db", os.getpid())):
        with pytest.raises(FrameworkRefused, match=r"LOCK_OWNER_UNKNOWN: .* then remove .*db\.json"):
            act()
    (locks.folder / "db.json").write_text("?")
    with pytest.raises(FrameworkRefused, match=r"LOCK_OWNER_UNKNOWN: .*names no owner that can be read"):
        locks.claim("db", os.getpid(), "x")


def test_a_lock_that_comes_free_while_it_is_waited_for_is_taken(locks):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    locks.claim("db", child.pid, "child")
    threading.Timer(0.4, child.communicate).start()
    begun = time.monotonic()
    with locks.held("db", "second", wait_s=30):
        assert time.monotonic() - begun < 20


def test_a_sign_of_life_moves_and_a_holder_without_one_is_silent_but_kept(folder):
    now = [NOON]
    locks = Locks(folder, clock=lambda: now[0])
    with locks.held("db", "x") as held:
        now[0] += SILENT_AFTER + timedelta(seconds=1)
        assert is_silent(locks.standing("db").owner, now[0])
        with pytest.raises(FrameworkRefused, match="LOCK_HELD"):
            locks.claim("db", os.getpid(), "x")
        held.beat()
        assert not is_silent(locks.standing("db").owner, now[0])


def test_a_bad_name_is_refused_before_anything_is_made(folder, locks):
    with pytest.raises(UsageError, match="no name of a lock"):
        locks.claim("../db", os.getpid(), "x")
    assert not locks.folder.exists()


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_process_killed_before_any_system_call_of_taking_and_giving_back_blocks_nobody(
    locks, folder, processes, step
):
    tell, hear = processes
    for nth in range(1, 400, step):
        tell(("die", folder.root, nth))
        answer = hear()
        assert answer in ("killed", "done")
        with locks.held("db", "next"):
            assert locks.standing("db").reason is Reason.KERNEL_LOCK_HELD
        if answer == "done":
            break
    assert answer == "done", "there is an end to it"
    assert nth > 10
    with Locks(folder).held("db", "restart"):
        assert list(locks.folder.glob(".tmp-*")) == [], "what the killed left behind is swept by whoever starts anew"


def _race(folder, processes, races):
    tell, hear = processes
    for _ in range(races):
        tell(*[("race", folder.root, folder.root)] * 2)
        answers = {hear(), hear()}
        assert answers <= {"held", str(LockCode.HELD)}
        assert "held" in answers


def test_of_two_processes_that_race_never_are_two_inside(folder, processes):
    _race(folder, processes, RACES)


@pytest.mark.long
def test_of_two_processes_that_race_a_hundred_times_never_are_two_inside(folder, processes):
    _race(folder, processes, RACES_LONG)
