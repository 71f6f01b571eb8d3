"""The state of a request is a fold of events, the time and the digests in force: nothing is stored, nothing runs."""

from __future__ import annotations

import pytest
from gate_world import FEATURES, HOUR, NOON, REPORT

from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.trust.reasons import ReasonCode


def _state(world, now=NOON + HOUR, which=-1):
    history = world.history()
    standing = standing_of(history.requests[which], world.verifier(now), history, now)
    return standing.state, standing.code


def test_a_request_is_pending_until_it_is_decided_and_expired_after_its_time_without_anybody_doing_anything(asked):
    assert _state(asked) == (State.PENDING, ReasonCode.MISSING)
    assert _state(asked, NOON + 72 * HOUR) == (State.EXPIRED, ReasonCode.EXPIRED)


def test_an_approval_opens_until_it_runs_out(approved):
    assert _state(approved) == (State.APPROVED, None)
    assert _state(approved, NOON + 72 * HOUR) == (State.EXPIRED, ReasonCode.EXPIRED)


def _message(world, now):
    history = world.history()
    return standing_of(history.requests[-1], world.verifier(now), history, now).message


def test_what_ran_out_says_how_it_stood(asked):
    late = NOON + 72 * HOUR
    assert _message(asked, late).startswith("nobody decided it before 2026-12-03T12:00:00.000000Z")
    asked.decide(asked.id)
    assert "nobody decided" not in (said := _message(asked, late))
    assert said.startswith("it ran out at 2026-12-03T12:00:00.000000Z, and its approvals do not count now: ")


@pytest.mark.parametrize("changes", [{"verdict": "block"}, {"mismatch": True}, {"agents": ()}])
def test_a_blocked_request_runs_out_too_and_is_asked_again(world, changes):
    late = NOON + 72 * HOUR
    world.make_round(**changes)
    first = world.request()
    assert _state(world, late) == (State.EXPIRED, ReasonCode.EXPIRED)
    assert "while nobody could decide it" in _message(world, late)
    assert world.request(now=late) == first
    assert [r.window for r in world.history().requests] == [0, 1]
    assert _state(world, late)[0] is State.BLOCKED_POLICY


def test_junk_in_the_ledger_approves_nothing_and_closes_nothing(asked):
    statement = asked.statement(asked.id)
    asked.forge(b"approved!", statement)
    assert _state(asked) == (State.PENDING, ReasonCode.MALFORMED)
    asked.forge(b"revoked!", statement, type="REVOKED")
    asked.forge(asked.sign(asked.statement(asked.id, verb=Verb.REJECT), "mallory"), statement, type="REJECTED")
    asked.decide(asked.id)
    assert _state(asked) == (State.APPROVED, None)


@pytest.mark.parametrize(("verb", "state"), [(Verb.REJECT, State.REJECTED), (Verb.REVOKE, State.REVOKED)])
def test_closing_decisions_give_their_own_state_also_after_the_approval_was_used(approved, verb, state):
    for asset in (FEATURES, REPORT):
        approved.guard(asset, now=NOON)
    assert _state(approved) == (State.CONSUMED, None)
    approved.forge(
        approved.sign(approved.statement(approved.id, verb=verb), "ben"),
        approved.statement(approved.id),
        type=f"{verb}ED".replace("EE", "E"),
    )
    assert _state(approved) == (state, ReasonCode.REVOKED)


def test_it_is_consumed_only_when_every_asset_of_the_gate_has_used_it(approved):
    approved.guard(FEATURES, now=NOON)
    assert _state(approved) == (State.APPROVED, None)
    approved.guard(REPORT, now=NOON)
    assert _state(approved) == (State.CONSUMED, None)


def test_it_is_stale_as_soon_as_a_table_or_the_policy_changes_and_superseded_once_asked_anew(asked):
    asked.write_policy(ttl_hours=24)
    assert _state(asked) == (State.STALE, ReasonCode.POLICY_MISMATCH)
    asked.write_policy()
    asked.make_round(surface=4.0)
    assert _state(asked) == (State.STALE, ReasonCode.DIGEST_MISMATCH)
    asked.request()
    assert _state(asked, which=0) == (State.SUPERSEDED, ReasonCode.SUPERSEDED)
    assert _state(asked) == (State.PENDING, ReasonCode.MISSING)


def test_the_new_request_of_changed_work_waits_although_the_old_one_was_approved(approved):
    approved.make_round(surface=4.0)
    approved.request()
    assert _state(approved) == (State.PENDING, ReasonCode.MISSING)


def test_it_is_stale_when_the_code_of_the_gate_changes(asked, monkeypatch):
    from governance_pipeline.gate import states

    monkeypatch.setattr(states, "gate_code_sha256", lambda: "0" * 64)
    assert _state(asked) == (State.STALE, ReasonCode.DIGEST_MISMATCH)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"verdict": "block"}, ReasonCode.BLOCKED_POLICY),
        ({"mismatch": True}, ReasonCode.BLOCKED_POLICY),
        ({"agents": ()}, ReasonCode.NOT_INDEPENDENT),
        ({"validator": "checker", "independent": False}, ReasonCode.NOT_INDEPENDENT),
        ({"validator": "checker", "independent": None}, ReasonCode.NOT_INDEPENDENT),
    ],
)
def test_what_no_signature_can_wave_through_is_blocked_by_policy(world, changes, code):
    world.make_round(**changes)
    world.request()
    assert _state(world) == (State.BLOCKED_POLICY, code)


@pytest.mark.parametrize("verdict", ["pass", "warn", "unknown"])
def test_unknown_and_warn_may_be_decided(world, verdict):
    world.make_round(verdict=verdict)
    world.request()
    assert _state(world) == (State.PENDING, ReasonCode.MISSING)


def test_a_resolved_case_blocks_no_longer_and_a_resolution_nobody_signed_changes_nothing(world, scenario):
    scene = scenario.Scene(world)
    scene.play([["round", {"mismatch": True}], ["ask"], ["resolve", {"sign": False}]])
    assert _state(world) == (State.BLOCKED_POLICY, ReasonCode.BLOCKED_POLICY)
    scene.play([["resolve"]])
    assert _state(world) == (State.PENDING, ReasonCode.MISSING)


def test_one_of_two_approvals_leaves_it_pending_and_says_how_many_are_needed(world):
    world.write_policy(quorum=2)
    request = world.request()
    world.decide(request)
    assert _state(world) == (State.PENDING, ReasonCode.THRESHOLD)
    world.decide(request, "ben")
    assert _state(world) == (State.APPROVED, None)
