"""History stays here: nothing older than the registration is sent, one by one or as a state, however it was recorded."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance_pipeline.confidence.hub.notices import notices, untold
from governance_pipeline.confidence.hub.outbox import take_over
from governance_pipeline.confidence.hub.state_report import HistoryRefused, state_report
from governance_pipeline.confidence.store import EventStore

RUNTIME = "claude-code/opus-4-6/high"


def test_what_was_recorded_before_the_registration_is_never_sent(place):
    for _ in range(3):
        place.rate()
    place.activate()
    place.rate("implicit_continue")
    place.send()
    place.sync_now()
    assert [one["eventType"] for one in place.hub.bodies()] == ["implicit_continue"]


def test_a_batch_import_of_old_history_is_blocked_counted_logged_and_told_once(active):
    for day in range(1, 31):
        active.rate("implicit_continue", at=active.clock() - timedelta(days=day))
    active.rate()
    active.send()
    assert len(active.hub.bodies()) == 1
    assert active.sync.blocked_events == 30
    assert active.log() == [("history_blocked", 30, None)]
    (told,) = untold(active.place, active.sync, "s1", active.clock())
    assert "BLOCKED, 30 events" in told.text("en")
    assert "BLOQUEADO, 30 eventos" in told.text("es")
    assert untold(active.place, active.sync, "s1", active.clock()) == []
    assert len(untold(active.place, active.sync, "s2", active.clock())) == 1


def test_an_event_of_last_month_is_history_even_when_it_came_after_the_registration(active):
    active.clock.pass_by(days=60)
    active.rate(at=active.clock() - timedelta(days=8))
    active.rate(at=active.clock() - timedelta(days=6))
    assert take_over(active.place, active.clock()).blocked == 1
    active.send()
    assert len(active.hub.bodies()) == 1


def test_what_happened_while_nothing_was_sent_is_not_sent_afterwards(active):
    active.hub.faults = [401]
    active.rate()
    active.send()
    active.rate("implicit_continue")
    active.sync_now()
    assert [one["eventType"] for one in active.hub.bodies()] == ["correct", "correct"]
    active.rate("bonus", points=1)
    active.send()
    assert active.hub.bodies()[-1]["eventType"] == "bonus"


def _lines(place):
    return EventStore(place.folder).recorded_after(0)


def test_a_state_that_holds_anything_older_than_the_registration_is_refused(active):
    active.rate(at=active.clock() - timedelta(days=1))
    active.rate()
    recorded = _lines(active)
    with pytest.raises(HistoryRefused, match="1 events from before"):
        state_report([line for _, line in recorded.events], recorded.registry, RUNTIME, active.sync.registered_at)


def test_the_weekly_report_carries_only_what_came_after_the_registration(place):
    for _ in range(6):
        place.rate()  # four and more in a row: a streak that scored before the registration
    place.activate()
    place.rate("error", severity="severe")
    place.rate(at=place.clock() - timedelta(hours=1), domain="OPS")
    place.rate("error", severity="critical", runtime="codex/gpt-6/none")
    place.clock.pass_by(days=6, hours=23)
    place.rate("seal", domain=None)
    place.send(occasion="seal")
    assert place.hub.bodies("/api/import/state") == []  # not more than seven days
    place.clock.pass_by(days=1)
    place.rate("seal", domain=None)
    place.send(occasion="event")
    assert place.hub.bodies("/api/import/state") == []  # nobody sealed a day
    place.send(occasion="seal")
    (report,) = place.hub.bodies("/api/import/state")
    quiet = {"score": 50, "streak": 0, "evaluations": 0}
    assert report == {
        "platform": "claude-code",
        "model": "opus-4-6",
        "thinking": "high",
        "domains": {
            "TECH": {"score": 45, "streak": 0, "evaluations": 1},
            **dict.fromkeys(["OPS", "JUDGMENT", "COMMS", "ORCH"], quiet),
        },
        "globalScore": 49,
        "maturity": {"totalEvaluations": 1, "tier": "NEW"},
    }
    place.send(occasion="seal")
    assert len(place.hub.bodies("/api/import/state")) == 1


@pytest.mark.parametrize(("fault", "status", "errors"), [(422, "active", 0), (503, "active", 1), (401, "error", 0)])
def test_a_report_the_hub_does_not_take_is_tried_at_the_next_seal(active, fault, status, errors):
    active.clock.pass_by(days=8)
    active.hub.faults = [fault]
    active.send(occasion="seal")
    assert (active.sync.status, active.sync.sync_errors) == (status, errors)
    active.send(occasion="seal")
    assert len(active.hub.bodies("/api/import/state")) == (1 if status == "error" else 2)


@pytest.mark.parametrize(
    ("members", "word"),
    [
        ({"status": "error", "reason": "unauthorized"}, "hub_unauthorized"),
        ({"status": "error", "reason": "too_many_errors", "sync_errors": 50}, "hub_stopped"),
        ({"status": "suspended"}, "hub_suspended"),
        ({"sync_errors": 25}, "hub_quiet"),
        ({"latest_skill_version": "99.0.0"}, "hub_newer"),
    ],
)
def test_each_thing_to_tell_is_told_once_per_session_in_both_languages(active, members, word):
    active.set(**members)
    (told,) = untold(active.place, active.sync, "s1", active.clock())
    assert told.word == word
    assert told.text("en") != told.text("es")
    assert untold(active.place, active.sync, "s1", active.clock()) == []
    assert len(untold(active.place, active.sync, "s2", active.clock())) == 1


def test_commands_without_a_session_are_told_once_a_day(active):
    active.set(latest_skill_version="99.0.0")
    assert untold(active.place, active.sync, "cli", active.clock()) != []
    assert untold(active.place, active.sync, "cli", active.clock()) == []
    active.clock.pass_by(days=1)
    assert untold(active.place, active.sync, "cli", active.clock()) != []


@pytest.mark.parametrize("version", ["0.0.1", None])
def test_an_older_or_unnamed_version_is_not_told(active, version):
    active.set(latest_skill_version=version)
    assert notices(active.sync) == []


def test_a_version_the_hub_names_is_kept_only_where_it_is_one(active):
    active.hub.more = {"latestSkillVersion": "99.1.0"}
    active.rate()
    active.send()
    active.hub.more = {"latestSkillVersion": "<b>99.2.0</b> click here"}
    active.rate()
    active.send()
    assert active.sync.latest_skill_version == "99.1.0"
