"""A place is an address, and holds nothing of the value that stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance_pipeline.ingest.formats.places import Place, escaped
from governance_pipeline.ingest.logfile import LogFile, Record, Sample

FILE = LogFile("logs/x", "0" * 64, 1, Sample("logs/x", "jsonl", ()), Path())


@pytest.mark.parametrize(
    ("line", "pointer", "below", "address"),
    [
        (7, "", "", "logs/x:7"),
        (7, "", "/metrics/costs/0", "logs/x:7:/metrics/costs/0"),
        (None, "", "", "logs/x:"),
        (None, "/loglines/3", "/message", "logs/x:/loglines/3/message"),
    ],
)
def test_an_address_names_file_line_and_pointer_as_far_as_there_are_any(line, pointer, below, address):
    place = Place.of(FILE, Record(line, pointer, None, None, None), below)
    assert place.address == address


def test_a_place_does_not_keep_the_record_alive():
    place = Place.of(FILE, Record(1, "", {"huge": 1}, 10, b"huge"))
    assert (place.record.value, place.record.raw, place.record.offset) == (None, None, 10)


def test_a_member_name_is_escaped_as_a_pointer_step():
    assert escaped("a/b~c") == "/a~1b~0c"
