"""Audit logs read as sets give what reading line by line gives, whatever the lines hold."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from governance_pipeline.ingest import flat_records
from governance_pipeline.ingest.extraction import Extraction
from governance_pipeline.ingest.logfile import LogFile, Sample
from governance_pipeline.ingest.native import audit_log, audit_set
from governance_pipeline.strict.limits import Limits
from governance_pipeline.strict.records import Accepted, read_json_lines

TABLES = ("core_steps", "core_runs", "core_components")
LIMITS = Limits(line_bytes=600, depth=4, keys=12, values=40)
ENTRY = {
    "timestamp": "2025-01-02T03:04:05.25+02:00",
    "agent_id": "worker",
    "run_id": "run-1",
    "input_hash": "aa",
    "tool_called": "bash",
    "output_result": 'a "quoted" line\nand a back\\slash',
    "output_hash": "bb",
    "token_cost": 0.50,
    "self_reported_status": "ok",
    "independently_verified": False,
    "verification_method": None,
    "runtime": "cli/v1/model/high",
}
LINE = json.dumps(ENTRY).encode()
BROKEN = [
    LINE[:40],
    LINE[:-1] + b",}",
    LINE[:-1] + b', "run_id": "other"}',
    LINE[:-1] + b', "run\\u005fid": "other"}',
    LINE[:-1] + b', "extra": NaN}',
    LINE.replace(b"0.5", b"-Infinity"),
    LINE.replace(b"0.5", b"nan"),
    LINE.replace(b"0.5", b"01"),
    LINE.replace(b"0.5", b"1."),
    LINE.replace(b"0.5", b'1, "x'),
    LINE.replace(b"worker", b"w\xffrker"),
    LINE.replace(b"worker", b"w\xed\xa0\x80rker"),
    LINE.replace(b"worker", b"w\x01rker"),
    LINE.replace(b"worker", b"w\x00rker"),
    LINE.replace(b"worker", b"w\trker"),
    LINE.replace(b"worker", b"w\\xrker"),
    LINE.replace(b"worker", b"w\\u12"),
    LINE.replace(b"worker", b"w\\ud800"),
    LINE.replace(b"worker", b"w\\udc00\\ud800"),
    LINE.replace(b"worker", b'wor"ker'),
    LINE.replace(b"worker", b"worker\\"),
    LINE.replace(b'"run-1"', b'""'),
    LINE.replace(b'"run-1"', b"7"),
    LINE.replace(b"false", b"0"),
    LINE.replace(b"false", b"falsey"),
    LINE.replace(b"null", b"nul"),
    LINE.replace(b"null", b'["x"]'),
    LINE.replace(b'"cli/v1/model/high"', b'{"platform": 1}'),
    LINE.replace(b": ", b" : ").replace(b", ", b" , "),
    LINE.replace(b'"worker"', b"[" * 9 + b"]" * 9),
    b"[" + LINE + b"]",
    LINE + LINE,
    LINE + b" x",
    b'"' + LINE,
    b'"',
    b"{}",
    b"\\",
    b"7",
    b" \t",
    b"",
    b"\r",
    b"\xef\xbb\xbf" + LINE,
    b"x" * 700,
    LINE[:-1] + b', "more": "' + b"x" * 600 + b'"}',
]
SOUND = [
    LINE,
    LINE + b"\r",
    b" " + LINE,
    LINE.replace(b": ", b":").replace(b", ", b","),
    LINE.replace(b"worker", "wörker \\u00e9 \\ud83d\\ude00 ✓ \\u0000 \\/ \\\\".encode()),
    LINE.replace(b"0.5", b"-0"),
    LINE.replace(b"0.5", b"1.50e+3"),
    LINE.replace(b"0.5", b"123456789012345678901234567890"),
    LINE.replace(b"0.5", b'"0.5 \\" USD"'),
    LINE.replace(b"0.5", b"true"),
    LINE.replace(b'"cli/v1/model/high"', b'""'),
    LINE.replace(b'"cli/v1/model/high"', b'"a/b"'),
    LINE.replace(b'"cli/v1/model/high"', b'"a//c"'),
    LINE.replace(b'"cli/v1/model/high"', b'{"platform": "p", "model": "m"}'),
    LINE.replace(b"worker", b"other"),
    LINE.replace(b'"worker"', b"null"),
    LINE.replace(b"run-1", b"run-2").replace(b'"ok"', b"null"),
    LINE.replace(b'"a \\"quoted\\" line', b'{"a": 1}, "x": "'),
    LINE.replace(b'"tool_called"', b'"output_path": "out/a.txt", "tool_called"'),
    LINE.replace(b'"tool_called"', b'"output_path": "../a.txt", "tool_called"'),
    b'{"run_id":"r-1"}',
    b'{"run_id":"r-1", "token_cost": 5}',
    *(
        LINE.replace(b"2025-01-02T03:04:05.25+02:00", text)
        for text in (
            b"2025-01-02 03:04:05", b"2025-02-30T00:00:00Z", b"2025-01-02T24:00:00Z", b"2025-01-02T03:04:60Z",
            b"0001-01-01T00:00:00+13:00", b"9999-12-31T23:59:59-13:00", b"2025-01-02T03:04:05.1234567Z",
            b"2025-01-02T03:04:05,5z", b"2025-01-02T03:04Z", b"2025-01-02T03:04:05-15:59", b"yesterday", b"",
            b"1969-12-31T23:59:59.999999Z", b"2025-01-02T03:04:05.999999-00:30", b"2025-01-02T03:04:05+0200",
        )
    ),
    LINE.replace(b'"2025-01-02T03:04:05.25+02:00"', b"1735787045123"),
    LINE.replace(b'"2025-01-02T03:04:05.25+02:00"', b"true"),
    LINE.replace(b'"2025-01-02T03:04:05.25+02:00"', b"null"),
]  # fmt: skip


def read(way, copy: Path, shapes: int, subjects: set[str], **more):
    """Read one file in one way; give everything that comes of it."""
    values = [entry.value for entry in read_json_lines(copy, LIMITS) if isinstance(entry, Accepted)]
    sample = Sample("logs/a.jsonl", "jsonl", tuple(v for v in values if isinstance(v, dict))[:shapes])
    file = LogFile("logs/a.jsonl", "ab" * 32, copy.stat().st_size, sample, copy, LIMITS)
    out = Extraction("r-1", digests={"out/a.txt": "cd" * 32})
    out.subjects |= subjects
    way([file], out, **more)
    file.close()
    return file, out


def assert_same(data: bytes, *, shapes: int = 20, subjects: set[str] = frozenset(), block_bytes: int = 2**22):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copy.write_bytes(data)
        slow, expected = read(audit_log.read_line_by_line, copy, shapes, subjects)
        for lines_of_a_pattern in (1, flat_records.LINES_OF_A_PATTERN):
            with patch.object(flat_records, "LINES_OF_A_PATTERN", lines_of_a_pattern):
                fast, found = read(audit_set.read_as_set, copy, shapes, subjects, block_bytes=block_bytes)
            assert fast.account == slow.account
            assert fast.rejected == slow.rejected
            assert (found.times, found.outputs) == (expected.times, expected.outputs)
            for table in TABLES:
                pd.testing.assert_frame_equal(found.frame(table), expected.frame(table))


lines = st.one_of(
    st.sampled_from(SOUND),
    st.sampled_from(BROKEN),
    st.builds(lambda at, byte: LINE[:at] + bytes([byte]) + LINE[at + 1 :], st.integers(0, len(LINE)), st.integers(0, 255)),
    st.builds(lambda at, cut: LINE[:at] + LINE[at + cut :], st.integers(0, len(LINE)), st.integers(1, 9)),
    st.builds(lambda text: json.dumps(ENTRY | {"output_result": text}).encode(), st.text(max_size=40)),
    st.builds(lambda text: json.dumps(ENTRY | {"agent_id": text}, ensure_ascii=False).encode("utf-8", "replace"), st.text()),
    st.binary(max_size=40).filter(lambda data: b"\n" not in data),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(lines, max_size=12),
    st.booleans(),
    st.sampled_from([0, 1, 20]),
    st.sampled_from([frozenset(), frozenset({"run-1"}), frozenset({"r-1", "run-1"})]),
    st.sampled_from([64, 700, 2**22]),
)
@example([*SOUND, *BROKEN], True, 20, frozenset({"r-1", "run-1"}), 2**22)
@example([line for pair in zip(SOUND, BROKEN, strict=False) for line in pair], False, 1, frozenset({"r-1"}), 3_000)
def test_a_log_read_as_a_set_gives_what_it_gives_line_by_line(parts, is_ended, shapes, subjects, block_bytes):
    data = b"\n".join(parts) + (b"\n" if is_ended else b"")
    assert_same(data, shapes=shapes, subjects=set(subjects), block_bytes=block_bytes)


def _with(value: bytes) -> bytes:
    return LINE.replace(b"null", value)


# The same number of quotes as LINE, but not its pattern; a bare value in the middle.
NEAR = [
    LINE.replace(b'"token_cost": 0.5', b'"token_cost": "0.5"').replace(b'"worker"', b"null"),
    LINE.replace(b'"token_cost": 0.5', b'"token_cost":  0.5'),
    LINE.replace(b'"token_cost": 0.5,', b'"token_cost": 0.5 ,'),
    LINE.replace(b'"token_cost": 0.5', b'"token_cost": 0.5, 7'),
    LINE.replace(b'"token_cost": 0.5', b'"token_cost": '),
    LINE.replace(b'"token_cost": 0.5', b'"token_cost": 0.5]'),
    LINE.replace(b'"token_cost": 0.5', b'"token_cost": 1.234567890123456789012345e-7'),
    LINE.replace(b'"token_cost": 0.5', b'"token_cost": nulll'),
    LINE.replace(b'"token_cost"', b'"token_cosu"'),
    LINE.replace(b'"token_cost"', b'"run_id"'),
    LINE.replace(b'"agent_id"', b'"run_id"'),
    LINE.replace(b'"agent_id": "', b'"agent_id": ["').replace(b'"worker"', b'"worker"]'),
    LINE.replace(b"}", b"} "), LINE.replace(b"}", b"}}"), LINE.replace(b"}", b""), LINE.replace(b"{", b"["),
    LINE.replace(b"worker", b'work\\"er'), LINE.replace(b"worker", b"work\\\\"), LINE.replace(b"worker", b'work\\\\"er'),
    *map(_with, (b"1", b"-1", b"true", b"truex", b"tru", b"1e5", b"01", b"", b"9" * 70, b"{}", b"[]")),
]  # fmt: skip


@pytest.mark.parametrize("ending", [b"}", b', "last": 7}', b', "last":null}', b', "last": -1.5e3 }'])
def test_lines_nearly_of_a_pattern_are_what_they_are_line_by_line(ending):
    usual, *near = (line.removesuffix(b"}") + ending for line in (LINE, *NEAR))
    mixed = [part for line in near for part in (line, usual)]
    assert_same(b"\n".join([usual, *mixed, *[usual] * 70]), subjects={"run-1"})


def test_shapes_met_only_later_in_a_file_are_learned():
    later = LINE.replace(b'"agent_id": "worker", ', b"")
    assert_same((LINE + b"\n") * 3 + (later + b"\n") * 60, shapes=1, block_bytes=4_000)


@pytest.mark.parametrize("line", [SOUND[0], SOUND[3]])
def test_a_plain_line_is_never_left_to_the_strict_parser(tmp_path, line, monkeypatch):
    monkeypatch.setattr(LogFile, "judge", lambda *_: pytest.fail("left over"))
    (tmp_path / "copy").write_bytes((line + b"\n") * 5)
    file, out = read(audit_set.read_as_set, tmp_path / "copy", 1, set())
    assert (file.account.accepted, len(out.frame("core_steps"))) == (5, 5)


def test_files_are_numbered_on_in_path_order(tmp_path):
    (tmp_path / "copy").write_bytes(LINE + b"\n" + LINE)
    out = Extraction("r-1")
    files = [LogFile(name, "ab" * 32, 9, Sample(name, "jsonl", (ENTRY,)), tmp_path / "copy") for name in ("a", "b")]
    audit_set.read_as_set(files, out)
    steps = out.frame("core_steps")
    assert list(zip(steps["path"], steps["line"], steps["step_index"], strict=True)) == [
        ("a", 1, 1), ("a", 2, 2), ("b", 1, 3), ("b", 2, 4),
    ]  # fmt: skip
    assert out.frame("core_runs")["path"].tolist() == ["a"]
    assert out.frame("core_runs")["opaque_step_count"].tolist() == [4]


def test_a_log_without_one_usable_entry_makes_no_rows(tmp_path):
    (tmp_path / "copy").write_bytes(b"7\n\n")
    file, out = read(audit_set.read_as_set, tmp_path / "copy", 0, {"r-1"})
    assert [len(out.frame(table)) for table in TABLES] == [0, 0, 0]
    assert (file.account.quarantined, file.account.blank) == (1, 1)
