"""Cohort tables in the lake: damage is said, what is stale is named, and nothing is written that did not change."""

from __future__ import annotations

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.storage.lake import Lake
from governance_pipeline.trajectory.cohort_tables import BASELINE_TABLE, COHORT_TABLES, CONFORMAL_TABLE
from governance_pipeline.trajectory.stored_cohorts import (
    cohort_digests,
    cohort_state,
    earlier_baselines,
    read_cohort_tables,
    stale_reason,
    stale_verdicts,
)


@pytest.fixture
def lake(cohort_lake):
    made = cohort_lake
    for day in (1, 2, 3):
        made.put_round(f"r-{day}", day, float(day))
    made.refresh()
    return made


def test_a_version_that_was_removed_meanwhile_is_named_with_what_to_do(lake):
    digests = cohort_digests(lake)
    lake.path("core_rounds", "r-2").unlink()
    with pytest.raises(StorageError, match="was removed meanwhile; make the cohort tables again"):
        read_cohort_tables(lake, digests)


def test_a_damaged_version_is_refused_and_not_left_out(lake):
    path = lake.path("features_round", "r-1")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StorageError, match="is damaged"):
        read_cohort_tables(lake, cohort_digests(lake))


def test_a_round_that_has_only_one_of_the_tables_is_in_no_cohort_yet(lake, tmp_path):
    other = type(lake)(tmp_path / "other")
    other.put_round("r-9", 9, 1.0)
    lake.put("core_rounds", "r-9", other.get("core_rounds", "r-9"))
    for table in COHORT_TABLES:
        assert list(cohort_digests(lake)[table]) == ["r-1", "r-2", "r-3"]
    assert stale_reason(lake) is None


def test_each_way_to_be_stale_is_said(lake, tmp_path):
    assert stale_reason(Lake(tmp_path / "empty")) is None
    before = cohort_state(lake)
    (lake.root / CONFORMAL_TABLE / "round=r-2" / "current").unlink()
    assert stale_reason(lake) == "features_conformal of round r-2 has not been made"
    lake.put_round("r-2", 2, 7.0)
    assert stale_reason(lake) == "rounds came or changed since the cohort tables were made"
    assert cohort_state(lake) != before
    path = lake.path(BASELINE_TABLE, None)
    path.write_bytes(b"no parquet")
    assert stale_reason(lake) == "features_cohort_baseline cannot be read"
    (path.parent / "current").unlink()
    assert stale_reason(lake) == "features_cohort_baseline has not been made"
    lake.refresh()
    assert stale_reason(lake) is None


def test_a_round_that_ends_last_writes_its_own_rows_and_nobody_elses(lake):
    before = {of: lake.digest(CONFORMAL_TABLE, of) for of in ("r-1", "r-2", "r-3")}
    lake.put_round("r-4", 4, 4.0)
    lake.refresh()
    assert {of: lake.digest(CONFORMAL_TABLE, of) for of in before} == before
    lake.put_round("r-0", 0, 9.0)
    lake.refresh()
    assert all(lake.digest(CONFORMAL_TABLE, of) != digest for of, digest in before.items())


def test_rounds_without_a_verdict_of_their_rows_in_force_are_listed(lake):
    assert stale_verdicts(lake) == ["r-1", "r-2", "r-3"]


def test_earlier_versions_that_cannot_be_read_are_counted_and_the_others_read(lake):
    assert earlier_baselines(lake) == ({}, 0)
    first = lake.path(BASELINE_TABLE, None)
    lake.put_round("r-0", 0, 9.0)
    lake.refresh()
    second = lake.path(BASELINE_TABLE, None)
    lake.put_round("r-5", 5, 9.0)
    lake.refresh()
    found, unreadable = earlier_baselines(lake)
    assert (len(found), unreadable) == (3 + 4, 0)
    second.write_bytes(b"no parquet")
    (first.parent / "notes.parquet").write_bytes(b"nobody's")
    found, unreadable = earlier_baselines(lake)
    assert (len(found), unreadable) == (3, 1)
