"""Ages and what is left, in the largest unit and the next."""

from __future__ import annotations

import pytest

from governance_pipeline.gate.inbox.durations import age_words, left_words


@pytest.mark.parametrize(
    ("seconds", "age", "left"),
    [
        (-1, "just now", "over"),
        (0, "just now", "over"),
        (59, "just now", "in a moment"),
        (60, "1 minute", "in 1 minute"),
        (3_599, "59 minutes", "in 59 minutes"),
        (3_600, "1 hour", "in 1 hour"),
        (7_260, "2 hours 1 minute", "in 2 hours 1 minute"),
        (86_460, "1 day", "in 1 day"),
        (259_199, "2 days 23 hours", "in 2 days 23 hours"),
    ],
)
def test_a_time_is_said_in_its_largest_unit_and_the_next(seconds, age, left):
    assert (age_words(seconds), left_words(seconds)) == (age, left)
