"""The numbers beside a table: one per state, zero included, and the sums of record counts."""

from __future__ import annotations

import pytest

from governance_pipeline.contracts.registry import REGISTRY, empty_frame, frame_of
from governance_pipeline.report.table_counts import has_counts, table_counts


def test_every_state_is_counted_also_where_no_row_has_it():
    assert table_counts(empty_frame("audit_cross_checks")) == {
        "match_count": 0,
        "mismatch_count": 0,
        "unverifiable_count": 0,
    }


def test_record_counts_add_up_over_files():
    row = {"round_id": "r", "record_unit": "line", "bytes": 1, "blank": 0, "duplicates": 0}
    files = [
        {**row, "path": "a", "lines_in": 3, "accepted": 3, "quarantined": 0},
        {**row, "path": "b", "lines_in": 5, "accepted": 1, "quarantined": 4},
    ]
    assert table_counts(frame_of("raw_log_files", files)) == {
        "lines_in_sum": 8,
        "accepted_sum": 4,
        "quarantined_sum": 4,
        "blank_sum": 0,
        "duplicates_sum": 0,
    }


@pytest.mark.parametrize("table", list(REGISTRY))
def test_a_table_is_read_for_its_counts_exactly_when_it_has_some(table):
    frame = empty_frame(table)
    assert has_counts(frame.columns) == bool(table_counts(frame))
