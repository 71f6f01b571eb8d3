"""The nightly schedule on an ephemeral instance."""

from __future__ import annotations

from datetime import UTC, datetime

import dagster as dg
import pytest

from assets_defs import partitions, schedules
from governance_pipeline.pipeline import RAW_TABLES


def night(house, day=15):
    """Evaluate nightly_audit for a night, as the scheduler does."""
    context = dg.build_schedule_context(
        instance=house.instance,
        scheduled_execution_time=datetime(2026, 3, day, 2, tzinfo=UTC),
        resources={"workspace": house.workspace},
    )
    return schedules.nightly_audit(context)


def test_nothing_due_is_a_skip_with_its_reason(kept_house):
    kept_house.workspace.landing.mkdir(parents=True)
    (kept_house.workspace.landing / "no round").mkdir()
    skipped = night(kept_house)
    assert isinstance(skipped, dg.SkipReason)
    assert skipped.skip_message.startswith("none of 0 rounds is new or changed; 1 folders are no rounds: 'no round'")


def test_rounds_that_arrived_are_registered_and_asked_for_as_one_run(kept_house):
    for name in ("r-1", "r-2", "r-3"):
        kept_house.write_round(name)
    [request] = night(kept_house)
    assert partitions.rounds_of_run(request.tags, kept_house.instance.get_dynamic_partitions("rounds")) == (
        "r-1",
        "r-2",
        "r-3",
    )
    assert request.tags["govern/night"] == "2026-03-15"


def test_a_past_night_does_what_is_due_and_the_same_night_asks_the_same(kept_house):
    kept_house.write_round("r-1")
    [first], [again], [earlier] = night(kept_house), night(kept_house), night(kept_house, day=1)
    assert first.run_key == again.run_key != earlier.run_key
    assert earlier.tags["govern/night"] == "2026-03-01"
    assert {request.partition_key for request in (first, again, earlier)} == {"r-1"}


def test_only_what_is_stale_or_unfinished_is_run_again(kept_house):
    kept_house.write_rounds("r-1", "r-2", "r-3")
    kept_house.make("r-1", "r-2")
    kept_house.make("r-3", tables=RAW_TABLES)
    assert [request.partition_key for request in night(kept_house)] == ["r-3"]
    kept_house.write_round("r-1", steps=3)
    assert [request.partition_key for request in night(kept_house)] == ["r-1", "r-3"]


def test_a_damaged_table_is_made_again(kept_house):
    kept_house.write_rounds("r-1")
    kept_house.make("r-1")
    path = kept_house.workspace.lake.path("raw_log_files", "r-1")
    path.chmod(0o600)
    path.write_bytes(b"damaged")
    assert [request.partition_key for request in night(kept_house)] == ["r-1"]


def test_the_sensors_and_the_schedule_run_without_being_switched_on(kept_house):
    repository = kept_house.defs.get_repository_def()
    assert {s.name: s.default_status.value for s in repository.sensor_defs} == {
        "new_rounds": "RUNNING",
        "failed_chunks": "RUNNING",
        "stale_verdicts": "RUNNING",
        "folder_changes": "RUNNING",
        "decisions": "RUNNING",
        "failed_publications": "RUNNING",
        "notifications": "RUNNING",
        "dismissals": "RUNNING",
    }
    assert {s.name: s.default_status.value for s in repository.schedule_defs} == {
        "nightly_audit": "RUNNING",
        "nightly_ledger": "RUNNING",
        "cohort_refresh": "RUNNING",
        "confidence_refresh": "RUNNING",
        "registry_verify": "RUNNING",
    }


@pytest.mark.parametrize(
    ("wanted", "size", "chunks"),
    [
        ("", 2, []),
        ("abcdef", 50, ["abcdef"]),
        ("abcdef", 4, ["abcd", "ef"]),
        ("ac", 50, ["a", "c"]),
        ("bcdf", 2, ["bc", "d", "f"]),
        ("xyz", 2, []),
    ],
)
def test_a_chunk_is_a_range_of_wanted_neighbours(wanted, size, chunks):
    assert ["".join(chunk) for chunk in partitions.chunks(set(wanted), list("abcdef"), size)] == chunks
