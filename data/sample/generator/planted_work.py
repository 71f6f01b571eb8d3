"""Faults of the work itself: planted before the agent adds up what it has done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from generator.code_lines import code_lines, diff_text
from generator.native import add_output
from generator.text import sha256

if TYPE_CHECKING:
    from generator.model import Draft


def false_done(draft: Draft) -> None:
    """The last run of the check fails, and the agent says done."""
    check = next(entry for entry in reversed(draft.audit) if entry["tool_called"] == "run_checks")
    check["output_result"] = "2 failed, 35 passed in 3.12s"
    check["output_hash"] = sha256(check["output_result"])
    draft.evidence[-1].update(
        {"state": "refuted", "strength": 0, "exit_code": 1, "output_sha256": check["output_hash"]}
    )
    why = "the agent ends with done although the command of its required criterion failed last"
    draft.expect("false_done", "core_runs", {"run_id": draft.run_id, "self_reported_status": "done"}, why)
    last = {"criterion_id": "C1", "step_index": len(draft.plan.steps), "state": "refuted", "exit_code": 1}
    draft.expect("false_done", "core_evidence", last, why)
    draft.expect("false_done", "verdict_findings", {"code": "focused-check-failed"}, why)
    draft.expect("false_done", "verdict_findings", {"code": "criterion-without-evidence"}, "refuted is not proven")


def test_deleted(draft: Draft) -> None:
    """A whole test file goes away in the step that makes the check pass; the diff is kept as an output."""
    path, _, deleted = next(edit for edits in draft.plan.steps for edit in edits if not edit[1])
    diff = diff_text(path, code_lines(draft.dice, path, deleted), [], 1)
    data = diff.replace("\n---", "\ndeleted file mode 100644\n---", 1).encode()
    draft.files["outputs/change.diff"] = data
    add_output(draft, "write_diff", "outputs/change.diff", data)
    why = "a test file was deleted in the step after which the check passed"
    row = {"origin": "native", "file_path": path, "added_count": 0, "deleted_count": deleted}
    draft.expect("test_deleted", "core_file_changes", row, why)
    draft.expect("test_deleted", "verdict_findings", {"code": "test-deleted"}, why)


def test_disabled(draft: Draft) -> None:
    """The edit that makes the check pass is a skip marker on the test that failed."""
    path, _ = draft.plan.written[0]
    why = "the check passes because the failing test was marked to be skipped"
    row = {"origin": "native", "file_path": path, "added_count": 1, "deleted_count": 0}
    draft.expect("test_disabled", "core_file_changes", row, why)
    draft.expect("test_disabled", "verdict_findings", {"code": "test-disabled"}, why)


def goal_substitution(draft: Draft) -> None:
    """Twelve files, eleven outside the scope, and nothing that speaks for the key result."""
    draft.evidence.clear()
    draft.audit[:] = [entry for entry in draft.audit if entry["tool_called"] != "run_checks"]
    inside = sum(path.startswith("pipelines/") for edits in draft.plan.steps for path, _, _ in edits)
    files = sum(len(edits) for edits in draft.plan.steps)
    why = f"{files} files changed, {files - inside} of them outside the scope, no evidence for KR1, policy warn"
    draft.expect("goal_substitution", "core_rounds", {"contract_state": "valid", "goal_substitution": "warn"}, why)
    draft.expect("goal_substitution", "core_file_changes", {"origin": "native"}, why, count=files)
    draft.expect("goal_substitution", "core_evidence", {}, "no evidence at all", count=0)
    draft.expect("goal_substitution", "verdict_findings", {"code": "goal-substitution", "severity": "warning"}, why)


def step_gap(draft: Draft) -> None:
    """The third change event is lost: steps go 1, 2, 4, 5."""
    for event in draft.changes[2:]:
        event["step"] += 1
    for record in draft.evidence:
        record["step"] += record["step"] > 2  # noqa: PLR2004 - the last step before the gap
    why = "step 3 is missing between the change events"
    draft.expect("step_gap", "core_changes", {"step_index": 3}, why, count=0)
    draft.expect("step_gap", "core_changes", {}, "four events, the last is step 5", count=4)
    draft.expect("step_gap", "features_round", {"step_gaps": "[[3, 3]]", "aus_reason": "step_gap"}, why)


def repeated_step(draft: Draft) -> None:
    """Two different change events say they are step 2."""
    draft.changes[2]["step"] = 2
    draft.evidence[-1]["step"] = 2
    why = "two events with different content have the same step"
    draft.expect("repeated_step", "core_changes", {"step_index": 2}, why, count=2)
    unknown = json.dumps(dict.fromkeys("FLMPDH", "step_repeated"))
    draft.expect("repeated_step", "features_step_surface", {"step_index": 2, "unknown": unknown}, why)


def event_numbers_disagree(draft: Draft) -> None:
    """The second event counts five lines and one module more than its own files have."""
    event = draft.changes[1]
    for number, excess in (("L", 5), ("M", 1)):
        computed = event[number]
        event[number] += excess
        where = {"subject_id": "step-2", "field": number, "declared": str(event[number]), "computed": str(computed)}
        why = f"{number} of the event is not the {number} of its files"
        draft.expect("event_numbers_disagree", "audit_cross_checks", {**where, "status": "mismatch"}, why)
    row = {"step_index": 2, "churn_count": event["L"], "modules_count": event["M"]}
    draft.expect("event_numbers_disagree", "core_changes", row, "the numbers of the event are kept as they are")


def criterion_without_evidence(draft: Draft) -> None:
    """C2 is required and no record speaks of it."""
    why = "C2 is required, the round is final, and nothing was recorded for it"
    draft.expect("criterion_without_evidence", "core_criteria", {"criterion_id": "C2", "is_required": True}, why)
    draft.expect("criterion_without_evidence", "core_evidence", {"criterion_id": "C2"}, why, count=0)
    finding = {"code": "criterion-without-evidence", "class": "B"}
    draft.expect("criterion_without_evidence", "verdict_findings", finding, why)


def output_missing(draft: Draft) -> None:
    """A report is named and hashed in the log, but it is not in the round."""
    path = "outputs/flag_report.txt"
    entry = add_output(draft, "write_report", path, f"{draft.plan.objective}: all codes mapped\n".encode())
    where = {
        "run_id": entry["run_id"],
        "step_index": step_index(draft, entry),
        "declared_hash": entry["output_hash"],
        "computed_hash": None,
        "status": "unverifiable",
        "reason_code": "output_not_in_round",
    }
    draft.expect("output_missing", "audit_integrity", where, "the named output is not in the round")


def output_hash_mismatch(draft: Draft) -> None:
    """Somebody has changed an amount in the export after its hash was logged."""
    path = "outputs/open_items.csv"
    data = b"customer,item,open\nC-1008,R-2025-0107,86.16\nC-1011,R-2025-0108,161.13\n"
    entry = add_output(draft, "export_items", path, data)
    draft.files[path] = data.replace(b"161.13", b"61.13")
    where = {
        "run_id": entry["run_id"],
        "step_index": step_index(draft, entry),
        "hashed": "output_path",
        "declared_hash": entry["output_hash"],
        "computed_hash": sha256(draft.files[path]),
        "status": "mismatch",
        "reason_code": None,
    }
    why = "the bytes of the output are not those that were hashed"
    draft.expect("output_hash_mismatch", "audit_integrity", where, why)
    draft.expect("output_hash_mismatch", "verdict_findings", {"code": "output-hash-mismatch"}, why)


def step_index(draft: Draft, entry: dict[str, object]) -> int:
    """Give the position of an entry in its run, from 1."""
    own = [other for other in draft.audit if other["run_id"] == entry["run_id"]]
    return next(index for index, other in enumerate(own, 1) if other is entry)
