"""Who had a hand in a round is collected by name, and none of them may approve it."""

from __future__ import annotations

import pytest

from governance_pipeline.contracts.registry import empty_frame
from governance_pipeline.trust.actors import round_actors
from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Kind, Role
from governance_pipeline.trust.reasons import ReasonCode

TABLES = ("core_attestations", "core_runs", "core_steps", "core_changes")


def test_agents_of_runs_steps_and_changes_and_validators_are_actors(honest, signer):
    honest.attest(signer("checker"), verifier_id="Checker")
    honest.step("build", "helper")
    honest.change(None, "ghost")
    frames = honest.frames()
    assert round_actors(*(frames[table] for table in TABLES)) == {
        "r-1": ["Checker", "checker", "coder", "ghost", "helper"]
    }


def test_a_round_that_names_nobody_has_no_actors():
    assert round_actors(*map(empty_frame, TABLES)) == {}


@pytest.fixture
def root(make_principal, make_root):
    return make_root(
        make_principal("ana", Role.APPROVER, aliases=("ana@acme",)),
        make_principal("ana-bot", kind=Kind.AGENT, keys=(), controller="ana"),
        make_principal("ben", Role.APPROVER, controller="acme"),
        make_principal("cho", Role.APPROVER, controller="acme"),
    )


@pytest.mark.parametrize(
    ("approver", "actors", "rule"),
    [
        ("ana", ["coder"], None),
        ("ana", [], None),
        ("ana", ["coder", "ANA"], "agent"),
        ("ana", ["ana@acme"], "principal"),
        ("ana", ["ana-bot"], "controller"),
        ("ben", ["cho"], "controller"),
        ("ben", ["Acme"], "controller"),
        ("ben", ["ana-bot"], None),
    ],
)
def test_nobody_approves_what_they_or_their_controller_had_a_hand_in(root, approver, actors, rule):
    found = approver_conflict(approver, actors, root)
    assert (found and found.rule) == rule
    assert found is None or found.code is ReasonCode.SELF_APPROVAL
