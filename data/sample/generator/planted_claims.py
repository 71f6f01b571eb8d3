"""Faults of what is claimed: planted after the honest totals, on files, contracts and certificates."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from generator.attestation import bare_claim
from generator.declared import OF_CHANGES, declare, recompute, row_of
from generator.native import AUDIT_LOG
from generator.text import Raw, canonical, json_text, sha256

if TYPE_CHECKING:
    from generator.model import Draft


def wrong_total(draft: Draft) -> None:
    """The declared cost of the round is five cents above the sum of its entries."""
    row = row_of(draft, draft.round_id, "total_cost_usd")
    row["value"] += Decimal("0.05")
    _expect_mismatch(draft, "wrong_total", row, "the declared cost is five cents too high")


def count_off_by_one(draft: Draft) -> None:
    """The declared number of tool calls is one too many."""
    row = row_of(draft, draft.round_id, "tool_call_count")
    row["value"] += 1
    _expect_mismatch(draft, "count_off_by_one", row, "one tool call more is declared than the log has")


def _expect_mismatch(draft: Draft, fault: str, row: dict[str, object], why: str) -> None:
    declared, computed = row["value"], recompute(draft, str(row["subject"]), str(row["field"]))
    where = {
        "field": row["field"],
        "subject_id": row["subject"],
        "declared": canonical(declared),
        "computed": canonical(computed),
        "delta": canonical(Decimal(declared) - Decimal(computed)),
        "status": "mismatch",
        "reason_code": None,
    }
    draft.expect(fault, "audit_cross_checks", where, why)


def duplicate_subject(draft: Draft) -> None:
    """The cost of the round is declared twice, with two values; nobody can say which one counts."""
    first = row_of(draft, draft.round_id, "total_cost_usd")
    declare(draft, draft.round_id, "total_cost_usd", first["value"] + Decimal("0.10"))
    where = {"field": "total_cost_usd", "subject_id": draft.round_id, "status": "unverifiable"}
    where["reason_code"] = "duplicate_subject"
    draft.expect("duplicate_subject", "audit_cross_checks", where, "two rows declare one aggregate", count=2)


def declared_nan(draft: Draft) -> None:
    """The cost of the round is declared as NaN, which no strict reader takes."""
    row = row_of(draft, draft.round_id, "total_cost_usd")
    line = draft.declared.index(row)
    draft.declared[line] = Raw(json_text({**row, "value": Raw("NaN")}))
    where = {"path": "declared.jsonl", "line": line + 1, "disposition": "quarantined", "reason_code": "not_finite"}
    draft.expect("declared_nan", "raw_quarantine", where, "NaN is no JSON number")
    account = {"path": "declared.jsonl", "lines_in": len(draft.declared), "quarantined": 1, "blank": 0}
    account["accepted"] = len(draft.declared) - 1
    draft.expect("declared_nan", "raw_log_files", account, "the line is counted, not lost")


def truncated_last_line(draft: Draft) -> None:
    """The log was copied while its last entry was being written; all that is declared speaks of that log."""
    draft.declared[:] = [row for row in draft.declared if row["field"] not in OF_CHANGES]
    last = json_text(draft.audit.pop()).encode()
    draft.endings[AUDIT_LOG] = last[: len(last) // 2]
    line = len(draft.audit) + 1
    where = {"path": AUDIT_LOG, "line": line, "disposition": "quarantined", "reason_code": "malformed_json"}
    draft.expect("truncated_last_line", "raw_quarantine", where, "the last line ends in the middle")
    account = {"path": AUDIT_LOG, "lines_in": line, "accepted": line - 1, "quarantined": 1, "blank": 0, "duplicates": 0}
    draft.expect("truncated_last_line", "raw_log_files", account, "the line is counted, not lost")
    row = row_of(draft, draft.round_id, "total_cost_usd")
    record = {
        "field": "total_cost_usd",
        "subject_id": draft.round_id,
        "declared": canonical(row["value"]),
        "computed": None,
        "delta": None,
        "status": "unverifiable",
        "reason_code": "components_incomplete",
    }
    draft.expect("truncated_last_line", "audit_cross_checks", record, "the lost entry may have had a cost")


def unsupported_file(draft: Draft) -> None:
    """A console transcript lies among the logs; no format claims it."""
    path = "logs/console.txt"
    commands = [f"$ atlas run {edit[0]}\nok" for edits in draft.plan.steps for edit in edits]
    draft.files[path] = ("\n".join([*commands, f"$ {draft.plan.check}", "ok", ""])).encode()
    where = {"path": path, "format": None, "reason_code": "unsupported_format"}
    draft.expect("unsupported_file", "raw_log_files", where, "a file nobody can read is listed, never guessed at")


def no_contract(draft: Draft) -> None:
    """Nobody has written down what the round was for."""
    draft.contract = None
    where = {"contract_state": "absent", "contract_sha256": None, "objective": None}
    draft.expect("no_contract", "core_rounds", where, "there is no round.toml")
    draft.expect("no_contract", "core_criteria", {}, "no contract, no criteria", count=0)


def invalid_contract(draft: Draft) -> None:
    """Two criteria have the id C1."""
    contract = str(draft.contract).replace('id = "C2"', 'id = "C1"')
    draft.contract = contract
    where = {"contract_state": "invalid", "contract_sha256": sha256(contract), "objective": None}
    draft.expect("invalid_contract", "core_rounds", where, "criterion id C1 is used twice")
    row = {"path": "round.toml", "disposition": "quarantined"}
    draft.expect("invalid_contract", "raw_quarantine", row, "the contract is accounted for, not used")
    draft.expect("invalid_contract", "core_criteria", {}, "an invalid contract has no criteria", count=0)


def self_certification(draft: Draft) -> None:
    """The only verdict on the round is signed by the agent that did the work, in the run that did it."""
    producer = draft.project.coder
    where = {"form": "envelope", "validator_id": producer, "result": "PASSED", "signatures_count": 1}
    why = "the verifier is the producer: same agent, run, session and key"
    draft.expect("self_certification", "core_attestations", where, why)
    _expect_not_independent(draft, "self_certification", producer, why)


def bare_claim_only(draft: Draft) -> None:
    """The only verdict on the round is an unsigned line, by the producer."""
    draft.claims.append(bare_claim(draft, draft.project.coder, draft.run_id))
    where = {"form": "bare", "validator_id": draft.project.coder, "result": "PASSED", "signatures_count": 0}
    why = "an unsigned claim satisfies nothing"
    draft.expect("bare_claim", "core_attestations", where, why)
    _expect_not_independent(draft, "bare_claim", draft.project.coder, why)


def validator_descends(draft: Draft) -> None:
    """The validator has another name and key, but the builder started its run."""
    why = "the run of the validator is a child of the run it validates"
    row = {"run_id": draft.check_run_id, "parent_run_id": draft.run_id, "agent_id": draft.project.checker}
    draft.expect("validator_descends", "core_runs", row, why)
    _expect_not_independent(draft, "validator_descends", draft.project.checker, why)


def _expect_not_independent(draft: Draft, fault: str, validator_id: str, why: str) -> None:
    draft.expect(fault, "audit_independence", {"validator_id": validator_id, "is_independent": False}, why)
    draft.expect(fault, "verdict_findings", {"code": "validator-not-independent"}, why)
