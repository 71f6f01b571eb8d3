"""Times read many at once are those `parse_time` reads, or are not known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.flat_bytes import PAD, words_of
from governance_pipeline.ingest.flat_times import read_instants

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
USUAL = [
    "2025-01-02T03:04:05Z", "2025-01-02 03:04:05.5Z", "2024-02-29T23:59:59.999999+13:59", "1969-12-31T23:59:59.999999Z",
    "1000-01-01T00:00:00-13:59", "8999-12-31T23:59:59+00:00", "2000-02-29T00:00:00Z", "2025-12-31T00:00:00.000001-00:30",
]  # fmt: skip
OTHERS = [
    "", "Z", "2025-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2025-13-01T00:00:00Z", "2025-00-01T00:00:00Z",
    "2025-01-00T00:00:00Z", "2025-01-32T00:00:00Z", "2025-04-31T00:00:00Z", "2025-01-02T24:00:00Z",
    "2025-01-02T03:60:05Z", "2025-01-02T03:04:60Z", "2025-01-02T03:04:05", "2025-01-02T03:04:05.", "2025-01-02T03:04:05.Z",
    "2025-01-02T03:04:05.1234567Z", "2025-01-02T03:04:05,5Z", "2025-01-02T03:04:05z", "2025-01-02t03:04:05Z",
    "2025-01-02T03:04:05+0200", "2025-01-02T03:04:05+02", "2025-01-02T03:04:05+14:00", "2025-01-02T03:04:05+23:59",
    "2025-01-02T03:04:05+24:00", "2025-01-02T03:04:05+02:60", "2025-01-02T03:04:05*02:00", "2025-01-02T03:04Z",
    "0999-12-31T23:59:59Z", "9000-01-01T00:00:00Z", "0001-01-01T00:00:00+13:00", "9999-12-31T23:59:59-13:00",
    "2025/01/02T03:04:05Z", "2025-01-02T03.04:05Z", "2o25-01-02T03:04:05Z", "2025-01-02T03:04:05.12a4Z",
    "2025-01-02T03:04:05 Z", " 2025-01-02T03:04:05Z", "2025-01-02T03:04:05ZZ", "2025-01-02T03:04:05.123456789Z",
    "2025-01-02T03:04:05.1234560+02:00", "2025-01-02T03:04:05-02:00Z", "yesterday, as far as can be told",
]  # fmt: skip


def read(texts: list[str]) -> list[datetime | None]:
    data = ["".join(texts).encode("latin-1"), PAD]
    ends = np.cumsum([len(text) for text in texts]).astype(np.int32)
    starts = ends - np.array([len(text) for text in texts], np.int32)
    found = read_instants(words_of(np.frombuffer(b"".join(data), np.uint8)), starts, ends)
    return [
        EPOCH + timedelta(microseconds=time) if known else None
        for time, known in zip(found.microseconds.tolist(), found.are_known.tolist(), strict=True)
    ]


def test_what_is_not_usual_is_never_read_otherwise_than_by_parse_time():
    for text, found in zip(OTHERS, read(OTHERS), strict=True):
        assert found is None or found == parse_time(text), text


@pytest.mark.parametrize("text", USUAL)
def test_a_usual_time_is_known_whatever_stands_around_it(text):
    assert read([text]) == read(["9", text, "9"])[1:2] == [parse_time(text)] != [None]


digits = st.text("0123456789", min_size=1, max_size=7)
written = st.builds(
    "{}-{}-{}{}{}:{}:{}{}{}".format,
    st.integers(990, 9010), *[st.sampled_from(["00", "01", "02", "12", "13", "28", "29", "30", "31", "32"])] * 2,
    st.sampled_from("T tx"), *[st.sampled_from(["00", "09", "23", "24", "59", "60", "61"])] * 3,
    st.one_of(st.just(""), digits.map(".{}".format), digits.map(",{}".format)),
    st.sampled_from(["Z", "z", "", "+00:00", "-00:00", "+13:59", "-13:59", "+14:00", "-23:59", "+02", "+0230", "+1:00"]),
)  # fmt: skip


@given(
    st.lists(
        st.one_of(written, st.sampled_from(USUAL), st.text(st.characters(max_codepoint=255), max_size=35)), max_size=9
    )
)
@example([*USUAL, *OTHERS])
def test_a_known_time_is_the_one_parse_time_reads(texts):
    for text, found in zip(texts, read(texts), strict=True):
        assert found is None or found == parse_time(text), text
