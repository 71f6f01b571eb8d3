"""The sensor `notifications`: each tick leaves a sign of life, tells once, and says why it told nothing."""

from __future__ import annotations

import dagster as dg
import pytest

from assets_defs import notification_sensor
from governance_pipeline.notify.delivery import Outcome
from governance_pipeline.storage.heartbeat import last_beat


@pytest.fixture
def heard(monkeypatch):
    """What was handed over; the service answers what `answers` says, then takes everything."""
    heard, answers = [], []

    def deliver(target, message):
        heard.append((target.name, message))
        return Outcome(answers.pop(0) if answers else True)

    monkeypatch.setattr(notification_sensor, "deliver", deliver)
    monkeypatch.setattr(notification_sensor.time, "sleep", lambda _: None)
    return (heard, answers)


def tell(house):
    file = house.folder / "trust" / "notifications.toml"
    file.write_text('schema = "govern/notifications/v1"\n[[target]]\nname = "ops"\nurl = "json://localhost"\n')
    file.chmod(0o600)
    with house.config.open("a") as config:
        config.write(f'notifications = "{file}"\n')


def tick(house, cursor=None):
    with dg.build_sensor_context(instance=house.instance, cursor=cursor, resources=house.resources) as context:
        return notification_sensor.notifications(context)


def test_repeated_ticks_tell_each_request_once(asked, heard):
    tell(asked)
    results = [tick(asked) for _ in range(3)]
    assert [result.skip_reason.skip_message for result in results] == [
        "1 of 1 messages were handed over", "there is nothing new to tell", "there is nothing new to tell",
    ]  # fmt: skip
    [(name, message)] = heard[0]
    assert (name, len(message.keys)) == ("ops", len(asked.instance.get_dynamic_partitions("rounds")))
    assert results[-1].cursor.endswith(f":{asked.ledger.size()}")
    assert last_beat(asked.lake, "notifications") == asked.clock.now


def test_what_fails_thrice_is_said_in_the_tick_and_opens_nothing(asked, heard):
    tell(asked)
    heard[1].extend([False] * 3)
    assert tick(asked).skip_reason.skip_message == "0 of 1 messages were handed over"
    assert asked.events().count("NOTICE_ENDED") == 1
    assert not asked.run("r-1").success


def test_without_targets_or_gate_a_tick_says_so_and_still_leaves_a_sign_of_life(asked, heard):
    assert "nobody is told" in tick(asked).skip_message
    asked.config.unlink()
    assert "no gate is configured" in tick(asked).skip_message
    assert last_beat(asked.lake, "notifications") == asked.clock.now
    assert heard[0] == []
