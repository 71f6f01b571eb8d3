"""All rounds of the sample: which fault is in which, and the files of each."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from generator import (
    claude_code,
    plans_atlas,
    plans_billing,
    plans_parser,
    planted_agents,
    planted_claims,
    planted_work,
    trajectories,
    validation,
)
from generator.attestation import envelope
from generator.contract import contract_text
from generator.declared import count_declared, declare_honestly
from generator.dice import Dice
from generator.model import Draft
from generator.native import AUDIT_LOG, CHANGES, EVIDENCE, hand_over
from generator.native import work as native_work
from generator.projects import ATLAS, BILLING, PARSER
from generator.text import Clock, json_lines, json_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from generator.model import Plan, Project

DAYS_BETWEEN_ROUNDS = 6

WORK_FAULTS: dict[str, Callable[[Draft], None]] = {
    "parser-0006": planted_work.false_done,
    "parser-0007": planted_work.test_deleted,
    "parser-0009": planted_work.step_gap,
    "parser-0012": planted_work.test_disabled,
    "billing-0008": planted_work.output_hash_mismatch,
    "billing-0012": planted_work.repeated_step,
    "atlas-0003": planted_work.goal_substitution,
    "atlas-0007": planted_work.output_missing,
    "atlas-0009": planted_work.event_numbers_disagree,
    "atlas-0012": planted_work.criterion_without_evidence,
}
VALIDATIONS: dict[str, Callable[[Draft], None]] = {
    "parser-0002": validation.validate_independently,
    "billing-0001": validation.validate_independently,
    "billing-0004": validation.attest_own_work,
    "billing-0010": validation.validate_as_child,
    "atlas-0010": validation.validate_independently,
    "atlas-0012": validation.validate_independently,
}
CLAIM_FAULTS: dict[str, Callable[[Draft], None]] = {
    "parser-0004": planted_claims.wrong_total,
    "parser-0008": planted_claims.truncated_last_line,
    "billing-0003": planted_claims.count_off_by_one,
    "billing-0004": planted_claims.self_certification,
    "billing-0005": planted_claims.bare_claim_only,
    "billing-0009": planted_claims.duplicate_subject,
    "billing-0010": planted_claims.validator_descends,
    "atlas-0005": planted_claims.no_contract,
    "atlas-0006": planted_claims.invalid_contract,
    "atlas-0008": planted_claims.declared_nan,
    "atlas-0011": planted_claims.unsupported_file,
}
SESSIONS: dict[str, dict[str, Any]] = {
    "parser-0010": {"sub_agents": 1, "in_files": True},
    "parser-0011": {"sub_agents": 1, "repeats": 1},
    "parser-0012": {},
    "billing-0002": {"sub_agents": 1},
    "billing-0007": {"sub_agents": 2, "in_files": True},
}
SESSION_FAULTS: dict[str, Callable[[claude_code.Session], None]] = {
    "parser-0011": planted_agents.repeated_message_id,
    "billing-0007": planted_agents.subagent_totals_wrong,
}
TRAJECTORY_FAULTS: dict[str, Callable[[Draft, dict[str, Any]], None]] = {"atlas-0004": planted_agents.unpriced_model}


def all_rounds() -> list[Draft]:
    """Write every round, ordered by project and number."""
    books: tuple[tuple[Project, tuple[Plan, ...]], ...] = (
        (ATLAS, plans_atlas.PLANS),
        (BILLING, plans_billing.PLANS),
        (PARSER, plans_parser.PLANS),
    )
    return [_round(project, plan) for project, plans in books for plan in plans]


def files_of(draft: Draft) -> dict[str, bytes]:
    """Give the files of a round folder: path below it -> bytes."""
    files = dict(draft.files)
    if draft.contract is not None:
        files["round.toml"] = draft.contract.encode()
    rows = (
        (AUDIT_LOG, draft.audit),
        (CHANGES, draft.changes),
        ("declared.jsonl", draft.declared),
        (EVIDENCE, draft.evidence),
    )
    files.update({path: json_lines(list(values)) for path, values in rows if values})
    for path, ending in draft.endings.items():
        files[path] += ending
    attested = [envelope(draft, files, *signer) for signer in draft.envelopes] + draft.claims
    if attested:
        files["attestations.jsonl"] = json_lines(attested)
    return dict(sorted(files.items()))


def _round(project: Project, plan: Plan) -> Draft:
    round_id = f"{project.prefix}-{plan.number:04d}"
    start = project.first_round_at + timedelta(days=DAYS_BETWEEN_ROUNDS * (plan.number - 1))
    draft = Draft(round_id, project, plan, Dice(round_id), Clock(start))
    draft.contract = contract_text(draft)
    finish = _WORK[plan.kind](draft)
    WORK_FAULTS.get(round_id, _nothing)(draft)
    if draft.audit:
        hand_over(draft)
    VALIDATIONS.get(round_id, _nothing)(draft)
    declare_honestly(draft)
    CLAIM_FAULTS.get(round_id, _nothing)(draft)
    finish()
    count_declared(draft)
    return draft


def _native(draft: Draft) -> Callable[[], None]:
    native_work(draft)
    return lambda: None


def _claude_code(draft: Draft) -> Callable[[], None]:
    session = claude_code.work(draft, **SESSIONS[draft.round_id])
    fault = SESSION_FAULTS.get(draft.round_id)
    if fault is not None:
        fault(session)
    return lambda: claude_code.close(session)


def _mini_swe_agent(draft: Draft) -> Callable[[], None]:
    document = trajectories.mini_swe_agent(draft)
    draft.tally.match += 2  # cost and calls
    fault = TRAJECTORY_FAULTS.get(draft.round_id)
    if fault is not None:
        fault(draft, document)
    draft.files[f"logs/{draft.run_id}.traj.json"] = f"{json_text(document)}\n".encode()
    return lambda: None


def _swe_agent(draft: Draft) -> Callable[[], None]:
    document = trajectories.swe_agent(draft)
    draft.tally.match += 2  # calls, by steps and by messages
    draft.files[f"logs/{draft.run_id}.traj"] = f"{json_text(document)}\n".encode()
    return lambda: None


def _nothing(_: Draft) -> None:
    """Leave the round as it is."""


_WORK: dict[str, Callable[[Draft], Callable[[], None]]] = {
    "native": _native,
    "claude_code": _claude_code,
    "mini_swe_agent": _mini_swe_agent,
    "swe_agent": _swe_agent,
}
