"""Sending events to a hub that answers well, badly, slowly or not at all; time is an argument."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.confidence.hub import circuit, delivery

TRY_LATER = [429, 500, 502, 503, 301, 204, 201, 100 + 500, "redirect", "garbage", "packed", "huge", "cut", "silent", "slow", "drip"]  # fmt: skip


def test_nothing_is_sent_before_somebody_registers(place):
    place.rate()
    assert not place.place.exists()
    assert place.hub.requests == []


def test_an_accepted_event_is_sent_once_and_the_state_kept_for_display(active):
    active.rate()
    active.rate("error", pattern_code="EXCUSE", domain="COMMS")
    assert (active.send(), active.send()) == (2, 0)
    first, second = active.hub.bodies()
    assert first == {
        "domain": "TECH",
        "eventType": "correct",
        "sessionId": "s1",
        "timestamp": "2026-03-02T09:00:00.001000Z",
        "skillVersion": first["skillVersion"],
    }
    assert (second["patternCode"], second["severity"]) == ("EXCUSE", "severe")  # its pattern gives it
    assert active.sync.sync_errors == 0
    assert active.sync.last_event_sent_at is not None
    assert json.loads(active.sync.cached_state)["agent"]["domains"]["TECH"]["score"] == 57.5


def test_a_seal_and_another_runtime_are_not_sent(active):
    active.rate(runtime="codex/gpt-6/none")
    active.rate("seal", domain=None)
    active.rate(role="user", subject_id="kim", runtime=None)
    assert active.send() == 1
    assert active.log() == [("other_runtime", 1, None)]


@pytest.mark.parametrize("fault", TRY_LATER)
def test_whatever_is_no_clear_answer_leaves_the_event_in_the_queue_and_counts_an_error(active, fault):
    active.hub.faults = [fault]
    active.rate()
    if fault in {"slow", "drip"}:
        active.be_impatient()
    active.send()
    assert [failures for _, failures in active.waiting()] == [1]
    assert (active.sync.sync_errors, active.sync.status, active.sync.is_online) == (1, "active", 0)
    assert len(active.hub.requests) == 1  # no redirect is followed


def test_a_hub_that_is_not_there_counts_an_error(active):
    active.set(url="http://127.0.0.1:1")
    active.rate()
    active.send()
    assert (active.sync.sync_errors, len(active.waiting())) == (1, 1)


@pytest.mark.parametrize("fault", [400, 403, 404, 409, 410, 418, 422])
def test_a_rejected_event_is_dropped_without_a_retry_and_is_no_error(active, fault):
    active.hub.faults = [fault]
    active.rate()
    active.send()
    active.send()
    assert (active.waiting(), active.sync.sync_errors, active.sync.status) == ([], 0, "active")
    assert active.log() == [("rejected_by_hub", 1, fault)]
    assert len(active.hub.requests) == 1


def test_401_stops_everything_keeps_what_waits_and_is_no_error(active):
    active.hub.faults = [401]
    active.rate()
    active.rate()
    active.send()
    active.rate()
    active.send()
    assert (active.sync.status, active.sync.reason, active.sync.sync_errors) == ("error", "unauthorized", 0)
    assert len(active.hub.requests) == 1
    assert len(active.waiting()) == 2


@pytest.mark.parametrize("body", [{"accepted": True}, {}, {"state": None}, {"state": "none"}, {"state": [1]}])
def test_an_event_taken_without_a_state_is_sent_once_and_no_older_state_is_shown_as_its_own(active, body):
    active.hub.faults = [(200, body)]
    active.rate()
    assert (active.send(), active.send()) == (1, 0)
    assert (active.waiting(), len(active.hub.requests)) == ([], 1)
    assert (active.sync.sync_errors, active.sync.is_online, active.sync.cached_state) == (0, 1, None)
    active.rate()
    active.send()
    assert active.sync.cached_state is not None


def test_a_200_whose_body_is_no_object_is_no_success(active):
    active.hub.faults = [(200, ["state"])]
    active.rate()
    active.send()
    assert len(active.waiting()) == 1


def test_an_event_is_tried_again_after_1_5_30_120_and_600_seconds_and_then_dropped(active):
    active.hub.faults = [500] * 10
    active.rate()
    active.send()
    for number, wait in enumerate((1, 5, 30, 120, 600), start=2):
        active.clock.pass_by(seconds=wait - 0.01)
        active.send()
        assert len(active.hub.requests) == number - 1
        active.clock.pass_by(seconds=0.02)
        active.send()
        assert len(active.hub.requests) == number
    assert active.waiting() == []
    assert ("attempts_exhausted", 1, 500) in active.log()
    active.clock.pass_by(days=1)
    assert active.send() == 0


def test_the_first_two_waits_are_sat_out_by_the_process_that_failed(active):
    active.hub.faults = [503, 503]
    active.rate()
    before = active.clock()
    assert active.send(may_stay=True) == 3
    assert (active.clock() - before).total_seconds() == pytest.approx(6)
    assert (active.waiting(), active.sync.sync_errors) == ([], 0)


def test_a_restart_finds_what_waits(active, clock):
    active.hub.faults = ["cut"]
    active.rate()
    active.send()
    active.rate()
    assert active.waiting() != []
    clock.pass_by(seconds=1)
    again = delivery.automatic_round  # another process has only the file
    from governance_pipeline.confidence.hub.hub_file import HubPlace
    from governance_pipeline.confidence.hub.outbox import take_over
    from governance_pipeline.confidence.hub.syncing import api_of

    place = HubPlace(active.folder)
    take_over(place, clock())
    assert again(place, api_of(place, active.sync), "s2", clock).delivered == 2
    assert active.waiting() == []


def test_a_crash_between_recording_and_sending_loses_no_event(active):
    for _ in range(3):
        active.rate()  # nothing of the hub ran after these
    assert active.send() == 3


def test_the_queue_holds_a_hundred_and_the_oldest_go_first(active):
    active.rate_many(103)
    active.hub.faults = [500]
    active.send()
    numbers = [number for number, _ in active.waiting()]
    assert (len(numbers), numbers[0]) == (100, 6)  # two registry lines and three events came before
    assert active.log()[0] == ("queue_overflow", 3, None)


def test_a_session_start_sends_at_most_twenty(active):
    active.rate_many(30)
    assert active.send(occasion="start") == 20
    assert len(active.waiting()) == 10


def test_a_failing_hub_is_asked_once_a_round(active):
    active.hub.faults = [500] * 5
    for _ in range(4):
        active.rate()
    active.send()
    assert len(active.hub.requests) == 1


def test_one_bad_event_does_not_hold_up_the_next(active):
    active.hub.faults = [500]
    active.rate()
    active.rate()
    active.send()
    active.send()
    assert [failures for _, failures in active.waiting()] == [1]
    assert len(active.hub.requests) == 2


@pytest.mark.parametrize(("errors", "retries"), [(0, 20), (9, 20), (10, 1), (24, 1), (25, 0), (49, 0)])
def test_the_circuit_allows_fewer_retries_the_more_errors(errors, retries):
    assert circuit.retries_allowed(errors) == retries


def test_from_ten_errors_a_session_has_one_retry(active):
    active.hub.faults = [500] * 4
    active.rate()
    active.send()
    active.set(sync_errors=10)
    active.clock.pass_by(hours=1)
    active.send("s1")
    active.clock.pass_by(hours=1)
    active.send("s1")
    assert len(active.hub.requests) == 2
    active.send("s2")
    assert len(active.hub.requests) == 3


def test_from_25_errors_nothing_is_retried_but_a_new_event_shows_that_the_hub_is_back(active):
    active.hub.faults = [500]
    active.rate()
    active.send()
    active.set(sync_errors=25)
    active.clock.pass_by(hours=1)
    active.send("s7", "start")
    assert len(active.hub.requests) == 1
    active.rate()
    active.send("s7")
    assert active.sync.sync_errors == 0
    assert active.waiting() == []  # the circuit closed, so the first one was retried too


def test_at_50_errors_everything_stops_until_hub_sync(active):
    active.set(sync_errors=49)
    active.hub.faults = [500]
    active.rate()
    active.send()
    assert (active.sync.status, active.sync.reason) == ("error", "too_many_errors")
    active.rate()
    active.send()
    assert len(active.hub.requests) == 1
    done, _ = active.sync_now()
    assert (done.delivered, active.sync.status, active.sync.sync_errors) == (1, "active", 0)
    assert len(active.hub.bodies()) == 2  # the second one happened while nothing was sent, and stays here


def test_two_processes_never_send_the_same_event(active):
    active.rate()
    with delivery.sending(active.place, 0.0):
        assert active.send() == 0
    assert active.send() == 1


def test_a_queue_somebody_wrote_into_sends_nothing_that_is_not_allowed(active):
    with active.place.opened(is_writing=True) as database:
        database.execute("""INSERT INTO queue (seq, body) VALUES (900, '{"note": "secret"}'), (901, '["x"]'), (902, 'x'),
            (903, '{"domain": "TECH", "sessionId": "a b"}'), (904, '{"timestamp": 5}')""")
    active.send()
    assert (active.hub.requests, active.waiting()) == ([], [])
    assert active.log() == [("body_not_allowed", 1, None)] * 5
