"""Confidence events written by a test: one agent `ada`, one user `kim`, and files of their lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from governance_pipeline.confidence.fold import fold
from governance_pipeline.confidence.reading import read_lines
from governance_pipeline.confidence.replay_document import replay_document

if TYPE_CHECKING:
    from pathlib import Path

RUNTIME = "claude-code/opus-4-6/high"
REGISTRY = {
    "schema": "govern/confidence-registry/v1",
    "pools": [RUNTIME, "codex/gpt-6/none"],
    "subjects": [{"role": "agent", "subject_id": "ada"}, {"role": "user", "subject_id": "kim"}],
}


def _event(number: int, event_type: str = "correct", **more: Any) -> dict[str, Any]:
    """One event of `ada`, the nth minute of 2 March 2026; a member given as None is left out."""
    members = {
        "schema": "govern/confidence-event/v1",
        "event_id": f"e{number}",
        "ts": f"2026-03-02T{8 + number // 60:02}:{number % 60:02}:00Z",
        "day": "2026-03-02",
        "session_id": "s1",
        "role": "agent",
        "subject_id": "ada",
        "runtime": RUNTIME,
        "domain": "TECH",
        "event_type": event_type,
        **more,
    }
    return {name: value for name, value in members.items() if value is not None}


def _by_user(number: int, event_type: str = "correct", **more: Any) -> dict[str, Any]:
    """One event of the user `kim`."""
    return _event(number, event_type, **{"role": "user", "subject_id": "kim", "runtime": None, **more})


@pytest.fixture
def event():
    """Give the function that writes an event of the agent."""
    return _event


@pytest.fixture
def by_user():
    """Give the function that writes an event of the user."""
    return _by_user


@pytest.fixture
def replayed(tmp_path: Path):
    """Fold lines (objects, texts or bytes) and give the document; the registry above comes first."""

    def _replayed(*lines: Any, registry: Any = REGISTRY) -> dict[str, Any]:
        file = tmp_path / "events.jsonl"
        file.write_bytes(b"".join(_bytes(line) + b"\n" for line in (registry, *lines)))
        read = read_lines(file)
        return replay_document(read, fold(read.events, read.registry))

    return _replayed


def _bytes(line: Any) -> bytes:
    if isinstance(line, bytes):
        return line
    return line.encode() if isinstance(line, str) else json.dumps(line).encode()
