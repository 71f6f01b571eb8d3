"""Steps of verification that hold decisions to the round, the bytes, the people and the ledger.

What belongs here: from the gate named to the atomic use, one function and one question each. What does not: reading an
envelope (`envelope_steps`) and the order (`verify`).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from governance_pipeline.gate.closings import case_resolutions, closing_decisions, lost_verdicts
from governance_pipeline.gate.decision import origin_of
from governance_pipeline.gate.dismissals import lapsed_dismissals, lapsed_words
from governance_pipeline.gate.display import display_sha256, display_text
from governance_pipeline.gate.events import EventType, read_history, refuse_unusable
from governance_pipeline.gate.facts import BLOCK, failed_facts, judged_again, open_cases, passed_validators, said_of
from governance_pipeline.gate.freezes import frozen_words
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.passage import policy_ref
from governance_pipeline.gate.published import unaccounted
from governance_pipeline.trust.dsse import SignedBy
from governance_pipeline.trust.instants import instant_text
from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.threshold import require_threshold

if TYPE_CHECKING:
    from governance_pipeline.gate.passage import Offer, Passage

SKEW: Final = timedelta(seconds=120)
"""How far two clocks may differ (research/security.md b7)."""

_SHOWN_CASES: Final = 3


def checkpoint(passage: Passage) -> None:
    """WRONG_CHECKPOINT: it was given for this gate and round, under this kind of trust root, and for no other."""
    here = (passage.inputs.gate.name, passage.inputs.round_id, passage.verifier.root.is_throwaway)

    def check(offer: Offer) -> None:
        said = (offer.said.gate, offer.said.round_id, offer.said.is_throwaway)
        if said != here:
            raise Refusal(
                ReasonCode.WRONG_CHECKPOINT,
                f"it is for gate {said[0]!r}, round {said[1]!r}{', a throw-away root' if said[2] else ''}; "
                f"this is gate {here[0]!r}, round {here[1]!r}{', a throw-away root' if here[2] else ''}",
            )

    passage.each(check)


def freeze(passage: Passage) -> None:
    """FROZEN: nothing passes while a freeze covers the round."""
    frozen = passage.history.freezes.covering(passage.inputs.round_id, passage.verifier.root, passage.now)
    if frozen is not None:
        raise Refusal(ReasonCode.FROZEN, frozen_words(frozen))


def subject(passage: Passage) -> None:
    """DIGEST_MISMATCH: the manifest made anew from the bytes about to be used is the one that was signed.

    So are the text that was shown and the producers that were named; and the manifest is kept whole in the lake, so
    that what was signed can be shown for ever. The policy is taken as the decision names it; whether that one is in
    force is the next question.
    """

    def check(offer: Offer) -> None:
        said = offer.said
        manifest = passage.manifest(said.policy)
        if said.subject_sha256 != manifest.sha256:
            raise Refusal(
                ReasonCode.DIGEST_MISMATCH,
                f"approved was {said.subject_sha256}, the bytes of round {said.round_id} now make {manifest.sha256}; "
                "what changed needs its own decision",
            )
        windows = [r for r in passage.history.windows(said.request_id) if r.seq <= said.checkpoint.size]
        if not windows or windows[-1].subject_sha256 != said.subject_sha256:
            raise Refusal(ReasonCode.DIGEST_MISMATCH, f"no request {said.request_id} was made for these bytes")
        kept_manifest(passage.verifier.lake, manifest.sha256)
        resolutions = case_resolutions(manifest, passage.history, said.checkpoint.size)
        shown = display_text(windows[-1], manifest, resolutions)
        if said.display_sha256 != display_sha256(shown) or said.producers != passage.inputs.parties.producers:
            raise Refusal(ReasonCode.DIGEST_MISMATCH, "the person was shown another text than this manifest gives")

    passage.each(check)


def policy(passage: Passage) -> None:
    """POLICY_MISMATCH: it was made under the gate policy in force."""
    in_force = policy_ref(passage.verifier.policy)

    def check(offer: Offer) -> None:
        if offer.said.policy != in_force:
            raise Refusal(
                ReasonCode.POLICY_MISMATCH,
                f"it was made under policy version {offer.said.policy.version} ({offer.said.policy.sha256}), in force "
                f"is {in_force.version} ({in_force.sha256}); decide again",
            )

    passage.each(check)


def time(passage: Passage) -> None:
    """CLOCK_SUSPECT, NOT_YET_VALID, EXPIRED: inside the window, never longer than the policy gives, by a sane clock."""
    now, ttl, skew = passage.now, passage.verifier.policy.ttl, SKEW
    last = passage.history.last_ts
    if last is not None and now < last - skew:
        raise Refusal(
            ReasonCode.CLOCK_SUSPECT,
            f"it is {instant_text(now)} here, but the ledger has an event of {instant_text(last)}; set the clock",
        )

    def check(offer: Offer) -> None:
        said = offer.said
        end = min(said.expires, said.not_before + ttl)
        if now < said.not_before - skew:
            raise Refusal(ReasonCode.NOT_YET_VALID, f"it counts from {instant_text(said.not_before)} on")
        if now >= end:
            raise Refusal(ReasonCode.EXPIRED, f"it counted until {instant_text(end)}; decide again")
        decided = now if offer.event is None else offer.event.ts
        if decided >= passage.request.expires:
            raise Refusal(ReasonCode.EXPIRED, f"the request had expired at {instant_text(passage.request.expires)}")

    passage.each(check)


def independence(passage: Passage) -> None:
    """SELF_APPROVAL, NOT_INDEPENDENT: neither approver nor validator has a part in the work, judged anew."""
    trusted, inputs = passage.verifier.root, passage.inputs
    if not passage.inputs.parties.producers:
        raise Refusal(
            ReasonCode.NOT_INDEPENDENT, "nobody is known to have produced this round, so nobody is clear of it"
        )

    def check(offer: Offer) -> None:
        for signer in offer.signers:
            conflict = approver_conflict(signer.principal.id, passage.actors, trusted)
            if conflict is not None:
                raise Refusal(
                    ReasonCode.SELF_APPROVAL,
                    f"{signer.principal.id!r} has a part in the round (rule {conflict.rule}: {conflict.shared!r}); "
                    "somebody else must approve it",
                )

    passage.each(check)
    rows = judged_again(inputs, trusted, passage.verifier.policy, passage.now, passage.verifier.lake.root)
    failed = [*failed_facts(inputs.rows("audit_independence")), *failed_facts(rows)]
    if failed:
        raise Refusal(ReasonCode.NOT_INDEPENDENT, said_of(failed[0]))
    needed, found = passage.verifier.policy.minimum_validators, len(passed_validators(rows))
    if inputs.proposal is not None:  # validators judge work that was done; an act is still to be done
        return
    if found < needed:
        raise Refusal(
            ReasonCode.NOT_INDEPENDENT, f"{found} independent validators say PASSED, the policy asks {needed}"
        )


def undecidable(passage: Passage) -> None:
    """BLOCKED_POLICY: no verdict block, lapsed dismissal or open mismatch case, which no signature can wave through."""
    if passage.inputs.proposal is not None:  # it has neither verdict nor cases
        return
    status = passage.inputs.rows("verdict_rounds")[0]["status"]
    if status == BLOCK:
        raise Refusal(
            ReasonCode.BLOCKED_POLICY,
            f"the verdict of round {passage.inputs.round_id} is block; new work or a dismissal changes that",
        )
    lapsed = lapsed_dismissals(passage.inputs, passage.verifier, passage.now)
    if lapsed:
        raise Refusal(ReasonCode.BLOCKED_POLICY, lapsed_words(lapsed))
    cases = open_cases(passage.inputs, passage.history, passage.verifier, passage.actors, passage.now)
    if cases:
        named = ", ".join(case["case_id"] for case in cases[:_SHOWN_CASES])
        raise Refusal(
            ReasonCode.BLOCKED_POLICY,
            f"open mismatch cases: {len(cases)} ({named}{', …' if len(cases) > _SHOWN_CASES else ''}); "
            "a person must resolve them first: govern crosscheck cases list",
        )


def threshold(passage: Passage) -> None:
    """THRESHOLD: enough approvers, counted by the bytes of their keys and by who controls them."""
    verifier = passage.verifier
    signed = [
        SignedBy(s.principal.id, s.key.fingerprint, offer.said.on_behalf_of)
        for offer in passage.offers
        for s in offer.signers
    ]
    require_threshold(signed, verifier.root, Role.APPROVER, quorum=verifier.policy.quorum)


def standing(passage: Passage) -> None:
    """SUPERSEDED, REVOKED: it answers the request in force, and nobody has rejected or revoked since.

    Only the same person can take a rejection or revocation back, by an approval that names it.
    """
    request = passage.request

    def check(offer: Offer) -> None:
        # By the head that was signed, not by the place in the ledger: anybody can record an old envelope once more.
        is_earlier = offer.said.checkpoint.size < request.seq
        if offer.said.request_id != request.request_id or is_earlier:
            raise Refusal(
                ReasonCode.SUPERSEDED,
                f"it answers request {offer.said.request_id} of an earlier time; in force is {request.request_id}",
            )

    passage.each(check)
    replaced = {(s.principal.id, offer.said.supersedes) for offer in passage.offers for s in offer.signers}
    for closing in closing_decisions(passage.history, request, passage.verifier.root):
        if not any((principal, closing.decision_id) in replaced for principal in closing.who):
            raise Refusal(ReasonCode.REVOKED, closing.said)


def log(passage: Passage) -> None:
    """LOG_INCONSISTENT: recorded, in a ledger that still is what every approval saw, and complete."""
    verifier, history = passage.verifier, passage.history
    origin = origin_of(verifier.config)

    def check(offer: Offer) -> None:
        if offer.event is None:
            raise Refusal(ReasonCode.LOG_INCONSISTENT, "the ledger does not hold this decision; it must be recorded")
        if offer.said.origin != origin or offer.said.checkpoint.size >= offer.event.seq:
            raise Refusal(ReasonCode.LOG_INCONSISTENT, f"it was made before another ledger ({offer.said.origin!r})")
        if history.head(verifier.ledger, offer.said.checkpoint.size) != offer.said.checkpoint:
            what = f"the first {offer.said.checkpoint.size} events are not those the person saw; restore the ledger"
            raise Refusal(ReasonCode.LOG_INCONSISTENT, what)

    passage.each(check)
    refuse_unusable(history)
    for fault in history.faults(verifier.ledger, verifier.config):
        place = "the ledger" if fault.seq is None else f"event {fault.seq} of the ledger"
        raise Refusal(ReasonCode.LOG_INCONSISTENT, f"{place}: {fault.code}: {fault.message}")
    lost = lost_verdicts(history, passage.inputs)
    if lost:
        raise Refusal(
            ReasonCode.LOG_INCONSISTENT,
            f"{len(lost)} verdicts of validators that were there at an earlier request are gone, first {lost[0]}",
        )
    if passage.inputs.proposal is None:  # what an act puts in force is no file of the lake
        _refuse_unaccounted(passage)


def _refuse_unaccounted(passage: Passage) -> None:
    verifier, history = passage.verifier, passage.history
    for asset in [passage.asset] if passage.asset else passage.inputs.gate.assets:
        message = unaccounted(asset, passage.inputs.round_id, verifier.lake, history, verifier.root)
        if message is not None:  # unless another run has used and written it since the ledger was read
            message = unaccounted(
                asset, passage.inputs.round_id, verifier.lake, read_history(verifier.ledger), verifier.root
            )
        if message is not None:
            raise Refusal(ReasonCode.LOG_INCONSISTENT, message)


def consume(passage: Passage) -> None:
    """REPLAYED: no decision that counts here was used for this asset by another run. Appending is what decides a race.

    Without an asset nothing is to be used, and nothing is asked.
    """
    if passage.asset is None:
        return
    used = {
        passed.decision_id: passed
        for passed in passage.history.passages
        if passed.type is EventType.CONSUMED and passed.asset == passage.asset
    }

    def check(offer: Offer) -> None:
        passed = used.get(offer.read.payload_sha256)
        if passed is not None and passed.root_run_id != passage.root_run_id:
            raise Refusal(
                ReasonCode.REPLAYED,
                f"it was used for {passed.asset} by run {passed.root_run_id} at {instant_text(passed.ts)}; "
                "another publication needs another decision",
            )

    passage.each(check)
    try:
        threshold(passage)
    except Refusal as too_few:
        raise passage.dropped[-1][1] if passage.dropped else too_few from None
