"""A second agent checks the round: the honest way, and the ways that do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generator.attestation import key_id
from generator.native import AUDIT_LOG, EVIDENCE, add_step
from generator.text import json_lines, sha256

if TYPE_CHECKING:
    from generator.model import Draft


def validate_independently(draft: Draft) -> None:
    """Add a validator with its own agent, run, session and key; it derives again what it attests."""
    _check(draft)
    draft.envelopes.append((draft.project.checker, draft.check_run_id, f"s-{sha256(draft.check_run_id)[:12]}"))


def validate_as_child(draft: Draft) -> None:
    """Add a validator that the builder itself has started: another name and key, the same ancestry."""
    _check(draft)
    for entry in draft.audit:
        if entry["run_id"] == draft.check_run_id:
            entry["parent_run_id"] = draft.run_id
    draft.envelopes.append((draft.project.checker, draft.check_run_id, f"s-{sha256(draft.check_run_id)[:12]}"))


def attest_own_work(draft: Draft) -> None:
    """Let the builder sign for its own run."""
    record = draft.audit[-1]
    record["independently_verified"] = True
    record["verification_method"] = "hash recomputed"
    draft.envelopes.append((draft.project.coder, draft.run_id, record["session_id"]))


def key_ids(drafts: list[Draft]) -> list[dict[str, str]]:
    """List the agents that signed something, each with its key id."""
    agents = sorted({verifier for draft in drafts for verifier, _, _ in draft.envelopes})
    return [{"agent_id": agent, "key_id": key_id(agent)} for agent in agents]


def _check(draft: Draft) -> None:
    run_id = draft.check_run_id
    add_step(draft, run_id, "run_checks", draft.plan.check, f"{draft.dice.between(11, 64)} passed")
    add_step(draft, run_id, "hash_file", EVIDENCE, sha256(json_lines(list(draft.evidence))))
    add_step(draft, run_id, "count_entries", AUDIT_LOG, "entries counted", self_reported_status="done")
    for entry in draft.audit:
        if entry.get("output_path") == EVIDENCE:
            entry["independently_verified"] = True
            entry["verification_method"] = "hash recomputed"
