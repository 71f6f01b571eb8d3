"""A history written with kept connections is the one Dagster writes: same events, read by Dagster's own storage."""

from __future__ import annotations

from collections import Counter

import dagster as dg
import pytest

from assets_defs.backfill import run_chunk
from assets_defs.kept_connections import KeptEventLog, with_kept_connections
from governance_pipeline.ingest.round import RAW_TABLES

IDS = ("r-1", "r-2", "r-3")


@pytest.fixture
def home(tmp_path):
    """Give what opens one persistent SQLite instance again and again."""
    (tmp_path / "dagster.yaml").write_text(f"storage: {{sqlite: {{base_dir: {tmp_path}/history}}}}\n")
    return lambda: dg.DagsterInstance.from_config(str(tmp_path))


def events(instance, run_id):
    return Counter(record.event_log_entry.dagster_event_type for record in instance.get_records_for_run(run_id).records)


def newest_run(instance):
    return instance.get_run_records(limit=1)[0].dagster_run.run_id


def test_partitions_another_process_adds_or_removes_are_seen(home):
    with home() as first, with_kept_connections(first) as kept, home() as other:
        assert isinstance(kept.event_log_storage, KeptEventLog)
        kept.add_dynamic_partitions("rounds", ["a"])
        assert kept.get_dynamic_partitions("rounds") == ["a"]
        other.add_dynamic_partitions("rounds", ["b"])
        assert kept.get_dynamic_partitions("rounds") == ["a", "b"]
        other.delete_dynamic_partition("rounds", "a")
        assert kept.get_dynamic_partitions("rounds") == ["b"]


def test_an_instance_that_is_not_kept_in_sqlite_is_left_as_it_is():
    with dg.DagsterInstance.ephemeral(tempdir=None) as instance:
        ref = type("Ref", (), {"storage_data": None})()
        instance.get_ref = lambda: ref
        with with_kept_connections(instance) as same:
            assert same is instance


def test_a_chunk_leaves_the_events_and_the_status_dagster_itself_would(home, house, monkeypatch):
    house.write_rounds(*IDS)
    with home() as plain:
        plain.add_dynamic_partitions("rounds", list(IDS))
        assert run_chunk(plain, house.workspace, IDS, house.gate, "raw_job").is_success
        expected = events(plain, newest_run(plain))
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "2")
    with home() as opened, with_kept_connections(opened) as kept:
        assert run_chunk(kept, house.workspace, IDS, house.gate, "raw_job").is_success
    with home() as reader:
        assert events(reader, newest_run(reader)) == expected
        newest = newest_run(reader)
        for table in RAW_TABLES:
            wanted = dg.AssetRecordsFilter(dg.AssetKey(table), asset_partitions=list(IDS))
            records = reader.fetch_materializations(wanted, limit=len(IDS)).records
            assert {record.run_id for record in records} == {newest}, table
        key = dg.AssetCheckKey(dg.AssetKey("raw_log_files"), "meets_contract")
        rows = reader.event_log_storage.get_asset_check_partition_info([key])
        assert {row.partition_key for row in rows if row.is_current and row.partition_key} == set(IDS)
