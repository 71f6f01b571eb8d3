"""Registering: each step in its state, the key kept at once and shown nowhere, and nothing active before the hub says."""

from __future__ import annotations

import logging
import pickle
import stat
import traceback

import pytest

from governance_pipeline.confidence.hub import registering
from governance_pipeline.confidence.hub.answers import Answer
from governance_pipeline.confidence.hub.hub_sync import HubSync
from governance_pipeline.confidence.hub.key_file import KEY_FILE, HubKey, kept_key
from governance_pipeline.confidence.hub.registering import HubFailed
from governance_pipeline.confidence.hub.states import HubRefused
from governance_pipeline.errors import StorageError

KEY = "aice_live_Zm9vYmFyLXNlY3JldC1rZXk"
MAIL = "kim@example.org"


def _verify(place, email=MAIL, name="kim and ada"):
    return registering.verify(place.place, email, name, place.clock(), _patience(place))


def _resend(place, email=MAIL):
    return registering.resend(place.place, email, place.clock(), _patience(place))


def _enter(place, text, **given):
    return registering.enter_key(place.place, text, HubSync(**given), place.clock(), _patience(place))


def _patience(place):
    return place.patience


def _pending(place):
    place.register()
    _verify(place)
    place.hub.requests.clear()
    return place


def test_the_whole_way_from_unregistered_to_active(place):
    place.register()
    assert place.hub.bodies("/api/register-intent") == [
        {"platform": "claude-code", "model": "opus-4-6", "thinking": "high"}
    ]
    assert (place.sync.status, place.sync.runtime_id) == ("unregistered", "r-1")
    assert _verify(place).status == "pending_email"
    assert place.hub.bodies("/api/verify") == [{"intentId": "i-1", "email": MAIL, "displayName": "kim and ada"}]
    place.hub.is_active = False
    place.sync_now()
    assert place.sync.status == "pending_email"
    place.hub.is_active = True
    place.sync_now()
    assert (place.sync.status, place.sync.registered_at) == ("active", "2026-03-02T09:00:00.000000Z")


def test_the_start_of_a_session_asks_whether_the_registration_is_active(place):
    _pending(place)
    place.send(occasion="event")
    assert place.hub.requests == []
    place.send(occasion="start")
    assert place.sync.status == "active"


def test_the_key_is_kept_at_once_for_its_owner_only(place):
    place.hub.faults = [(201, {"apiKey": KEY})]  # no intent: registering fails after the key came
    with pytest.raises(HubFailed, match="names no intent"):
        place.register()
    file = place.folder / KEY_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() == f"{KEY}\n"


@pytest.mark.parametrize("step", ["register", "verify", "resend"])
@pytest.mark.parametrize("fault", [400, 401, 422, 429, 500, "redirect", "slow", "silent", "cut"])
def test_a_step_the_hub_does_not_take_says_so_and_changes_no_state(place, step, fault):
    if step != "register":
        place.register()
    if step == "resend":
        _verify(place)
    before = place.sync
    place.hub.faults = [fault]
    if fault == "slow":
        place.be_impatient()
    ask = {"register": place.register, "verify": lambda: _verify(place), "resend": lambda: _resend(place)}[step]
    with pytest.raises(HubFailed):
        ask()
    assert place.sync == before


@pytest.mark.parametrize("body", [{}, {"intentId": "i", "apiKey": 5}, {"intentId": "i", "apiKey": "a\r\nX-Evil: 1"}])
def test_an_answer_without_a_key_registers_nothing(place, body):
    place.hub.faults = [(201, body)]
    with pytest.raises(HubFailed, match="no API key"):
        place.register()
    assert not (place.folder / KEY_FILE).exists()


def test_a_second_registration_is_told_the_state(active):
    with pytest.raises(HubRefused, match="this place is active"):
        active.register()
    with pytest.raises(HubRefused, match="this place is active"):
        _verify(active)
    with pytest.raises(HubRefused, match="this place is active"):
        _resend(active)
    assert active.hub.requests == []


def test_verifying_needs_an_open_registration_that_has_not_expired(place):
    with pytest.raises(HubRefused, match="no registration is open"):
        _verify(place)
    place.register()
    place.clock.pass_by(minutes=15)
    with pytest.raises(HubRefused, match="expired"):
        _verify(place)
    place.register()  # another one may be started


@pytest.mark.parametrize(("email", "name"), [("kim", "k"), ("a@b@c", "k"), ("a b@c", "k"), (MAIL, ""), (MAIL, "a\nb")])
def test_an_address_or_name_of_no_form_is_not_sent(place, email, name):
    place.register()
    place.hub.requests.clear()
    with pytest.raises(HubRefused):
        _verify(place, email, name)
    assert place.hub.requests == []


def test_the_email_is_sent_again_three_times_an_hour(place):
    _pending(place)
    for _ in range(3):
        _resend(place)
    assert place.hub.bodies("/api/resend-verification")[0] == {"runtimeId": "r-1", "email": MAIL}
    with pytest.raises(HubRefused, match="within the hour"):
        _resend(place)
    place.clock.pass_by(hours=1, seconds=1)
    _resend(place)
    assert len(place.hub.requests) == 4


@pytest.mark.parametrize("step", [_verify, _resend])
def test_409_points_to_the_existing_key(place, step):
    place.register()
    if step is _resend:
        _verify(place)
    place.hub.faults = [409]
    with pytest.raises(HubFailed, match="govern confidence hub key"):
        step(place)
    place.hub.faults = [500]  # the hub said it is verified: a key it does not contradict is enough
    assert _enter(place, KEY).status == "active"


def test_409_to_an_unnamed_registration_leaves_every_way_open_and_names_the_missing_id(place):
    place.hub.faults = [(201, {"intentId": "i-1", "apiKey": KEY}), 409]
    place.register()
    with pytest.raises(HubFailed, match=r"hub key --runtime-id ID"):
        _verify(place)
    assert place.sync.status == "unregistered"
    place.hub.faults = [500]
    assert _enter(place, KEY, runtime_id="r-1").status == "active"


def test_after_409_to_an_unnamed_registration_another_one_may_be_started(place):
    place.hub.faults = [(201, {"intentId": "i-1", "apiKey": KEY}), 409]
    place.register()
    with pytest.raises(HubFailed):
        _verify(place)
    place.register()
    assert (_verify(place).status, place.sync.runtime_id, place.sync.is_verified) == ("pending_email", "r-1", 0)


def test_a_hub_that_never_named_the_runtime_is_told_it_with_the_key(place):
    place.hub.faults = [(201, {"intentId": "i-1", "apiKey": KEY}), (200, {})]
    place.register()
    assert _verify(place).status == "pending_email"
    with pytest.raises(HubRefused, match=r"hub key --runtime-id ID"):
        _resend(place)
    assert _enter(place, KEY, runtime_id="r-1").status == "active"


def test_a_key_the_hub_does_not_take_leaves_the_one_before(active):
    active.hub.faults = [401]
    with pytest.raises(HubFailed, match="does not take this key"):
        _enter(active, "another-key-1234")
    assert (active.folder / KEY_FILE).read_text() == f"{KEY}\n"


def test_a_key_starts_again_after_401(active):
    active.hub.faults = [401]
    active.rate()
    active.send()
    assert _enter(active, "another-key-1234").status == "active"
    active.send()
    assert active.hub.requests[-1]["headers"]["Authorization"] == "Bearer another-key-1234"


def test_a_key_can_be_entered_where_nothing_was_registered(place):
    with pytest.raises(HubRefused, match="--runtime-id"):
        _enter(place, KEY)
    found = _enter(place, KEY, url=place.hub.url, runtime="claude-code/opus-4-6/high", runtime_id="r-1")
    assert found.status == "active"


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_key_others_can_open_is_not_used(active, mode):
    (active.folder / KEY_FILE).chmod(mode)
    with pytest.raises(HubRefused, match="chmod 600"):
        kept_key(active.folder)
    active.rate()
    assert active.send() == 0
    assert (active.sync.status, active.hub.requests) == ("error", [])


@pytest.mark.parametrize(
    "url",
    ["http://hub.example", "https://", "https://u:p@hub.example", "ftp://hub.example", "https://hub.example?a=1", "hub",
     "https://hub.example#x", "https://hub.example:99999", "https://hub exam.ple", "http://localhost.evil.example", "//x"],
)  # fmt: skip
def test_a_key_is_never_sent_in_the_open_or_to_an_address_that_hides_something(place, url):
    with pytest.raises(HubRefused):
        registering.register(place.place, url, "a/b/c", place.clock())
    assert not place.place.exists()


def test_a_damaged_hub_file_says_how_to_register_the_key_again(active):
    active.place.path.write_bytes(active.place.path.read_bytes()[:5000])
    with pytest.raises(StorageError, match=r"damaged.*hub key --url"):
        _enter(active, KEY)


def test_registering_without_events_says_what_is_missing(tmp_path, hub, clock):
    from governance_pipeline.confidence.hub.hub_file import HubPlace

    with pytest.raises(StorageError, match="govern confidence init"):
        registering.register(HubPlace(tmp_path), hub.url, "a/b/c", clock())
    assert hub.requests == []


def test_the_key_is_in_no_other_file_log_message_or_traceback(place, caplog):
    caplog.set_level(logging.DEBUG)
    said = []
    place.activate()
    for fault in [500, 422, (200, {"state": {"echo": KEY, "agent": KEY}}), (200, {"state": {}, "status": KEY}), 401]:
        place.hub.faults = [fault]
        place.rate(note="n", context="c")
        place.send()
        place.clock.pass_by(hours=1)
    for fault in (401, 500, (200, {"state": {KEY: 1}})):
        place.hub.faults = [fault]
        try:
            _enter(place, KEY)
        except HubFailed as error:
            said += traceback.format_exception(error)
    texts = [repr(kept_key(place.folder)), str(kept_key(place.folder)), repr(Answer(200, {"apiKey": KEY}))]
    assert KEY not in "".join([*texts, *said, caplog.text])
    assert b"Bearer" in b"".join(v.encode() for v in place.hub.requests[-1]["headers"].values())
    for file in place.folder.iterdir():
        assert file.name == KEY_FILE or KEY.encode() not in file.read_bytes(), file.name


def test_a_key_has_no_pickled_form_and_no_wrong_one_quotes_itself():
    with pytest.raises(TypeError):
        pickle.dumps(HubKey(KEY))
    with pytest.raises(HubRefused) as refused:
        HubKey(f"{KEY}\nX: 1")
    assert KEY not in str(refused.value)
