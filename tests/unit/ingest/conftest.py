"""A round folder written by a test, read into tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.ingest.extraction import Extraction
from governance_pipeline.ingest.logfile import LogFile, Sample
from governance_pipeline.ingest.round import read_round
from governance_pipeline.storage.content import ContentStore

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, files: dict[str, bytes | str | list]) -> Path:
    """Write files below a folder; a list becomes JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_bytes(content))
    return folder


def _bytes(content: bytes | str | list) -> bytes:
    if isinstance(content, list):
        content = "".join(json.dumps(line) + "\n" for line in content)
    return content if isinstance(content, bytes) else content.encode()


@pytest.fixture
def write_files():
    return write


@pytest.fixture
def read(tmp_path):
    """Give a function that writes a round, reads it and returns its tables."""

    def _read(files: dict[str, bytes | str | list], round_id: str = "r-1"):
        folder = write(tmp_path / "rounds" / round_id, files)
        return read_round(folder, round_id, ContentStore(tmp_path / "lake"))

    return _read


@pytest.fixture
def read_one(tmp_path):
    """Give a function that lets one format read one JSONL file: no store, no contracts, so many cases cost little."""

    def _read_one(log_format, content: bytes | str | list):
        write(tmp_path, {"copy": content})
        file = LogFile("x.jsonl", "0" * 64, 1, Sample("x.jsonl", "jsonl", ()), tmp_path / "copy")
        out = Extraction("r-1")
        log_format.read([file], out)
        file.close()
        return file, out

    return _read_one


@pytest.fixture
def rows(read):
    """Give a function that reads a round and returns the rows of one table, null as None."""

    def _rows(table: str, files: dict[str, bytes | str | list], round_id: str = "r-1") -> list[dict]:
        return list(read(files, round_id).rows(table))

    return _rows
