"""Heartbeats: the last tick of a sensor is there for a process that knows no Dagster."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage.heartbeat import beat, last_beat
from governance_pipeline.storage.lake import Lake

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_a_sensor_that_never_ticked_has_no_heartbeat(tmp_path):
    assert last_beat(Lake(tmp_path / "lake"), "decisions") is None
    assert not (tmp_path / "lake").exists()


def test_only_the_last_tick_of_each_sensor_is_kept_in_utc(tmp_path):
    lake = Lake(tmp_path)
    beat(lake, "decisions", NOON - timedelta(days=1))
    beat(lake, "decisions", NOON.astimezone(timezone(timedelta(hours=9))))
    beat(lake, "new_rounds", NOON - timedelta(hours=1))
    assert last_beat(lake, "decisions") == NOON
    assert last_beat(lake, "decisions").tzinfo is UTC
    assert last_beat(lake, "new_rounds") == NOON - timedelta(hours=1)


@pytest.mark.parametrize("name", ["", "../current", "a/b", "Decisions", "x" * 81])
def test_a_name_never_leaves_the_folder(tmp_path, name):
    with pytest.raises(UsageError, match="no name of a sensor"):
        beat(Lake(tmp_path), name, NOON)


def test_a_time_without_a_zone_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no time zone"):
        beat(Lake(tmp_path), "decisions", datetime(2026, 11, 30, 12))  # noqa: DTZ001


@pytest.mark.parametrize("content", [b"", b"yesterday\n", b"\xff\xfe"])
def test_a_file_that_is_no_heartbeat_is_said_to_be_none(tmp_path, content):
    lake = Lake(tmp_path)
    beat(lake, "decisions", NOON)
    (tmp_path / "heartbeats" / "decisions").write_bytes(content)
    with pytest.raises(StorageError, match="holds no time"):
        last_beat(lake, "decisions")
