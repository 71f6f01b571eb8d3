"""Non-vacuity inside the steps: without this one question a vector passes that must not.

`test_vectors` leaves out whole steps; a step asks several questions, and each of them must be needed by itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from governance_pipeline.gate import envelope_steps, log_steps, passage_steps
from governance_pipeline.gate.asked_once import AskedOnce
from governance_pipeline.gate.events import History
from governance_pipeline.trust.principals import Validity
from governance_pipeline.trust.root import TrustRoot

VECTORS = {v["id"]: v for v in json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))}


def _nothing(*_, **__):
    return None


def _empty(*_, **__):
    return []


def _no(*_, **__):
    return False


QUESTIONS = [
    (TrustRoot, "is_revoked", _no, "row18-revoked-after-signing"),
    (Validity, "is_over", _no, "key-ran-out"),
    (AskedOnce, "seen_root", _nothing, "row17-older-root-restored"),
    (envelope_steps, "is_said", lambda _: True, "malformed-reason-nobody-sees"),
    (passage_steps, "kept_manifest", _nothing, "manifest-gone"),
    (passage_steps, "judged_again", _empty, "row15-table-says-yes-the-claim-is-unsigned"),
    (passage_steps, "failed_facts", _empty, "row15-validator-not-independent"),
    (passage_steps, "approver_conflict", _nothing, "row12-producer-approves"),
    (passage_steps, "open_cases", _empty, "blocked-open-case"),
    (passage_steps, "closing_decisions", _empty, "row21-revoked"),
    (passage_steps, "lost_verdicts", _empty, "row22-verdict-deleted"),
    (passage_steps, "refuse_unusable", _nothing, "junk-unfreeze"),
    (History, "faults", _empty, "row25-event-edited"),
    (log_steps, "has_log_key", _no, "seal-missing"),
    (log_steps, "kept_conflicts", _empty, "row28-the-log-signed-two-histories"),
    (log_steps, "remembered_head", _nothing, "row26-ledger-shorter-than-remembered"),
    (log_steps, "_begins_with", lambda *_: True, "row27-ledger-other-than-remembered"),
]


@pytest.mark.parametrize(("owner", "name", "careless", "vector"), QUESTIONS, ids=[f"{q[1]}" for q in QUESTIONS])
def test_without_this_question_a_forgery_passes(owner, name, careless, vector, copies, scenario, monkeypatch):
    asked = VECTORS[vector]["input"]
    scene = scenario.scene_of(copies, asked["steps"])
    assert scene.ask_library(asked).refusal is not None
    monkeypatch.setattr(owner, name, careless)
    assert scene.ask_library(asked).refusal is None
