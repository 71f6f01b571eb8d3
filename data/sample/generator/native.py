"""A plan told in the native files: audit log, change events, evidence."""

from __future__ import annotations

import math
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from generator.text import json_lines, json_text, sha256

if TYPE_CHECKING:
    from generator.model import Draft, Edit

AUDIT_LOG = "logs/audit.jsonl"
EVIDENCE = "evidence.jsonl"
CHANGES = "changes.jsonl"
_THINKING = {"coder": "high", "scout": "low", "checker": "high"}


def work(draft: Draft) -> None:
    """Fill audit log, changes and evidence of a round done by one builder, with a scout where planned."""
    is_bugfix = draft.project.task_kind == "bugfix"
    if draft.plan.has_scout:
        for path, _, _ in draft.plan.steps[0]:
            add_step(draft, draft.scout_run_id, "search", path, f"{draft.dice.between(2, 19)} matches around {path}")
    for number, edits in enumerate(draft.plan.steps, 1):
        for edit in edits:
            _edit(draft, edit)
        add_change(draft, number, edits)
        is_last = number == len(draft.plan.steps)
        _run_check(draft, number, is_passed=is_last or not is_bugfix, is_evidence=is_last or is_bugfix)


def add_step(draft: Draft, run_id: str, tool: str, subject: str, result: str, **members: Any) -> dict[str, Any]:
    """Append one entry of the audit log; its output hash is that of `result` unless given."""
    draft.clock.tick(draft.dice.between(4_000, 95_000))
    role = {draft.scout_run_id: "scout", draft.check_run_id: "checker"}.get(run_id, "coder")
    agent = {"scout": draft.project.scout, "checker": draft.project.checker}.get(role, draft.project.coder)
    entry: dict[str, Any] = {
        "timestamp": draft.clock.seconds(),
        "agent_id": agent,
        "run_id": run_id,
        "input_hash": sha256(json_text({"tool": tool, "subject": subject})),
        "tool_called": tool,
        "output_result": result,
        "output_hash": sha256(result),
        "token_cost": Decimal(draft.dice.between(2_100, 38_900)).scaleb(-6),
        "self_reported_status": "ok",
        "independently_verified": False,
        "verification_method": None,
        "session_id": f"s-{sha256(run_id)[:12]}",
        "runtime": {"platform": "bench-cli 2.4", "model": f"{role}-model-1", "thinking": _THINKING[role]},
    }
    if run_id == draft.scout_run_id:
        entry["parent_run_id"] = draft.run_id
    entry.update(members)
    draft.audit.append(entry)
    return entry


def add_change(draft: Draft, number: int, edits: tuple[Edit, ...]) -> dict[str, Any]:
    """Append one change event; every second one carries its own numbers beside the files."""
    event: dict[str, Any] = {
        "step": number,
        "ts": draft.clock.seconds(),
        "run_id": draft.run_id,
        "agent_id": draft.project.coder,
    }
    if number % 2 == 0:
        event.update(event_numbers(draft, edits))
    event["files"] = [{"path": path, "added": added, "deleted": deleted} for path, added, deleted in edits]
    draft.changes.append(event)
    return event


def event_numbers(draft: Draft, edits: tuple[Edit, ...]) -> dict[str, Any]:
    """Work out F, L, M, P and H of edits to distinct files (spec: trajectory features, version 1)."""
    churn: dict[str, int] = {}
    for path, added, deleted in edits:
        module = _module(draft, path)
        churn[module] = churn.get(module, 0) + added + deleted
    total = sum(churn.values())
    entropy = -sum(lines / total * math.log(lines / total) for lines in churn.values() if lines)
    public = sum(any(fnmatchcase(path, glob) for glob in draft.project.public) for path, _, _ in edits)
    # Six decimals: far inside the tolerance, and out of reach of a last digit that depends on the platform.
    rounded = Decimal(round(entropy * 10**6)).scaleb(-6)
    return {"F": len(edits), "L": total, "M": len(churn), "P": public, "H": rounded}


def _module(draft: Draft, path: str) -> str:
    for name, glob in draft.plan.modules:
        if fnmatchcase(path, glob):
            return name
    if draft.plan.modules:
        return "(unmatched)"
    return "/".join(path.split("/")[:-1][:2]) or "."


def _edit(draft: Draft, edit: Edit) -> None:
    path, added, deleted = edit
    length = draft.dice.between(60, 420)
    if deleted:
        add_step(draft, draft.run_id, "read_file", path, f"{path}: {length} lines")
    tool = "edit_file" if deleted and added else "write_file" if added else "delete_file"
    add_step(draft, draft.run_id, tool, path, f"{path}: {added} lines added, {deleted} deleted")


def _run_check(draft: Draft, number: int, *, is_passed: bool, is_evidence: bool) -> None:
    passed = draft.dice.between(11, 64)
    failed = 0 if is_passed else draft.dice.between(1, 3)
    result = f"{passed} passed" if is_passed else f"{failed} failed, {passed} passed"
    result += f" in {draft.dice.between(80, 900) / 100:.2f}s"
    add_step(draft, draft.run_id, "run_checks", draft.plan.check, result)
    if is_evidence:
        add_evidence(draft, number, "C1", draft.plan.check, result, is_passed=is_passed)


def add_evidence(draft: Draft, step: int, criterion: str, command: str, output: str, *, is_passed: bool) -> None:
    """Append what one run of a command says about a criterion."""
    draft.evidence.append(
        {
            "step": step,
            "ts": draft.clock.seconds(),
            "criterion_id": criterion,
            "state": "proven" if is_passed else "refuted",
            "strength": 1 if is_passed else 0,
            "command": command,
            "exit_code": 0 if is_passed else 1,
            "output_sha256": sha256(output),
        }
    )


def add_output(draft: Draft, tool: str, path: str, data: bytes) -> dict[str, Any]:
    """Append the step that wrote `path`, with the hash of the bytes; the file itself is not added."""
    result = f"{len(data)} bytes written to {path}"
    return add_step(draft, draft.run_id, tool, path, result, output_path=path, output_hash=sha256(data))


def hand_over(draft: Draft) -> None:
    """End the work: the record of the round is hashed, and the agent says done."""
    path, rows = (EVIDENCE, draft.evidence) if draft.evidence else (CHANGES, draft.changes)
    add_output(draft, "record_round", path, json_lines(list(rows)))["self_reported_status"] = "done"
