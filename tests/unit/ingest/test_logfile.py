"""Whatever a file holds and whatever a format does with it, its account balances."""

from __future__ import annotations

import json
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.ingest.logfile import LogFile, Sample
from governance_pipeline.ingest.rejections import Repetition
from governance_pipeline.strict.limits import Limits


def _file(tmp_path, data, shape="jsonl", **more):
    copy = tmp_path / "copy"
    copy.write_bytes(data if isinstance(data, bytes) else data.encode())
    return LogFile("logs/x", "0" * 64, copy.stat().st_size, Sample("logs/x", shape, ()), copy, **more)


def _counts(file):
    account = file.account
    return account.lines_in, account.accepted, account.quarantined, account.blank, account.duplicates


def _codes(file):
    return [(row["line"], row["pointer"], row["disposition"], row["reason_code"]) for row in file.rejected]


def test_refused_and_blank_lines_are_counted_and_never_handed_out(tmp_path):
    file = _file(tmp_path, '{"a":1}\n\nbroken\n{"a":1,"a":2}\n{"b":2}')
    assert [(record.line, record.value) for record in file.lines()] == [(1, {"a": 1}), (5, {"b": 2})]
    assert _counts(file) == (5, 2, 2, 1, 0)
    assert _codes(file) == [(3, "", "quarantined", "malformed_json"), (4, "", "quarantined", "duplicate_member")]
    assert file.rejected[0]["byte_offset"] == 9
    assert file.rejected[0]["excerpt"] == "broken"


def test_a_line_beyond_the_limit_is_quarantined_and_the_rest_goes_on(tmp_path):
    file = _file(tmp_path, '"' + "x" * 100 + '"\n1\n', limits=Limits(line_bytes=50))
    assert [record.value for record in file.lines()] == [1]
    assert _codes(file) == [(1, "", "quarantined", "line_too_long")]


def test_lines_of_plain_text_are_records_with_the_same_account(tmp_path):
    file = _file(tmp_path, b"\xef\xbb\xbfa,b\r\n\n{\n1,\xff\n" + b"x" * 60, "text", limits=Limits(line_bytes=50))
    assert [(record.line, record.value) for record in file.text_lines()] == [(1, "a,b"), (3, "{")]
    assert _counts(file) == (5, 2, 2, 1, 0)
    assert _codes(file) == [(4, "", "quarantined", "not_utf8"), (5, "", "quarantined", "line_too_long")]
    assert (file.record_unit, file.rejected[0]["byte_offset"]) == ("line", 11)


def test_plain_lines_a_format_never_asked_for_are_quarantined_as_not_read(tmp_path):
    file = _file(tmp_path, "a\nb\n", "text")
    next(file.text_lines())
    file.close()
    assert _counts(file) == (2, 1, 1, 0, 0)
    assert _codes(file) == [(2, "", "quarantined", "not_read")]


def test_a_record_a_format_cannot_use_is_quarantined_once(tmp_path):
    file = _file(tmp_path, '{"token":"sk-ant-api03-' + "a" * 80 + '"}\n')
    (record,) = file.lines()
    file.quarantine(record, "first")
    file.quarantine(record, "second")
    file.duplicate(record, "third", Repetition("logs/x:9", "k", "why"))
    assert _counts(file) == (1, 0, 1, 0, 0)
    assert _codes(file) == [(1, "", "quarantined", "first")]
    assert "aaaa" not in file.rejected[0]["excerpt"]


def test_a_repetition_names_the_record_it_repeats(tmp_path):
    file = _file(tmp_path, "1\n1\n")
    records = list(file.lines())
    file.duplicate(records[1], "same_call", Repetition("logs/x:1", "k", "why"))
    assert _counts(file) == (2, 1, 0, 0, 1)
    assert file.rejected[0]["duplicate_of"] == "logs/x:1"


def test_a_second_pass_counts_nothing_twice_and_leaves_out_what_was_taken_back(tmp_path):
    file = _file(tmp_path, "1\nbroken\n\n2\n")
    for record in file.lines():
        if record.value == 1:
            file.quarantine(record, "no")
    assert [record.value for record in file.lines()] == [2]
    assert _counts(file) == (4, 1, 2, 1, 0)


def test_lines_a_format_never_asked_for_are_quarantined_as_not_read(tmp_path):
    file = _file(tmp_path, "1\n2\nbroken\n3\n")
    next(file.lines())
    file.close()
    assert _counts(file) == (4, 1, 3, 0, 0)
    assert [code for *_, code in _codes(file)] == ["not_read", "malformed_json", "not_read"]


def test_a_refused_document_is_one_quarantined_record(tmp_path):
    file = _file(tmp_path, '{"a": 1', "document")
    assert file.document() is None
    file.close()
    assert _counts(file) == (1, 0, 1, 0, 0)
    assert file.record_unit == "record"


def test_a_document_is_one_record_until_its_items_count(tmp_path):
    file = _file(tmp_path, '{"a": [1, 2], "b": [3], "c": []}', "document")
    assert file.document().value["a"] == [1, 2]
    assert list(file.items([], "/c")) == []
    assert _counts(file) == (1, 1, 0, 0, 0)
    items = list(file.items([1, 2], "/a")) + list(file.items([3], "/b"))
    assert [(item.line, item.pointer, item.value) for item in items] == [
        (None, "/a/0", 1),
        (None, "/a/1", 2),
        (None, "/b/0", 3),
    ]
    assert _counts(file) == (3, 3, 0, 0, 0)
    list(file.items([1, 2], "/a"))
    assert _counts(file) == (3, 3, 0, 0, 0)


def test_items_may_be_asked_for_before_the_document(tmp_path):
    file = _file(tmp_path, "[1, 2]", "document")
    first, _ = file.items([1, 2], "")
    file.quarantine(first, "no")
    assert [item.value for item in file.items([1, 2], "")] == [2]
    file.close()
    assert _counts(file) == (2, 1, 1, 0, 0)
    assert file.rejected[0]["pointer"] == "/0"


def test_a_document_refused_beside_its_items_is_a_record_of_its_own(tmp_path):
    file = _file(tmp_path, "[1, 2]", "document")
    list(file.items([1, 2], ""))
    file.quarantine(file.document(), "whole")
    assert _counts(file) == (3, 2, 1, 0, 0)
    assert file.rejected[0]["excerpt"] == "[1, 2]"


def test_a_document_refused_first_keeps_its_place_when_items_follow(tmp_path):
    file = _file(tmp_path, "[1, 2]", "document")
    file.quarantine(file.document(), "whole")
    list(file.items([1, 2], ""))
    assert _counts(file) == (3, 2, 1, 0, 0)


def test_items_of_a_jsonl_file_are_a_mistake_of_the_format(tmp_path):
    with pytest.raises(ValueError, match="its records are its lines"):
        _file(tmp_path, "1\n").items([1], "/a")


def test_the_document_detection_parsed_is_not_parsed_again(tmp_path):
    copy = tmp_path / "copy"
    copy.write_text("never read")
    file = LogFile("x", "0" * 64, 0, Sample("x", "document", ({"a": 1},)), copy)
    assert file.document().value == {"a": 1}


_LINE = st.one_of(
    st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"")),
    st.sampled_from(
        [b"", b" \t", b"\r", b'{"a":1}', b'{"a":', b"[1,2]", b"NaN", b"\xef\xbb\xbf1", b"\xff", b'"\\ud800"', b"null"]
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(_LINE, max_size=12),
    ended=st.booleans(),
    choices=st.lists(st.integers(0, 3), max_size=12),
    stop=st.integers(0, 12),
)
def test_every_physical_line_of_any_file_is_accounted_for(tmp_path, lines, ended, choices, stop):
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    file = _file(tmp_path, data)
    for number, record in enumerate(file.lines()):
        if number >= stop:
            break
        choice = choices[number] if number < len(choices) else 0
        if choice == 1:
            file.quarantine(record, "c")
        elif choice == 2:
            file.duplicate(record, "d", Repetition("logs/x:1", "k", "why"))
    file.close()
    lines_in, accepted, quarantined, blank, duplicates = _counts(file)
    assert lines_in == data.count(b"\n") + bool(data and not data.endswith(b"\n"))
    assert lines_in == accepted + quarantined + blank + duplicates
    assert min(accepted, quarantined, blank, duplicates) >= 0
    assert quarantined + duplicates == len(file.rejected)
    assert file.account.is_balanced


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lists=st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(), max_size=4), max_size=3),
    calls=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=6),
    refuse_whole=st.booleans(),
)
def test_every_record_of_any_document_is_accounted_for(tmp_path, lists, calls, refuse_whole):
    file = _file(tmp_path, json.dumps(lists), "document")
    for key, index in calls:
        for item in list(file.items(lists.get(key, []), f"/{key}")):
            if item.pointer.endswith(str(index)):
                file.quarantine(item, "c")
    if refuse_whole:
        file.quarantine(file.document(), "whole")
    file.close()
    asked = {key for key, _ in calls}
    items = sum(len(values) for key, values in lists.items() if key in asked)
    assert file.account.lines_in == (items + refuse_whole if items else 1)
    assert file.account.is_balanced


def _archive(tmp_path, members, **more):
    copy = tmp_path / "copy"
    with zipfile.ZipFile(copy, "w") as out:
        for name, text in members.items():
            out.writestr(name, text)
    return LogFile("logs/x", "0" * 64, copy.stat().st_size, Sample("logs/x", "archive", ({},)), copy, **more)


def test_members_of_an_archive_are_records_named_by_their_pointer(tmp_path):
    file = _archive(tmp_path, {"a/b~c.json": "[1]", "d": "{", "e": '{"x":1,"x":2}'})
    assert [(record.pointer, record.value) for record in file.members()] == [("/a~1b~0c.json", [1])]
    assert [record.value for record in file.members()] == [[1]]
    file.close()
    assert (file.record_unit, _counts(file)) == ("record", (3, 1, 2, 0, 0))
    assert _codes(file) == [
        (None, "/d", "quarantined", "malformed_json"),
        (None, "/e", "quarantined", "duplicate_member"),
    ]


def test_members_a_format_took_back_or_never_asked_for_are_accounted_for(tmp_path):
    file = _archive(tmp_path, {"a": "1", "b": "2", "c": "3"})
    file.duplicate(next(file.members()), "journal", Repetition("logs/x:/b", "k", "why"))
    file.close()
    assert _counts(file) == (3, 0, 2, 0, 1)
    assert [code for *_, code in _codes(file)] == ["journal", "not_read", "not_read"]
    assert [record.value for record in file.members()] == []
