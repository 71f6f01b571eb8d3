"""Claims about public agent logs: the reader's bounds and rules fit what agents really write."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance_pipeline.strict.records import Accepted, Blank, Refused, read_json_document, read_json_lines

LOGS = Path(__file__).parents[3].parent / "shared" / "data" / "real"
BROKEN = {"BabyEncryption.invalid_json.traj"}  # published broken: a text is not closed
LINES_NAMED_JSON = {"open-agent-traces_test-traces.json"}

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="the public logs are not beside this checkout")


def files_with(*suffixes: str) -> list[Path]:
    return sorted(path for path in LOGS.rglob("*") if path.suffix in suffixes and path.is_file())


def test_no_line_of_a_real_log_is_refused_and_none_disappears() -> None:
    for path in files_with(".jsonl"):
        items = list(read_json_lines(path))
        data = path.read_bytes()
        assert [item for item in items if isinstance(item, Refused)] == [], path.name
        assert len(items) == data.count(b"\n") + (not data.endswith(b"\n")), path.name
        assert all(isinstance(item, Accepted | Blank) for item in items)


def test_every_real_document_is_read_but_the_broken_ones() -> None:
    refused = {
        path.name: found.code
        for path in files_with(".json", ".traj")
        if isinstance(found := read_json_document(path), Refused)
    }
    assert refused == dict.fromkeys(BROKEN, "malformed_json") | dict.fromkeys(LINES_NAMED_JSON, "trailing_data")
