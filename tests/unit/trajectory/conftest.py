"""Rounds written by a test and read into tables, as `govern features` reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from governance_pipeline.ingest.round import read_round
from governance_pipeline.pipeline import joined
from governance_pipeline.storage.content import ContentStore

if TYPE_CHECKING:
    from pathlib import Path

CONTRACT = """
schema = "govern/round/v1"
[scope]
include = ["src/**"]
public = ["src/api/**"]
module_rule = "dir:1"
[[criterion]]
id = "C1"
"""


def change(path: str, added: int | None = 1, deleted: int | None = 0, **more: Any) -> dict[str, Any]:
    return {"path": path, "added": added, "deleted": deleted, **more}


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write files below a folder; a list becomes JSON lines, a text or bytes is written as it is."""
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_bytes(content))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _bytes(content: Any) -> bytes:
    text = "".join(json.dumps(line) + "\n" for line in content) if isinstance(content, list) else content
    return text if isinstance(text, bytes) else text.encode()


@pytest.fixture
def contract() -> str:
    """Give a contract with a scope, a public boundary, a module rule and one required criterion."""
    return CONTRACT


@pytest.fixture
def file():
    """Give a function that makes one entry of `files`."""
    return change


@pytest.fixture
def tables(tmp_path):
    """Give a function that writes rounds (id -> files) and reads them into one set of raw and core tables."""

    def _tables(rounds: dict[str, dict[str, Any]]):
        store = ContentStore(tmp_path / "lake")
        read = [read_round(write(tmp_path / "rounds" / id_, files), id_, store).frames for id_, files in rounds.items()]
        return {table: joined(table, [frames[table] for frames in read]) for table in read[0]}

    return _tables


@pytest.fixture
def one_round(tables, contract):
    """Give a function that reads one round from its change events, a contract and more files."""

    def _one_round(changes: list[dict] | None, toml: str | None = contract, **more: Any):
        files = {name.replace("__", "."): content for name, content in more.items()}
        if changes is not None:
            files["changes.jsonl"] = changes
        if toml is not None:
            files["round.toml"] = toml
        return tables({"r-1": files})

    return _one_round
