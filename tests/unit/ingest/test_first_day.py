"""The day of a log is that of the first time it shows, and none where it shows none."""

from __future__ import annotations

import pytest

from governance_pipeline.ingest.first_day import day_of


@pytest.mark.parametrize(
    ("values", "day"),
    [
        ([], None),
        ([{"timestamp": "soon"}, {"a": {"ts": "2026-01-05T23:59:59-02:00"}}], "2026-01-06"),
        ([{"created": 1775715329}], "2026-04-09"),
        ([{"b": [{"time": "2026-02-01T00:00:00"}]}], "2026-02-01"),
        (["2026-02-01T00:00:00Z", 5, None], None),
    ],
)
def test_the_first_time_of_any_usual_name_gives_the_day(values, day):
    assert day_of(values) == day


def test_a_time_far_down_is_not_looked_for():
    value = {"timestamp": "2026-02-01T00:00:00Z"}
    for _ in range(9):
        value = {"inner": value}
    assert day_of([value]) is None
