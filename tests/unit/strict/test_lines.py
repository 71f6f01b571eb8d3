"""Claims about cutting a stream into lines in bounded memory."""

from __future__ import annotations

import io
import tracemalloc
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.strict.lines import HEAD_BYTES, Line, read_blocks, split_lines

if TYPE_CHECKING:
    from pathlib import Path


class Dripping(io.BytesIO):
    """A stream that hands out less than it is asked for, as pipes and archives do."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(3, 3 if size is None or size < 0 else size))


def peak_of(work: Any) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_without_end_is_given_up_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "one-line"
    with path.open("wb") as file:
        file.truncate(2**27)  # sparse: no disk is used
    found: list[Line] = []

    def read() -> None:
        with path.open("rb") as stream:
            found.extend(split_lines(stream, 4 * 2**20))

    assert peak_of(read) < 12 * 2**20
    assert found == [Line(1, 0, b"\0" * HEAD_BYTES, too_long=True, ended=False)]


def test_a_hundred_thousand_tiny_lines_are_streamed() -> None:
    data = b"1\n" * 100_000
    count = 0

    def read() -> None:
        nonlocal count
        for _ in split_lines(io.BytesIO(data), 100, block_bytes=2**16):
            count += 1

    assert peak_of(read) < 4 * 2**20
    assert count == 100_000


def test_a_file_that_grows_without_end_comes_to_an_end() -> None:
    class Endless(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return b"x\n" * ((size or 0) // 2 + 1)

    lines = list(split_lines(Endless(), 10, size=10_000, block_bytes=100))
    assert lines[-1].offset < 10_200


def test_the_snapshot_may_end_inside_a_line() -> None:
    assert [line.data for line in split_lines(io.BytesIO(b"ab\ncdef\n"), 10, size=5)] == [b"ab", b"cd"]


def test_a_file_that_shrinks_gives_what_is_there() -> None:
    assert [line.data for line in split_lines(io.BytesIO(b"ab\ncd"), 10, size=500)] == [b"ab", b"cd"]


def test_no_bytes_are_no_line_and_a_line_feed_is_one() -> None:
    assert list(split_lines(io.BytesIO(b""), 10)) == []
    assert list(split_lines(io.BytesIO(b"\n"), 10)) == [Line(1, 0, b"", too_long=False, ended=True)]


def test_a_line_of_the_bound_is_whole_and_one_byte_more_is_too_long() -> None:
    lines = list(split_lines(io.BytesIO(b"12345\n123456\n1\n"), 5))
    assert [(line.data, line.too_long) for line in lines] == [(b"12345", False), (b"123456", True), (b"1", False)]


def test_a_long_line_keeps_its_head_and_the_next_line_its_place() -> None:
    data = b"a" * 10_000 + b"\nnext"
    first, second = split_lines(io.BytesIO(data), 5000, block_bytes=64)
    assert (first.data, first.too_long) == (b"a" * HEAD_BYTES, True)
    assert second == Line(2, 10_001, b"next", too_long=False, ended=False)


def test_only_a_line_feed_ends_a_line() -> None:
    data = "a\rb\x0bc\x0cd\x85e\u2028f\r\ng".encode()
    assert [line.data for line in split_lines(io.BytesIO(data), 100)] == [data[:-2], b"g"]


def test_offsets_count_from_where_the_stream_stood() -> None:
    stream = io.BytesIO(b"skipped a\nb")
    stream.seek(8)
    assert [line.offset for line in split_lines(stream, 10, offset=8)] == [8, 10]


def test_blocks_stop_at_the_size_asked_for() -> None:
    assert list(read_blocks(io.BytesIO(b"abcdef"), 5, 2)) == [b"ab", b"cd", b"e"]
    assert list(read_blocks(io.BytesIO(b"abc"), 0, 2)) == []


@given(
    st.lists(st.sampled_from([b"\n", b"\r", b"a", b"bcd", b"\xff"]), max_size=40).map(b"".join),
    st.integers(1, 9),
    st.integers(0, 6),
    st.sampled_from([io.BytesIO, Dripping]),
)
def test_lines_put_together_are_the_file_whatever_the_blocks(data: bytes, block: int, bound: int, kind: Any) -> None:
    lines = list(split_lines(kind(data), bound, block_bytes=block))
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert [line.data for line in lines] == expected  # all shorter than the head that is kept
    assert [line.too_long for line in lines] == [len(part) > bound for part in expected]
    assert [line.number for line in lines] == list(range(1, len(expected) + 1))
    assert [data[line.offset :][: len(line.data)] for line in lines] == expected
    assert [line.ended for line in lines[:-1]] == [True] * (len(lines) - 1 if lines else 0)
