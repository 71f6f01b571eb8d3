"""`hub sync`: starts again, sends everything that waits, and believes of the answer only what has a form."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.confidence.hub import registering
from governance_pipeline.confidence.hub.answers import Answer, Outcome, outcome, read_body, state_of
from governance_pipeline.confidence.hub.key_file import HubKey, forget_key
from governance_pipeline.confidence.hub.states import HubRefused

KEY = HubKey("aice_live_Zm9vYmFyLXNlY3JldC1rZXk")


def test_nothing_is_synced_where_nothing_is_registered(place):
    with pytest.raises(HubRefused, match="unregistered"):
        place.sync_now()
    assert not place.place.exists()


def test_everything_that_waits_is_sent_whenever_its_time_is_and_the_state_fetched(active):
    active.hub.faults = [500, 500]
    active.rate_many(25)
    active.send()
    active.send()
    done, found = active.sync_now()
    assert (done.delivered, found, active.waiting()) == (25, Outcome.OK, [])
    assert active.hub.requests[-1]["path"] == "/api/runtime/r-1/state"
    assert active.sync.last_sync_at is not None


def test_a_hub_that_is_down_is_asked_three_times(active):
    active.rate_many(9)
    active.hub.faults = [503] * 20
    done, found = active.sync_now()
    assert (done.failed, found) == (3, Outcome.TRY_LATER)
    assert len(active.hub.requests) == 4
    assert (active.sync.status, active.sync.sync_errors) == ("active", 4)


def test_401_ends_a_sync_and_another_one_starts_again(active):
    active.rate()
    active.hub.faults = [401]
    done, _ = active.sync_now()
    assert (done.is_unauthorized, active.sync.status, len(active.hub.requests)) == (True, "error", 1)
    done, _ = active.sync_now()
    assert (done.delivered, active.sync.status) == (1, "active")


def test_a_lost_key_says_how_to_enter_it(active):
    forget_key(active.folder)
    with pytest.raises(HubRefused, match="govern confidence hub key"):
        active.sync_now()


def test_an_answer_to_the_question_for_the_state_without_one_activates_nothing(place):
    place.register()
    registering.verify(place.place, "kim@example.org", "kim", place.clock(), place.patience)
    place.hub.faults = [(200, {"accepted": True})]
    assert place.sync_now()[1] is Outcome.TRY_LATER
    assert place.sync.status == "pending_email"


def test_a_suspended_runtime_sends_nothing_until_the_hub_says_otherwise(active):
    active.hub.faults = [(200, {"state": {"status": "suspended"}})]
    active.rate()
    active.send()
    active.rate()
    active.send()
    assert (active.sync.status, len(active.hub.requests)) == ("suspended", 1)
    active.hub.faults = [(200, {"state": {"status": "suspended"}})]
    active.sync_now()
    assert active.sync.status == "suspended"
    active.sync_now()
    assert active.sync.status == "active"


@pytest.mark.parametrize(
    ("status", "document", "expected"),
    [
        (200, {"state": {}}, Outcome.OK),
        (200, {"state": None}, Outcome.OK),
        (200, {"accepted": True}, Outcome.OK),
        (200, None, Outcome.TRY_LATER),
        (401, None, Outcome.UNAUTHORIZED),
        (422, {"state": {}}, Outcome.REJECTED),
        (409, None, Outcome.REJECTED),
        (429, None, Outcome.TRY_LATER),
        (499, None, Outcome.REJECTED),
        (500, None, Outcome.TRY_LATER),
        (302, None, Outcome.TRY_LATER),
        (None, None, Outcome.TRY_LATER),
    ],
)
def test_each_status_has_one_meaning(status, document, expected):
    assert outcome(Answer(status, document)) is expected


def test_of_a_state_numbers_flags_and_short_words_are_kept():
    state = {
        "a": 1,
        "b": "GOOD",
        "c": "<script>",
        "d": {"e": 1.5, "f": None, "g h": 1},
        "i": True,
        "l": [1],
        "m": 1e300,
    }
    answer = Answer(200, read_body(json.dumps({"state": state}).encode(), None))
    assert state_of(answer) == {"a": 1, "b": "GOOD", "d": {"e": 1.5}, "i": True}


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"5", b"\xff", b'{"a":1,"a":2}', b'{"state":' + b"[" * 50, b'{"x":' + b'"' + b"y" * 70_000 + b'"}',
     json.dumps({"state": {"x": "aice_live_Zm9vYmFyLXNlY3JldC1rZXk"}}).encode().replace(b"aice", b"\\u0061ice"),
     json.dumps({"state": [["Bearer aice_live_Zm9vYmFyLXNlY3JldC1rZXk"]]}).encode()],
)  # fmt: skip
def test_a_body_that_is_no_object_or_says_the_key_is_unreadable(data):
    assert read_body(data, KEY) is None


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200))
def test_no_body_breaks_the_reader(data):
    document = read_body(data, KEY)
    assert outcome(Answer(200, document)) in (Outcome.OK, Outcome.TRY_LATER)


LEAF = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9)
)
JSON = LEAF | st.lists(LEAF, max_size=2) | st.dictionaries(st.text(max_size=9), LEAF, max_size=2)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(max_size=9), JSON, max_size=4))
def test_what_is_kept_of_any_state_is_json_again(state):
    document = read_body(json.dumps({"state": state}).encode(), KEY)
    kept = state_of(Answer(200, document))
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
