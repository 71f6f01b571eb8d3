"""An instant has one spelling, and texts sort as times do."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trust.instants import instant_of, instant_text

TIMES = st.datetimes(timezones=st.just(UTC))


@given(TIMES, TIMES)
def test_every_instant_comes_back_and_sorts_as_text(one, other):
    assert instant_of(instant_text(one)) == one
    assert (instant_text(one) < instant_text(other)) == (one < other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-30",
        "2026-11-30T12:00:00",
        "2026-11-30t12:00:00z",
        "2026-11-30T12:00:00+00:00",
        "2026-11-30T12:00:00.1234567Z",
        "2026-11-30T12:00:00Z\n",
        "2026-02-30T12:00:00Z",
        "2026-11-30T25:00:00Z",
        "\u0662026-11-30T12:00:00Z",
    ],
)
def test_another_spelling_is_no_instant(text):
    with pytest.raises(ValueError, match=r"."):
        instant_of(text)


def test_a_time_without_zone_names_no_instant():
    with pytest.raises(ValueError, match="no time zone"):
        instant_text(datetime(2026, 11, 30))  # noqa: DTZ001 - the point
