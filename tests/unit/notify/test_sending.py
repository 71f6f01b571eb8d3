"""People are told each thing once, whatever the service does; a message is sent at least once, always under one id."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.retrying import note_failure
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.notify import delivery, sending
from governance_pipeline.notify.delivery import Outcome
from governance_pipeline.notify.outbox import MOST_TRIES, NoticeEvent, read_outbox
from governance_pipeline.notify.sending import send_due, send_test
from governance_pipeline.trust.reasons import Refusal


def test_a_new_request_is_told_once_however_often_it_is_looked_at(office):
    assert [(one.is_sent, one.notices) for one in office.tick()] == [(True, 1)]
    assert [office.tick() for _ in range(3)] == [[], [], []]
    [seen] = office.receiver.seen
    assert seen["body"]["title"] == "govern: r1 (new)"
    [line] = office.receiver.lines()
    assert line.startswith("r1 (publish): waits for a decision until 2026-12-03T12:00:00.000000Z, verdict pass")
    assert f"govern gate show {office.world.id[:16]}" in line
    [message] = read_outbox(office.world.ledger).messages
    assert seen["headers"]["Idempotency-Key"] == message
    assert seen["body"]["message"].endswith(f"message {message}")


def test_a_server_that_fails_twice_is_tried_twice_more_without_a_word_and_every_attempt_is_kept(office, caplog):
    office.receiver.answers = [503, 500]
    with caplog.at_level(logging.DEBUG):
        [one] = office.tick()
    assert one.is_sent
    assert [(a.is_sent, a.http_status) for a in one.attempts] == [(False, 503), (False, 500), (True, None)]
    assert office.slept == list(sending.PAUSES_S)
    [ended] = office.ended()
    assert [a["http_status"] for a in ended["attempts"]] == [503, 500, None]
    assert [r for r in caplog.records if r.name.startswith("apprise") and r.levelno > logging.DEBUG] == []
    assert len({seen["headers"]["Idempotency-Key"] for seen in office.receiver.seen}) == 1


def test_a_service_that_is_down_is_tried_again_later_and_ever_more_seldom_then_given_up(office):
    failing = lambda *_: Outcome(False, 502)  # noqa: E731
    assert not office.tick(handing=failing)[0].is_sent
    assert office.tick(handing=failing) == [], "not before a minute has passed"
    for _ in range(22):
        office.tick(hours=2, handing=failing)
    new, reminder = read_outbox(office.world.ledger).messages.values()
    assert (new.tries, new.is_given_up, new.is_due(office.now)) == (MOST_TRIES, True, False)
    assert 0 < reminder.tries < MOST_TRIES


def test_a_service_that_hangs_is_cut_off(office, monkeypatch):
    monkeypatch.setattr(delivery, "TIMEOUT_S", 0.2)
    office.receiver.answers = [0, 0, 0]
    [one] = office.tick()
    assert (one.is_sent, len(one.attempts)) == (False, 3)
    office.receiver.let_go.set()
    [again] = office.tick(hours=0.1)
    assert (again.is_sent, again.message_id) == (True, one.message_id)


def test_a_redirect_is_not_followed(office):
    office.receiver.answers = [307, 307, 307]
    [one] = office.tick()
    assert not one.is_sent
    assert {seen["path"] for seen in office.receiver.seen} == {"/hook"}


def test_a_process_that_dies_between_sending_and_recording_sends_the_same_message_once_more(office, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(sending, "end", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            office.tick()
    assert office.tick() == [], "it may still be on its way"
    office.world.make_round(surface=4.0)
    office.world.request(now=office.now)
    sent = office.tick(hours=0.05)
    first, second, _ = office.receiver.seen
    assert [one.is_sent for one in sent] == [True, True]
    assert (first["body"], first["headers"]["Idempotency-Key"]) == (
        second["body"],
        second["headers"]["Idempotency-Key"],
    )
    assert office.tick() == []


def test_nothing_is_sent_when_the_ledger_cannot_be_written(office, monkeypatch):
    def full(*_: object, **__: object):
        raise StorageError("disk full")

    monkeypatch.setattr(Ledger, "append_all", full)
    for _ in range(3):
        with pytest.raises(StorageError, match="disk full"):
            office.tick()
    assert office.receiver.seen == []


def test_of_two_processes_one_sends(office):
    def and_the_other_looks(target, message):
        assert send_due(office.world.verifier(office.now), office.wanted, office.means()) == []
        return delivery.deliver(target, message)

    office.tick(handing=and_the_other_looks)
    assert len(office.receiver.seen) == 1


def test_a_reminder_comes_once_and_what_ran_out_is_told(office):
    office.tick()
    office.tick(hours=24)
    office.tick(hours=24)
    office.tick(hours=24)
    office.tick(hours=1)
    assert [seen["body"]["title"].rpartition("(")[2] for seen in office.receiver.seen] == [
        "new)", "reminder)", "expired)",
    ]  # fmt: skip


def test_a_decision_is_told_with_its_person_and_so_is_the_one_that_takes_it_back(office):
    office.tick()
    office.world.decide(office.world.id)
    office.tick()
    office.world.decide(office.world.id, "ben", Verb.REVOKE)
    office.tick()
    office.tick()
    assert ["APPROVE by 'ana'" in line or "REVOKE by 'ben'" in line for line in office.receiver.lines()] == [
        False, True, True,
    ]  # fmt: skip


def test_what_failed_is_told_with_the_way_to_try_again(office):
    office.world.decide(office.world.id)
    note_failure(office.world.verifier(office.now), "r1", "run-1", "run-1", office.now)
    office.tick()
    assert any("govern gate retry" in line for line in office.receiver.lines())


def test_what_was_decided_long_ago_is_no_news(office):
    office.world.decide(office.world.id)
    assert office.tick(hours=24 * 9) == []


def test_a_target_hears_only_of_the_kinds_it_asked_for(office):
    office.write(kinds='kinds = ["decided"]')
    assert office.tick() == []
    office.world.decide(office.world.id)
    assert len(office.tick()) == 1


def test_many_requests_are_few_messages(office, monkeypatch):
    monkeypatch.setattr(sending, "MOST_NOTICES", 2)
    for name in ("r2", "r3"):
        office.world.make_round(name)
    office.world.request("r2", "r3")
    assert [one.notices for one in office.tick()] == [2, 1]
    assert len(office.receiver.lines()) == 3


def test_a_second_target_is_told_although_the_first_is_down(office):
    office.write(more=f'[[target]]\nname = "other"\nurl = "json://127.0.0.1:{office.receiver.port}/other"\n')
    office.receiver.answers = [500, 500, 500]
    sent = office.tick()
    assert [(one.target, one.is_sent) for one in sent] == [("ops", False), ("other", True)]


def test_no_address_is_in_the_ledger_or_in_what_an_object_shows(office):
    office.receiver.answers = [500, 500, 500]
    office.tick()
    office.tick(hours=1)
    assert "topsecret" not in b"".join(event.bytes for event in office.world.ledger.events()).decode()
    assert "topsecret" not in repr(office.wanted)


def test_an_address_no_service_is_known_for_is_a_failed_attempt_that_names_the_target_alone(office):
    office.write(url="nonsense://topsecret@nowhere")
    [one] = office.tick()
    assert (one.is_sent, len(one.attempts)) == (False, 1)
    with pytest.raises(UsageError, match=r"target 'ops' \(nonsense\)") as error:
        delivery.deliver(
            office.wanted.targets[0], next(iter(read_outbox(office.world.ledger).messages.values())).message
        )
    assert "topsecret" not in str(error.value)


def test_a_test_message_goes_to_one_target_and_not_into_the_ledger(office):
    before = office.world.ledger.size()
    assert send_test(office.wanted, "ops", office.means()).is_sent
    assert office.world.ledger.size() == before
    with pytest.raises(UsageError, match="there is ops"):
        send_test(office.wanted, "nobody", office.means())


@pytest.mark.parametrize("body", [{}, {"target": "ops", "title": "x", "keys": [1], "lines": []}, {"target": 3}])
def test_a_junk_message_in_the_ledger_keeps_no_other_from_being_sent(office, body):
    office.world.ledger.append(NoticeEvent.BEGUN, "forger", body, ts=office.now)
    office.world.ledger.append(NoticeEvent.ENDED, "forger", {"message_id": 7}, ts=office.now)
    assert [one.is_sent for one in office.tick()] == [True]


def test_a_ledger_that_cannot_be_used_sends_nothing(office):
    office.world.ledger.append("RETRY", "forger", {}, ts=office.now)
    with pytest.raises(Refusal, match=r"^LOG_INCONSISTENT"):
        office.tick()
    assert office.receiver.seen == []


def test_a_message_opens_and_closes_nothing(office):
    before = json.dumps([str(request) for request in office.world.history().requests])
    office.tick()
    assert json.dumps([str(request) for request in office.world.history().requests]) == before
    assert office.world.ledger.verify() == []


def test_apprise_is_imported_by_nobody_who_does_not_send():
    program = "import sys, governance_pipeline.notify.sending, governance_pipeline.notify.answers; assert 'apprise' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
