"""Claims about files as records: every physical line is accepted, refused or blank."""

from __future__ import annotations

import errno
import io
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.strict import records
from governance_pipeline.strict.files import FileRefused
from governance_pipeline.strict.lexeme import NonFinite
from governance_pipeline.strict.limits import Limits
from governance_pipeline.strict.records import (
    Accepted,
    Blank,
    Refused,
    json_document,
    json_lines,
    read_json_document,
    read_json_lines,
    read_text_lines,
)

if TYPE_CHECKING:
    from pathlib import Path

BOM = b"\xef\xbb\xbf"
LINES = st.lists(
    st.sampled_from(
        rb'{"a":1} {"a":1,"a":2} [NaN] [1.0, ] [[[[ ]]]] null 1e999 "\ud800"'.split(b" ")
        + b"\n|\r\n|\r| |\xff|\xef\xbb\xbf|\x00|\x0c".split(b"|")
    )
    | st.binary(max_size=6),
    max_size=40,
).map(b"".join)


def lines_of(data: bytes, limits: Limits = records.LIMITS, **options: bool) -> list[Accepted | Refused | Blank]:
    return list(json_lines(io.BytesIO(data), limits, **options))


def file_of(folder: Path, data: bytes) -> Path:
    path = folder / "log.jsonl"
    path.write_bytes(data)
    return path


def codes(items: list[Any]) -> list[str]:
    return [item.code if isinstance(item, Refused) else type(item).__name__ for item in items]


def test_a_bad_line_is_refused_and_the_rest_of_the_file_goes_on(tmp_path: Path) -> None:
    data = b'{"a":1}\n{"a":\n\n[NaN]\n{"b":2,"b":3}\n\xff\n"\\ud800"\n' + b"[" * 100_000 + b"\n{}"
    items = list(read_json_lines(file_of(tmp_path, data)))
    assert codes(items) == [
        *("Accepted", "malformed_json", "Blank", "not_finite", "duplicate_member", "not_utf8", "lone_surrogate"),
        *("too_deep", "Accepted"),
    ]
    assert [item.line for item in items] == list(range(1, 10))


@given(data=LINES)
def test_every_line_of_plain_text_is_accepted_refused_or_blank(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    items = list(read_text_lines(file_of(tmp_path_factory.mktemp("text"), data)))
    assert [item.line for item in items] == list(range(1, len(items) + 1))
    assert all(item.value.encode() == item.raw for item in items if isinstance(item, Accepted))
    assert all(item.code == "not_utf8" for item in items if isinstance(item, Refused))
    assert len(items) == data.count(b"\n") + (not data.endswith(b"\n") and data not in (b"", BOM))


def test_a_refusal_tells_where_its_record_starts_and_where_reading_stopped(tmp_path: Path) -> None:
    (_, refused) = read_json_lines(file_of(tmp_path, b'{"ok":1}\n{"a":1,"a":2}\n'))
    assert refused == Refused(2, 9, "duplicate_member", '{"a":1,"a":2}', 16)


def test_an_excerpt_is_escaped_masked_and_cut() -> None:
    (refused,) = lines_of(b'{"password":"hunter2","x":"\x1b[31m' + "\u202e".encode() + b"y" * 500)
    assert isinstance(refused, Refused)
    assert refused.excerpt.startswith('{"password":"[masked:secret]","x":"\\x1b[31m\\u202eyyy')
    assert len(refused.excerpt) == 160
    assert refused.excerpt.endswith("…")


def test_a_gigabyte_in_one_line_is_one_refusal_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "one-line"
    with path.open("wb") as file:
        file.truncate(2**30)  # sparse: no disk is used
    tracemalloc.start()
    try:
        items = list(read_json_lines(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert codes(items) == ["line_too_long"]
    assert peak < 40 * 2**20


def test_a_line_of_the_bound_is_read_and_one_byte_more_is_not() -> None:
    limits = Limits(line_bytes=9)
    data = BOM + b'{"a":123}\r\n{"a":1234}\n{"a":123}\n{"a":123} '
    assert codes(lines_of(data, limits)) == ["Accepted", "line_too_long", "Accepted", "line_too_long"]


def test_a_growing_file_is_read_up_to_its_size_when_opened(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"1\n2\n3\n")
    seen = 0
    for _ in read_json_lines(path):
        seen += 1
        with path.open("ab") as file:
            file.write(b"4\n" * 10)
    assert seen == 3


def test_a_byte_order_mark_is_skipped_at_the_start_and_refused_elsewhere(tmp_path: Path) -> None:
    items = list(read_json_lines(file_of(tmp_path, BOM + b"1\n" + BOM + b"2\n" + b'"' + BOM + b'"')))
    assert codes(items) == ["Accepted", "byte_order_mark", "Accepted"]
    assert items[0] == Accepted(1, 3, b"1", 1)
    assert items[2].value == "\ufeff"


def test_line_ends_of_windows_are_accepted_and_not_part_of_the_record(tmp_path: Path) -> None:
    items = list(read_json_lines(file_of(tmp_path, b'{"a":1}\r\n\r\n \t\r\n[2]\r')))
    assert items == [Accepted(1, 0, b'{"a":1}', {"a": 1}), Blank(2, 9), Blank(3, 11), Accepted(4, 15, b"[2]\r", [2])]


@pytest.mark.parametrize("data", [b"", BOM])
def test_an_empty_file_has_no_lines(data: bytes) -> None:
    assert lines_of(data) == []


@pytest.mark.parametrize("blank", ["\x0b", "\x0c", "\u00a0", "\u2028", "\u200b", "\x00"])
def test_only_json_whitespace_is_blank(blank: str) -> None:
    assert codes(lines_of(blank.encode() + b"\n")) in (["malformed_json"], ["nul_byte"])


def test_a_last_line_without_end_is_a_line_whether_whole_or_torn() -> None:
    assert codes(lines_of(b'{"a":1}\n{"a":2}')) == ["Accepted", "Accepted"]
    assert codes(lines_of(b'{"a":1}\n{"a":2')) == ["Accepted", "malformed_json"]


def test_separators_of_unicode_do_not_end_a_line() -> None:
    assert codes(lines_of('["a\u2028b\u0085c"]\n'.encode())) == ["Accepted"]


def test_numbers_that_are_none_are_read_when_asked_for() -> None:
    (accepted,) = lines_of(b"[NaN]\n", nonfinite=True)
    assert isinstance(accepted, Accepted)
    assert type(accepted.value[0]) is NonFinite


def test_a_file_that_cannot_be_opened_is_an_error_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="not_found"):
        next(iter(read_json_lines(tmp_path / "missing")))
    with pytest.raises(FileRefused, match="not_regular_file"):
        read_json_document(tmp_path)


def test_an_error_while_reading_is_a_refusal_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(records, "open_regular", lambda _path: Broken())
    monkeypatch.setattr(records, "open_size", lambda _stream: 10)
    with pytest.raises(FileRefused, match="io_error"):
        list(read_json_lines(tmp_path / "log"))
    with pytest.raises(FileRefused, match="io_error"):
        read_json_document(tmp_path / "log")


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "empty"), (BOM, "empty"), (BOM + BOM + b"1", "byte_order_mark"), (b"{}\n{}", "trailing_data")],
)
def test_a_document_is_one_json_text_or_refused(tmp_path: Path, data: bytes, code: str) -> None:
    assert codes([read_json_document(file_of(tmp_path, data))]) == [code]


def test_a_document_has_no_line_and_counts_its_mark(tmp_path: Path) -> None:
    assert read_json_document(file_of(tmp_path, BOM + b'{\n"a": 1}\n')) == Accepted(None, 3, b'{\n"a": 1}\n', {"a": 1})
    refused = read_json_document(file_of(tmp_path, BOM + b'{\n"a": x}\n'))
    assert refused == Refused(None, 3, "malformed_json", '{\\n"a": x}\\n', 10)


def test_a_document_beyond_its_bound_is_refused_unread(tmp_path: Path) -> None:
    refused = read_json_document(file_of(tmp_path, b"[" + b"1," * 10_000 + b"1]"), Limits(document_bytes=20_000))
    assert codes([refused]) == ["document_too_large"]
    assert refused.excerpt.startswith("[1,1,1")


def test_a_document_has_bounds_of_its_own() -> None:
    data = b'{"a":1,"b":2,"c":3}'
    limits = Limits(line_bytes=10, keys=2, values=2, document_keys=3, document_values=3)
    assert codes([json_document(data, limits)]) == ["Accepted"]
    assert codes([json_document(b'{"d":0,' + data[1:], limits)]) == ["too_many_keys"]
    assert codes(lines_of(data, limits)) == ["line_too_long"]


@given(LINES, st.integers(0, 30))
def test_every_physical_line_is_one_item_and_nothing_raises(data: bytes, line_bytes: int) -> None:
    items = lines_of(data, Limits(line_bytes=line_bytes, depth=3))
    content = data.removeprefix(BOM)
    physical = content.count(b"\n") + (1 if content and not content.endswith(b"\n") else 0)
    assert [item.line for item in items] == list(range(1, physical + 1))
    for item, line in zip(items, content.split(b"\n"), strict=False):
        assert data[item.offset :].startswith(line)
        if isinstance(item, Accepted):
            assert item.raw in (line, line.removesuffix(b"\r"))
        if isinstance(item, Blank):
            assert not line.strip(b" \t\r")
        if isinstance(item, Refused):
            assert item.offset <= item.stopped_at <= item.offset + len(line)
            assert item.excerpt.isprintable()


@given(LINES)
def test_a_document_of_any_bytes_is_accepted_or_refused(data: bytes) -> None:
    assert isinstance(json_document(data), Accepted | Refused)
