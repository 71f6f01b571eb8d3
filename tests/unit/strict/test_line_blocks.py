"""Lines cut into blocks are the lines cut one by one, however the stream is read, in bounded memory."""

from __future__ import annotations

import io
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.strict.lines import HEAD_BYTES, Block, Line, line_blocks, split_lines


def one_by_one(parts):
    for part in parts:
        if isinstance(part, Line):
            yield part
            continue
        assert part.data.endswith(b"\n")
        offset = part.offset
        for number, data in enumerate(part.data[:-1].split(b"\n"), part.number):
            yield Line(number, offset, data, too_long=False, ended=True)
            offset += len(data) + 1


@given(st.text(alphabet="a\n\r", max_size=60).map(str.encode), st.integers(1, 30))
def test_blocks_hold_the_lines_that_are_cut_one_by_one(data, block_bytes):
    found = list(one_by_one(line_blocks(io.BytesIO(data), 100, block_bytes=block_bytes)))
    assert found == list(split_lines(io.BytesIO(data), 100))


def test_a_line_larger_than_a_block_comes_alone_and_cut():
    data = b"a\n" + b"x" * 50_000 + b"\nb\n"
    parts = list(line_blocks(io.BytesIO(data), 10_000, block_bytes=4_096))
    assert parts == [
        Block(1, 0, b"a\n"),
        Line(2, 2, b"x" * HEAD_BYTES, too_long=True, ended=True),
        Block(3, 50_003, b"b\n"),
    ]


def test_memory_does_not_grow_with_a_line_without_end(tmp_path):
    path = tmp_path / "one-line"
    with path.open("wb") as file:
        file.truncate(2**27)  # sparse: no disk is used
    tracemalloc.start()
    try:
        with path.open("rb") as stream:
            assert sum(1 for _ in line_blocks(stream, 2**20)) == 1
        assert tracemalloc.get_traced_memory()[1] < 24 * 2**20
    finally:
        tracemalloc.stop()
