"""A write to a canonical asset without approval: by the round contract's list, and by the table of the registry."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from governance_pipeline.verdict.controls import control_view
from governance_pipeline.verdict.detectors import detector_of

PATH = "data/master/prices.csv"
WRITTEN = {"core_file_changes": [{"file_path": f"./{PATH}"}]}
BEFORE, AFTER = datetime(2025, 12, 31, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)


def _hits(**tables):
    return list(detector_of("canonical-write-unapproved").detect(control_view({**WRITTEN, **tables})))


@pytest.mark.parametrize("state", ["changed", "unapproved"])
def test_a_registered_file_whose_bytes_nobody_approved_is_a_finding_of_the_round_that_wrote_it(state):
    (hit,) = _hits(audit_registry=[{"state": state, "computed_sha256": "b" * 64}])
    assert hit.subject == (PATH,)
    assert (hit.factors["registered_as"], hit.factors["found_sha256"]) == ("prices", "b" * 64)


@pytest.mark.parametrize("state", ["verified", "unknown", "unfinished", "missing", "unrecorded"])
def test_any_other_state_names_no_writer(state):
    assert _hits(audit_registry=[{"state": state}]) == []


def test_a_round_that_ended_before_the_file_was_verified_wrote_what_was_verified():
    rows = [{"state": "changed"}]
    assert _hits(core_rounds=[{"ended_at": BEFORE}], audit_registry=rows) == []
    assert len(_hits(core_rounds=[{"ended_at": AFTER}], audit_registry=rows)) == 1


def test_an_archived_version_and_another_file_are_no_canonical_asset():
    assert _hits(audit_registry=[{"state": "changed", "version": "archived"}]) == []
    assert _hits(audit_registry=[{"state": "changed", "path": "data/other.csv"}]) == []


def test_without_list_and_without_registry_the_detector_is_silent():
    assert _hits() == []
