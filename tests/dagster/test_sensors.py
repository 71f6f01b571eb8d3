"""Sensor ticks on an ephemeral instance: what arrives is registered and audited once, and a failed chunk is halved."""

from __future__ import annotations

import json

import dagster as dg
import pytest

from assets_defs import sensors
from assets_defs.partitions import range_tags


def tick(house, cursor=None):
    """Evaluate new_rounds once and carry out its partition requests, as the daemon does."""
    with dg.build_sensor_context(
        instance=house.instance, cursor=cursor, resources={"workspace": house.workspace, "gate": house.gate}
    ) as context:
        result = sensors.new_rounds(context)
    for request in result.dynamic_partitions_requests:
        house.instance.add_dynamic_partitions("rounds", list(request.partition_keys))
    return result


def test_a_round_that_arrives_is_registered_and_audited_once(house):
    house.write_round("r-1")
    house.write_round("r-2")
    first = tick(house)
    assert [request.partition_key for request in first.run_requests] == ["r-1", "r-2"]
    assert house.instance.get_dynamic_partitions("rounds") == ["r-1", "r-2"]
    second = tick(house, first.cursor)
    assert second.run_requests == []
    assert second.skip_reason.skip_message == "none of 2 rounds is new or changed"


def test_a_changed_round_is_requested_again_under_another_run_key(house):
    house.write_round("r-1")
    first = tick(house)
    house.write_round("r-1", steps=3)
    second = tick(house, first.cursor)
    keys = [request.run_key for tick_ in (first, second) for request in tick_.run_requests]
    assert len(set(keys)) == 2
    assert all(key.startswith("r-1:") for key in keys)


def test_a_round_touched_without_a_change_of_content_is_not_run_again(house):
    house.write_rounds("r-1")
    house.make("r-1")
    house.write_round("r-1")
    result = tick(house, json.dumps({"r-1": "an older digest"}))
    assert result.run_requests == []
    assert list(json.loads(result.cursor)) == ["r-1"]


def test_tables_this_instance_never_saw_are_shown_by_a_run(house):
    """A lake filled by another instance is current, but its rounds are not partitions of this one yet."""
    house.write_rounds("r-1")
    house.make("r-1")
    house.instance.delete_dynamic_partition("rounds", "r-1")
    assert [request.partition_key for request in tick(house).run_requests] == ["r-1"]


@pytest.mark.parametrize("cursor", ["", "[1]", "not json", '{"gone": "0"}', "null"])
def test_a_cursor_that_is_none_of_ours_runs_nothing_twice(house, cursor):
    house.write_round("r-1")
    first, second = tick(house), tick(house, cursor)
    assert [r.run_key for r in first.run_requests] == [r.run_key for r in second.run_requests]
    assert list(json.loads(second.cursor)) == ["r-1"]


def test_folders_that_are_no_rounds_are_named_and_skipped(house):
    house.workspace.landing.mkdir(parents=True)
    for name in ("..dots", "white space", "Ünicode", "a..b", "<b>"):
        (house.workspace.landing / name).mkdir()
    (house.workspace.landing / "linked").symlink_to(house.workspace.landing / "white space")
    (house.workspace.landing / "README.md").write_text("not a round")
    result = tick(house)
    assert result.run_requests == []
    assert house.instance.get_dynamic_partitions("rounds") == []
    assert "6 folders are no rounds" in result.skip_reason.skip_message
    assert "'white space' (not a legal round id" in result.skip_reason.skip_message
    assert "'linked' (a symbolic link" in result.skip_reason.skip_message


def test_of_two_names_that_differ_only_in_case_the_known_one_stays(house):
    house.write_round("Round-a")
    cursor = tick(house).cursor
    house.write_round("round-A")
    result = tick(house, cursor)
    assert result.run_requests == []
    assert "differs only in case from round Round-a" in result.skip_reason.skip_message


def test_a_tick_looks_into_a_bounded_number_of_rounds(house, monkeypatch):
    monkeypatch.setattr(sensors, "ROUNDS_PER_TICK", 2)
    for name in ("r-1", "r-2", "r-3"):
        house.write_round(name)
    first = tick(house)
    second = tick(house, first.cursor)
    assert [r.partition_key for r in first.run_requests] == ["r-1", "r-2"]
    assert [r.partition_key for r in second.run_requests] == ["r-3"]


def test_no_landing_folder_is_nothing_to_do(house):
    assert tick(house).skip_reason.skip_message == "none of 0 rounds is new or changed"


def requests_after_failure(house, result, job="raw_job"):
    """Evaluate failed_chunks for a failed run."""
    run = house.instance.get_run_by_id(result.run_id)
    [event] = [e for e in result.all_events if e.event_type == dg.DagsterEventType.RUN_FAILURE]
    context = dg.build_run_status_sensor_context(
        sensor_name="failed_chunks", dagster_instance=house.instance, dagster_run=run, dagster_event=event
    ).for_run_failure()
    return list(sensors.failed_chunks(context))


def test_a_failed_chunk_is_halved_until_the_bad_round_stands_alone(house):
    names = ("r-1", "r-2", "r-3", "r-4")
    house.write_rounds(*names)
    house.workspace.faults["raw_log_files", "r-3"] = ValueError("bad round")
    waiting, ran, failed = [names], 0, []
    while waiting:
        chunk = waiting.pop()
        result = house.run(*chunk, job="raw_job")
        ran += 1
        if result.success:
            continue
        for request in requests_after_failure(house, result):
            if isinstance(request, dg.SkipReason):
                failed.append(chunk)
            else:
                assert request.job_name == "raw_job"
                waiting.append(_rounds_of(request, names))
    assert failed == [("r-3",)]
    assert ran == 5
    assert house.materialized("raw_log_files") == {"r-1", "r-2", "r-4"}
    assert house.check_status("raw_log_files", "nothing_disappears")["r-4"] == "SUCCEEDED"


def _rounds_of(request, names):
    if request.partition_key:
        return (request.partition_key,)
    tags = request.tags
    assert dict(range_tags(names)).keys() <= tags.keys()
    first, last = (tags[key] for key in range_tags(names))
    return names[names.index(first) : names.index(last) + 1]
