"""A re-baseline closes every gate until a person has signed for all of its steps; then nothing old fits any more."""

from __future__ import annotations

import pytest
from gate_world import HOUR, NOON, NamedSigner
from rebaseline_steps import declare, resume, take, walk

from governance_pipeline.gate.display import display_text
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.ledger.rebaselines import Step, open_rebaseline, read_rebaselines
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root import Revocation

ANA, AT, LATER = NamedSigner("ana"), NOON + HOUR, NOON + 2 * HOUR


def refused(world):
    with pytest.raises(Refusal) as caught:
        world.guard(now=LATER)
    return caught.value.code


def root(world):
    return world.verifier(AT).root


def standing(world, now=LATER):
    history = world.history()
    return standing_of(history.in_force("publish", "r1"), world.verifier(now), history, now)


@pytest.mark.parametrize("last", [step for step in Step if step not in (Step.DECLARE, Step.RESUME)])
def test_nothing_passes_from_the_freeze_to_the_resumption(approved, last):
    name = walk(approved.ledger, ANA, root(approved), AT, to=last)
    assert refused(approved) is ReasonCode.FROZEN
    progress = open_rebaseline(read_rebaselines(approved.ledger), root(approved), LATER)
    assert (progress.rebaseline_id, progress.last) == (name, last)


def test_a_declaration_alone_freezes_nothing_yet(approved):
    declare(approved.ledger, ANA, AT)
    approved.guard(now=LATER)


def test_what_was_approved_under_the_old_baseline_fits_no_longer(approved):
    walk(approved.ledger, ANA, root(approved), AT)
    assert refused(approved) is ReasonCode.DIGEST_MISMATCH
    stale = standing(approved)
    assert (stale.state, stale.code) == (State.STALE, ReasonCode.DIGEST_MISMATCH)
    assert "the baseline of the project" in stale.message


def test_the_manifest_of_a_new_request_holds_the_new_version_and_can_be_approved(approved):
    before = approved.history().in_force("publish", "r1")
    walk(approved.ledger, ANA, root(approved), AT)
    request = approved.request(now=LATER)
    asked = approved.history().in_force("publish", "r1")
    manifest = kept_manifest(approved.lake, asked.subject_sha256)
    assert request != before.request_id
    assert (asked.project_baseline, manifest.document["project_baseline_version"]) == ("2.0.0", "2.0.0")
    assert "re-based" in display_text(asked, manifest, {})
    assert standing(approved).state is State.PENDING
    approved.decide(request, now=LATER)
    assert approved.guard(now=LATER + HOUR)


def test_an_event_that_lifts_freezes_does_not_lift_that_of_a_rebaseline(approved):
    walk(approved.ledger, ANA, root(approved), AT, to=Step.RECORD)
    [frozen] = approved.ledger.events(types={"FREEZE"})
    approved.ledger.append("UNFREEZE", "forger", {"freeze_seq": frozen.seq}, ts=AT)
    assert refused(approved) is ReasonCode.FROZEN


@pytest.mark.parametrize("who", ["mallory", "dot", "coder-1"])
def test_a_resumption_of_nobody_with_the_role_ends_no_freeze(approved, who):
    name = walk(approved.ledger, ANA, root(approved), AT, to=Step.RECORD)
    resume(approved.ledger, name, "2.0.0", NamedSigner(who), root(approved), AT)
    assert refused(approved) is ReasonCode.FROZEN


def test_a_resumption_signed_over_other_steps_ends_no_freeze(approved):
    name = walk(approved.ledger, ANA, root(approved), AT, to=Step.RECORD)
    other = walk(approved.ledger, ANA, root(approved), AT, to=Step.RECORD, scope_change="another change")
    envelope = resume(approved.ledger, other, "2.0.0", ANA, root(approved), AT).body["envelope"]
    take(approved.ledger, name, Step.RESUME, AT, envelope=envelope)
    assert refused(approved) is ReasonCode.FROZEN


def test_a_resumption_that_skips_a_step_ends_no_freeze(approved):
    name = declare(approved.ledger, ANA, AT)
    for step in (Step.FREEZE, Step.REDERIVE, Step.REISSUE, Step.RECORD):
        take(approved.ledger, name, step, AT)
    resume(approved.ledger, name, "2.0.0", ANA, root(approved), AT)
    assert refused(approved) is ReasonCode.FROZEN


def test_a_resumption_whose_key_was_revoked_since_counts_no_longer(approved):
    walk(approved.ledger, ANA, root(approved), AT)
    [ana] = [p for p in root(approved).principals if p.id == "ana"]
    people = [p for p in root(approved).principals if p.id != "owner"]
    revoked = Revocation(ana.keys[0].fingerprint, LATER, "lost")
    approved.write_root(*people, version=2, revocations=(revoked,), at=LATER)
    assert standing(approved).state is not State.CONSUMED
    frozen = approved.history().freezes.covering("r1", approved.verifier(LATER).root, LATER)
    assert frozen is not None


def test_a_freeze_that_names_a_rebaseline_nobody_declared_is_lifted_like_any_other(approved):
    event = approved.ledger.append("FREEZE", "ana", {"reason": "x", "rebaseline_id": "rebaseline-none"}, ts=AT)
    assert refused(approved) is ReasonCode.FROZEN
    approved.ledger.append("UNFREEZE", "ana", {"freeze_seq": event.seq}, ts=AT)
    approved.guard(now=LATER)


def test_a_step_taken_again_must_be_followed_by_all_later_ones_again(approved):
    name = walk(approved.ledger, ANA, root(approved), AT, to=Step.RECORD)
    take(approved.ledger, name, Step.REDERIVE, AT)
    progress = open_rebaseline(read_rebaselines(approved.ledger), root(approved), LATER)
    assert progress.missing == [Step.REVALIDATE, Step.REISSUE, Step.RECORD, Step.RESUME]
