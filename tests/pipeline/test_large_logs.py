"""A log read as a set and stored as batches makes the very files that reading it line by line makes."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.ingest import rejections
from governance_pipeline.ingest.native import audit_log
from governance_pipeline.ingest.rejections import Rejections
from governance_pipeline.pipeline import TABLES
from governance_pipeline.settings import Settings
from governance_pipeline.workspace import Workspace

ENTRY = {
    "timestamp": "2025-01-02T03:04:05Z", "agent_id": "worker", "run_id": "run-1", "tool_called": "bash",
    "output_result": "a\nb", "output_hash": "00" * 32, "token_cost": 0.5, "independently_verified": True,
}  # fmt: skip


@pytest.fixture
def landing(tmp_path):
    logs = tmp_path / "landing" / "r-1" / "logs"
    logs.mkdir(parents=True)
    lines = [json.dumps(ENTRY | {"run_id": f"run-{n % 3}"}) if n % 5 else "broken" for n in range(100)]
    (logs / "a.jsonl").write_text("\n".join(lines), "utf-8")
    (logs / "b.jsonl").write_text(json.dumps(ENTRY), "utf-8")
    (logs / "z.bin").write_bytes(b"\x00")
    claim = {"subject": "run-1", "field": "cost", "value": 3, "data_type": "float"}
    (logs.parent / "declared.jsonl").write_text(json.dumps(claim), "utf-8")
    return tmp_path / "landing"


def test_every_table_has_the_same_bytes_whichever_way_the_logs_were_read(landing, tmp_path, monkeypatch):
    as_lines = Workspace(landing, tmp_path / "lines").make(TABLES, ["r-1"])
    monkeypatch.setattr(audit_log, "SETTINGS", Settings(large_log_bytes=0))
    monkeypatch.setattr(
        "governance_pipeline.ingest.logfile.Rejections", lambda folder: Rejections(folder, unpacked_rows=3)
    )
    workspace = Workspace(landing, tmp_path / "sets")
    as_sets = workspace.make(TABLES, ["r-1"])
    read = workspace.reader.read(["r-1"])[0]
    large = [name for name in read.found if read.is_spooled(name)]
    assert large == ["raw_quarantine", "core_steps", "core_components"]
    assert _digests(as_sets) == _digests(as_lines)


def _digests(made):
    return {name: {key: stored.digest for key, stored in by_round.items()} for name, by_round in made.items()}


def test_few_rows_are_never_spooled(landing, tmp_path):
    workspace = Workspace(landing, tmp_path / "lake")
    read = workspace.reader.read(["r-1"])[0]
    assert not any(read.is_spooled(name) for name in read.found)
    assert rejections.UNPACKED_ROWS > 80
