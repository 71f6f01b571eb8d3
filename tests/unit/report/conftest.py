"""One audited round with something of everything in it, hostile names included, as document."""

from __future__ import annotations

import hashlib
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from governance_pipeline.crosscheck.builtin import not_checkable
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.pipeline import run_in_memory
from governance_pipeline.report.audit_document import audit_document
from governance_pipeline.storage.content import ContentStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

HOSTILE = (
    "\x1b[31mred\x1b[0m\x1b]8;;http://evil.example\x07link", "\u202egnp.exe\u2066", "<script>alert(1)</script>",
    "![pixel](http://evil.example/p.png)", "[red]markup[/red]", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}",
    "{0.__class__}", "n" * 10_000, "a\x00b\x07c\x9bd\x7fe", "&lt;b&gt;",
)  # fmt: skip
SECRET = "ghp_" + "A1b2" * 9


def audit_line(index: int, **members: Any) -> dict[str, Any]:
    text = f"output {index}"
    entry = {
        "timestamp": f"2026-01-05T10:{index:02d}:00Z", "agent_id": "agent-1", "run_id": "run-1", "input_hash": None,
        "tool_called": "bash", "output_result": text, "output_hash": hashlib.sha256(text.encode()).hexdigest(),
        "token_cost": 0.1, "self_reported_status": "ok", "independently_verified": False, "verification_method": None,
    }  # fmt: skip
    return entry | members


def declared(field: str, value: Any, subject: str = "run-1") -> dict[str, Any]:
    return {"subject": subject, "field": field, "value": value}


def files_of_everything() -> dict[str, bytes]:
    """Return the files of a round: a match, a mismatch, unknowns, hashes of all kinds, hostile names, a broken line."""
    claims = [declared("step_count", 5), declared("total_cost_usd", 9.5), declared("run_count", SECRET)]
    claims += [declared("step_count", 7, text) for text in HOSTILE]
    claims += [declared(text, 1) for text in HOSTILE]
    audit = [audit_line(1), audit_line(2, output_hash="0" * 64), audit_line(3, output_path="gone.txt")]
    audit += [audit_line(4, output_hash=HOSTILE[0]), audit_line(5)]
    audit += [audit_line(6, run_id=text, output_hash="f" * 64) for text in HOSTILE]
    return {
        "declared.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in claims),
        "logs/audit.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in audit),
        "changes.jsonl": b'{"step": 1, "F": 1}\n{"step": \n',
        "logs/\x1b[2J\u202e<img src=x>[red].txt": b"of no supported kind",
        "round.toml": b'schema = "govern/round/v1"\n[round]\nobjective = 3\n',
    }


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, pd.DataFrame]]:
    """Return a function that gives every table of rounds, each a dict of files."""

    def _audited(**rounds: dict[str, bytes]) -> dict[str, pd.DataFrame]:
        base = tmp_path_factory.mktemp("rounds")
        store = ContentStore(base / "store")
        read = [read_files(scan(write(base / name, files)), name, store) for name, files in rounds.items()]
        return run_in_memory(read)

    return _audited


@pytest.fixture(scope="session")
def everything(audited) -> dict[str, pd.DataFrame]:
    """Return the tables of one round with something of everything."""
    return audited(everything=files_of_everything())


@pytest.fixture(scope="session")
def document(everything) -> dict[str, Any]:
    """Return the document of that round. Tests must not change it."""
    return audit_document(everything, not_checkable(everything["core_declared"]), catalogue().meanings)


@pytest.fixture(scope="session")
def document_of(audited) -> Callable[..., dict[str, Any]]:
    """Return a function that gives the document of rounds, each a dict of files."""

    def _document_of(**rounds: dict[str, bytes]) -> dict[str, Any]:
        tables = audited(**rounds)
        return audit_document(tables, not_checkable(tables["core_declared"]), catalogue().meanings)

    return _document_of


VERDICT_TEXT = (
    "](javascript:alert(1)) [x](http://evil.example) <img src=x onerror=alert(1)> @everyone #1 | `` ``` ]]> "
    "\x1b[31m \u202e {0} {{ 7*7 }} <!-- &amp;"
)


def finding(code: str = "cross-check-mismatch", decision: str = "warn", **members: Any) -> dict[str, Any]:
    digest = (code.encode().hex() + "0" * 64)[:64]
    return {
        "finding_id": digest, "fingerprint": digest[::-1], "code": code, "class": "A", "severity": "warning",
        "required": True, "decision": decision, "reason": None, "message": VERDICT_TEXT, "factors": {VERDICT_TEXT: VERDICT_TEXT},
        "evidence": {"path": f"logs/{VERDICT_TEXT}", "file_sha256": "1" * 64, "line": 3, "pointer": "/value"},
        "first_seen": "r-1", "reproduce": f"govern verdict check --finding {digest}", "dismissed": None,
    } | members  # fmt: skip


def dismissed() -> dict[str, Any]:
    said = {
        "by": f"ana {VERDICT_TEXT}",
        "reason": VERDICT_TEXT,
        "at": "2026-11-30T12:00:00Z",
        "until": None,
        "decision": "warn",
    }
    return finding("focused-check-failed", "dismissed", dismissed=said)


def verdict_of(*findings: dict[str, Any], status: str = "unknown", **members: Any) -> dict[str, Any]:
    return {
        "schema": "govern/verdict/v1", "round_id": "r-1", "status": status, "requires_justification": False,
        "scope": "checks_executed_only", "mode": "quick", "contract": {"state": "invalid", "fault": VERDICT_TEXT},
        "baseline": {"round_id": "r-0", "is_at_hand": True}, "new_findings": list(findings), "known_findings": [],
        "criteria": [{"criterion_id": VERDICT_TEXT, "key_result_id": None, "required": True, "state": "none",
                      "strength": None, "check": VERDICT_TEXT, "check_was_seen": False, "exit_code": None,
                      "output_sha256": None}],
        "impact": [], "checks_run": [{"id": "log-accounted", "count": 4}],
        "checks_skipped": [{"id": f"cross-check:{VERDICT_TEXT}", "required": True, "reason": "check_not_run"}],
        "unknowns": [{"reason": "no_contract", "about": VERDICT_TEXT, "finding_id": None}],
        "policy": {"version": VERDICT_TEXT, "digest": "sha256:" + "2" * 64}, "inputs_digest": "sha256:" + "3" * 64,
        "duration_ms": 1, "reproduce": "govern verdict check --round r-1",
    } | members  # fmt: skip


@pytest.fixture(scope="session")
def made():
    """Verdict documents made by hand: hostile wherever text of a round can stand."""
    return SimpleNamespace(finding=finding, dismissed=dismissed, verdict_of=verdict_of, text=VERDICT_TEXT)
