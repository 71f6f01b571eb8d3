"""An event is exactly its canonical bytes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import GovernError, UnreadableError, UsageError
from governance_pipeline.ledger.event import EVENT_BYTES, NewEvent, columns_of, event_of, new_event, read_event
from governance_pipeline.strict.canonical import canonical_json

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _new(**changed):
    entry = {"type": "NOTE", "actor": "ana", "body": {}, "ts": NOON, "unique": None, **changed}
    return new_event(1, NewEvent(**entry))


def test_the_bytes_are_canonical_json_of_the_five_members():
    event = _new(body={"b": 1, "a": "é"})
    assert event.bytes == (
        '{"actor":"ana","body":{"a":"é","b":1},"seq":1,"ts":"2026-11-30T12:00:00.000000Z","type":"NOTE"}'.encode()
    )
    assert event_of(event.bytes) == event


def test_the_time_is_written_in_utc():
    east = NOON.astimezone(timezone(timedelta(hours=9)))
    assert _new(ts=east).bytes == _new().bytes


def test_the_key_becomes_a_member_of_the_body():
    event = _new(body={"a": 1}, unique="k")
    assert dict(event.body) == {"a": 1, "unique": "k"}
    assert columns_of(event)[-1] == "k"


@pytest.mark.parametrize(
    "changed",
    [
        {"type": ""},
        {"type": "two words"},
        {"type": "A" * 65},
        {"type": "Ä"},
        {"actor": ""},
        {"actor": "a" * 301},
        {"unique": ""},
        {"body": {"unique": "mine"}},
        {"ts": datetime(2026, 11, 30, 12)},  # noqa: DTZ001 - the point
        {"body": {"a": "x" * EVENT_BYTES}},
    ],
)
def test_what_cannot_be_recorded_is_refused_before_anything_is_written(changed):
    with pytest.raises(UsageError):
        _new(**changed)


def test_a_float_that_reads_back_as_another_kind_of_number_is_refused():
    with pytest.raises(UsageError, match="carry it as text"):
        _new(body={"value": 2.0**53})


@pytest.mark.parametrize("value", [2**53, float("nan"), {1: 2}, "\ud800", object()])
def test_a_value_without_canonical_form_is_refused(value):
    with pytest.raises(UnreadableError):
        _new(body={"value": value})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"actor":"a","body":{},"seq":1,"ts":"2026-11-30T12:00:00.000000Z","type":"T","x":1}',
        b'{"actor":"a", "body":{},"seq":1,"ts":"2026-11-30T12:00:00.000000Z","type":"T"}',
        b'{"actor":"a","body":{},"seq":1,"seq":1,"ts":"2026-11-30T12:00:00.000000Z","type":"T"}',
        b'{"actor":"a","body":[],"seq":1,"ts":"2026-11-30T12:00:00.000000Z","type":"T"}',
        b'{"actor":"a","body":{},"seq":"1","ts":"2026-11-30T12:00:00.000000Z","type":"T"}',
        b'{"actor":"a","body":{},"seq":true,"ts":"2026-11-30T12:00:00.000000Z","type":"T"}',
        b'{"actor":1,"body":{},"seq":1,"ts":"2026-11-30T12:00:00.000000Z","type":"T"}',
        b'{"actor":"a","body":{},"seq":1,"ts":"noon","type":"T"}',
    ],
)
def test_bytes_that_are_no_event_are_refused(data):
    with pytest.raises(GovernError):
        event_of(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=4).filter(lambda name: name != "unique"), VALUES, max_size=4),
    st.text(min_size=1, max_size=9),
)
def test_every_recorded_event_is_canonical_and_its_columns_are_those_of_its_members(body, actor):
    event = _new(body=body, actor=actor, unique="k")
    assert event_of(event.bytes) == event == read_event(event.bytes)
    members = {"actor": actor, "body": {**body, "unique": "k"}, "seq": 1, "ts": "2026-11-30T12:00:00.000000Z"}
    assert event.bytes == canonical_json({**members, "type": "NOTE"})
    assert columns_of(event) == (1, members["ts"], "NOTE", actor, canonical_json(members["body"]).decode(), "k")


@pytest.mark.parametrize(
    ("canonical", "other"),
    [
        ('{"a":1,"b":2}', '{"b":2,"a":1}'),
        ('{"a":1}', '{"a": 1}'),
        ('{"a":1}', '{"a":1.0}'),
        ('{"a":1}', '{"a":1e0}'),
        ('{"a":0}', '{"a":-0}'),
        ('{"a":1.5}', '{"a":1.50}'),
        ('{"a":"é"}', '{"a":"\\u00e9"}'),
        ('{"a":"/"}', '{"a":"\\/"}'),
        ('{"a":1}', '{"a":9007199254740993}'),
        ('{"\U00010000":1,"\uffff":2}', '{"\uffff":2,"\U00010000":1}'),
    ],
)
def test_another_spelling_of_a_body_is_not_the_event(canonical, other):
    event = _new(body={})
    assert event_of(event.bytes.replace(b'"body":{}', b'"body":' + canonical.encode()))
    with pytest.raises(GovernError, match="canonical form"):
        event_of(event.bytes.replace(b'"body":{}', b'"body":' + other.encode()))


HOSTILE = [
    b'{"a":NaN}', b'{"a":Infinity}', b'{"a":1e999}', b'{"a":1,"a":1}', b'{"a":"\\ud800"}', b'{"a":-0}', b'{"a":1.0}',
    b'{"a":9007199254740993}', b'{"a":' + b"[" * 65 + b"]" * 65 + b"}", b'{"a":1} ', b'\xef\xbb\xbf{"a":1}', b'{"a":"\xff"}',
]  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE)
def test_what_the_strict_reader_refuses_or_keeps_as_written_no_faster_reader_takes_as_canonical(body):
    data = _new().bytes.replace(b'"body":{}', b'"body":' + body)
    with pytest.raises(GovernError):
        event_of(data)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4))
def test_an_event_reads_the_same_whether_or_not_its_form_is_asked(body):
    data = canonical_json({"actor": "a", "body": body, "seq": 1, "ts": "2026-11-30T12:00:00.000000Z", "type": "T"})
    strict = read_event(data)
    assert event_of(data) == strict
    assert [type(value) for value in event_of(data).body.values()] == [type(value) for value in strict.body.values()]
