"""Small rounds in a landing area: two versions of the same rounds, written by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = ("r-1", "r-2")


def audit_entry(index: int, cost: float) -> dict:
    return {
        "timestamp": f"2026-01-05T10:{index:02d}:00Z", "agent_id": "agent-1", "run_id": "run-1",
        "tool_called": "bash", "output_result": f"output {index}", "token_cost": cost, "self_reported_status": "ok",
    }  # fmt: skip


def write_round(folder: Path, version: int, parent: str | None = None) -> Path:
    """Write a native round; every table of the pipeline differs between two versions of it."""
    entries = [audit_entry(index, 0.1 * version) for index in range(1, 3 + version)]
    files = {
        "logs/audit.jsonl": entries,
        "declared.jsonl": [{"subject": "run-1", "field": "step_count", "value": 3}],
        "changes.jsonl": [{"step": 1, "F": version, "files": [{"path": "src/a.py", "added": version, "deleted": 0}]}],
        "evidence.jsonl": [
            {"step": 1, "criterion_id": "C1", "state": "proven", "strength": 0.5 + 0.25 * (version - 1)}
        ],
    }
    for name, lines in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    contract = f'schema = "govern/round/v1"\n[round]\nobjective = "version {version}"\n'
    contract += f'parent = "{parent}"\n' if parent else ""
    contract += '[scope]\ninclude = ["src/**"]\n[[criterion]]\nid = "C1"\n'
    (folder / "round.toml").write_text(contract, "utf-8")
    return folder


@pytest.fixture(scope="session")
def write():
    """Return the function that writes a round."""
    return write_round


@pytest.fixture
def landing(tmp_path) -> Path:
    """Return a landing area with two rounds, the second continuing the first."""
    folder = tmp_path / "landing"
    for name in ROUNDS:
        write_round(folder / name, 1, "r-1" if name == "r-2" else None)
    return folder
