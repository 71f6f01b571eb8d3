"""The gate's tables say what was true at one moment, and keep their contracts."""

from __future__ import annotations

import json

from gate_world import FEATURES, HOUR, NOON, REPORT

from governance_pipeline.contracts.registry import validate
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.tables import gate_decisions, gate_ledger, gate_requests, gate_states

AT = NOON + HOUR


def _requests(world, *rounds, now=AT):
    return validate("gate_requests", gate_requests(rounds or ("r1",), world.verifier(now), now))


def test_five_rounds_of_which_two_are_approved_are_told_apart_with_the_reason_of_each(approved):
    for round_id, changes in {"r2": {}, "r3": {}, "r4": {"verdict": "block"}, "r5": {"mismatch": True}}.items():
        approved.make_round(round_id, **changes)
        approved.request(round_id)
    r3 = approved.history().in_force("publish", "r3")
    approved.decide(r3.request_id, "ben")
    states = gate_states(PUBLISH, ["r1", "r2", "r3", "r4", "r5", "r6"], approved.verifier(AT), AT)
    assert [(state.round_id, state.is_open, state.code) for state in states] == [
        ("r1", True, None), ("r2", False, "MISSING"), ("r3", True, None), ("r4", False, "MISSING"),
        ("r5", False, "MISSING"), ("r6", False, "DIGEST_MISMATCH"),
    ]  # fmt: skip
    assert all(state.message for state in states if not state.is_open)
    decisions = validate(
        "gate_decisions", gate_decisions(PUBLISH, [s.round_id for s in states], approved.verifier(AT), AT)
    )
    assert list(zip(decisions["round_id"], decisions["approver_id"], strict=True)) == [("r1", "ana"), ("r3", "ben")]
    shown = _requests(approved, "r1", "r2", "r3", "r4", "r5")
    assert dict(zip(shown["round_id"], shown["state"], strict=True)) == {
        "r1": "APPROVED", "r2": "PENDING", "r3": "APPROVED", "r4": "BLOCKED_POLICY", "r5": "BLOCKED_POLICY",
    }  # fmt: skip


def test_a_request_has_one_row_whatever_happened_to_it(asked):
    asked.request(now=NOON + 80 * HOUR)
    asked.make_round(surface=4.0)
    asked.request(now=NOON + 80 * HOUR)
    shown = _requests(asked, now=NOON + 81 * HOUR)
    assert list(zip(shown["state"], shown["window_number"], strict=True)) == [("SUPERSEDED", 1), ("PENDING", 0)]
    assert shown["supersedes"].tolist()[1] == asked.id
    assert json.loads(shown["actors"][0]) == ["coder-1", "service:governance-pipeline"]


def test_a_decision_row_says_who_when_what_was_shown_how_surely_and_why(approved):
    row = validate("gate_decisions", gate_decisions(PUBLISH, ["r1"], approved.verifier(AT), AT)).iloc[0]
    assert (row["approver_id"], row["assurance"], row["trust_tier"], row["reason"]) == (
        "ana",
        "key_file",
        "T0",
        "I read it",
    )
    assert (row["recorded_at"], row["ledger_seq"], row["checkpoint_count"]) == (NOON, 3, 2)
    assert row["decision_id"] == approved.decision


def test_a_closed_gate_has_no_decision_row(approved):
    approved.decide(approved.id, "ben", Verb.REVOKE)
    assert gate_decisions(PUBLISH, ["r1"], approved.verifier(AT), AT).empty
    (state,) = gate_states(PUBLISH, ["r1"], approved.verifier(AT), AT)
    assert (state.is_open, state.code, state.message) == (False, "REVOKED", "revoked by 'ben': 'I read it'")


def test_a_decision_that_was_used_still_opened_the_gate(approved):
    for asset in (FEATURES, REPORT):
        approved.guard(asset, now=AT)
    assert len(gate_decisions(PUBLISH, ["r1"], approved.verifier(AT), AT)) == 1
    assert _requests(approved)["state"].tolist() == ["CONSUMED"]


def test_the_copy_of_the_ledger_has_every_event_with_its_exact_digest(approved):
    frame = validate("gate_ledger", gate_ledger(approved.ledger))
    assert frame["type"].tolist() == ["TRUST_ROOT", "REQUESTED", "APPROVED"]
    assert frame["round_id"].tolist()[1:] == ["r1", "r1"]
    assert json.loads(frame["body"][2])["decision_id"] == approved.decision
    approved.lake.put("gate_ledger", None, frame)
