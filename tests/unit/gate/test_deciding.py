"""A decision is recorded only when it would count, by whoever may make it, and on what was really read."""

from __future__ import annotations

import os

import pytest
from gate_world import FEATURES, HOUR, NOON, NamedSigner

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.bulk import decide_each
from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.decision import Verb, decision_of
from governance_pipeline.gate.display import closing_text, display_sha256
from governance_pipeline.gate.shown import shown
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.trust import dsse
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import statement_of

CLOCK = {"clock": lambda: NOON, "nonces": lambda: "0" * 32}


def _refused(world, *arguments, **more) -> ReasonCode:
    size = world.ledger.size()
    with pytest.raises(Refusal) as refused:
        world.decide(world.id, *arguments, **more)
    assert world.ledger.size() == size, "a refused decision was recorded"
    return refused.value.code


@pytest.mark.parametrize(
    ("who", "code"),
    [("mallory", "UNTRUSTED_KEY"), ("dot", "UNTRUSTED_KEY"), ("coder-1", "UNTRUSTED_KEY"), ("owner", "UNTRUSTED_KEY")],
)
def test_nobody_but_an_approver_decides(asked, who, code):
    for verb in (Verb.APPROVE, Verb.REJECT):
        assert _refused(asked, who, verb) == code


def test_a_producer_does_not_approve_but_may_say_no(world):
    world.make_round(agents=("coder-pia",))
    world.id = world.request()
    assert _refused(world, "pia") is ReasonCode.SELF_APPROVAL
    world.decide(world.id, "pia", Verb.REJECT)


@pytest.mark.parametrize("reason", ["", " \n", "x" * 2001])
def test_a_reason_is_needed_and_has_an_end(asked, reason):
    with pytest.raises(UsageError, match="cannot be signed as a decision"):
        asked.decide(asked.id, reason=reason)


def test_an_id_that_names_no_request_or_several_is_a_usage_error(asked):
    for name in ("", "zzz"):
        with pytest.raises(UsageError, match="no request begins with"):
            asked.decide(name)
    asked.make_round("r2")
    asked.request("r2")
    first, second = (r.request_id for r in asked.history().requests)
    common = next((first[:n] for n in range(1, 64) if first[: n + 1] != second[: n + 1]), "")
    if common and second.startswith(common):
        with pytest.raises(UsageError, match="several requests begin"):
            asked.decide(common)


def test_what_is_signed_names_everything_it_depends_on(approved):
    (recorded,) = approved.history().decisions
    envelope = dsse.parse_envelope(recorded.envelope)
    said = decision_of(statement_of(envelope))
    (request,) = approved.history().requests
    assert envelope.payload_sha256 == approved.decision == recorded.decision_id
    assert (said.verb, said.gate, said.round_id, said.request_id) == (Verb.APPROVE, "publish", "r1", approved.id)
    assert said.subject_sha256 == request.subject_sha256
    assert said.display_sha256 == shown(approved.verifier(), approved.id, NOON).display_sha256
    assert said.producers == ("coder-1",)
    assert said.checkpoint == approved.ledger.head(recorded.seq - 1)
    assert said.expires - said.not_before == 72 * HOUR
    assert (said.trust_tier, said.assurance, said.is_throwaway) == ("T0", "key_file", False)


def test_a_throw_away_root_is_marked_in_every_decision_made_with_it(world):
    world.write_root(*world.verifier().root.principals[1:], version=2, is_throwaway=True)
    world.decide(world.request())
    (recorded,) = world.history().decisions
    assert decision_of(statement_of(dsse.parse_envelope(recorded.envelope))).is_throwaway is True


def test_the_second_of_two_approvals_is_refused_and_names_the_state(approved):
    assert _refused(approved, "ben") is ReasonCode.REPLAYED
    assert _refused(approved, "ana", now=NOON + HOUR) is ReasonCode.REPLAYED


def test_with_two_needed_the_same_person_does_not_count_twice(world):
    world.write_policy(quorum=2)
    world.id = world.request()
    world.decide(world.id, "ben")
    assert _refused(world, "ben", now=NOON + HOUR) is ReasonCode.REPLAYED
    world.decide(world.id, "cho", now=NOON + HOUR)  # another person, the same controller: recorded, not counted
    with pytest.raises(Refusal, match="THRESHOLD"):
        world.guard(now=NOON + HOUR)
    world.decide(world.id, "ana", now=NOON + HOUR)
    world.guard(now=NOON + HOUR)


def test_a_round_nobody_is_known_to_have_made_cannot_be_approved(world):
    world.make_round(agents=())
    world.id = world.request()
    assert _refused(world) is ReasonCode.NOT_INDEPENDENT


def test_what_is_stale_superseded_expired_blocked_or_used_up_cannot_be_approved(asked, copies):
    assert _refused(asked, now=NOON + 80 * HOUR) is ReasonCode.EXPIRED
    asked.make_round(surface=4.0)
    assert _refused(asked) is ReasonCode.DIGEST_MISMATCH
    asked.request()
    assert _refused(asked) is ReasonCode.SUPERSEDED
    blocked = copies()
    blocked.make_round(verdict="block")
    blocked.id = blocked.request()
    assert _refused(blocked) is ReasonCode.BLOCKED_POLICY
    used = copies("approved")
    used.id = used.history().requests[0].request_id
    for asset in ("published_features", "published_round_report"):
        used.guard(asset, now=NOON)
    assert _refused(used) is ReasonCode.REPLAYED


def test_only_who_closed_it_can_open_it_again(approved):
    approved.decide(approved.id, "ben", Verb.REVOKE)
    assert _refused(approved, "ana") is ReasonCode.REVOKED
    assert _refused(approved, "ben", Verb.REVOKE) is ReasonCode.REVOKED
    approved.decide(approved.id, "ben", now=NOON + HOUR)
    approved.guard(now=NOON + HOUR)


def test_there_is_nothing_to_revoke_before_somebody_approved(asked):
    assert _refused(asked, "ana", Verb.REVOKE) is ReasonCode.MISSING


def test_an_approval_used_already_can_still_be_revoked_and_is_remembered(approved):
    for asset in ("published_features", "published_round_report"):
        approved.guard(asset, now=NOON)
    approved.decide(approved.id, "ana", Verb.REVOKE)
    assert approved.events("REVOKED") == ["REVOKED"]


def test_an_approval_can_be_taken_back_although_a_table_is_gone(approved):
    approved.lake.path("core_runs", "r1").unlink()
    approved.decide(approved.id, "ben", Verb.REVOKE)
    assert approved.events("REVOKED") == ["REVOKED"]


def _without(path):
    path.unlink()


def _empty(path):
    path.unlink()
    path.write_bytes(b"{}")


def _pipe(path):
    path.unlink()
    os.mkfifo(path)


def _no_lake(path):
    path.parents[1].rename(path.parents[1].with_name("elsewhere"))


@pytest.mark.parametrize("spoil", [_without, _empty, _pipe, _no_lake])
@pytest.mark.parametrize("verb", [Verb.REVOKE, Verb.REJECT])
def test_closing_needs_neither_manifest_nor_lake_and_nothing_passes_without_them(approved, spoil, verb):
    (request,) = approved.history().requests
    spoil(approved.lake.root / "manifests" / f"{request.subject_sha256}.json")
    with pytest.raises(Refusal, match="DIGEST_MISMATCH"):
        approved.guard()
    (result,) = decide_each(
        approved.verifier(), [approved.id], verb, "too late", NamedSigner("ben"), confirmed=lambda _: None, **CLOCK
    )
    assert (result["recorded"], result["code"]) == (True, "REVOKED")
    said = decision_of(statement_of(dsse.parse_envelope(approved.history().decisions[-1].envelope)))
    assert (said.verb, said.producers, said.subject_sha256) == (verb, (), request.subject_sha256)
    assert said.display_sha256 == display_sha256(closing_text(request))


def test_asking_again_makes_a_lost_manifest_whole_and_the_approval_counts_as_before(approved):
    (request,) = approved.history().requests
    _empty(approved.lake.root / "manifests" / f"{request.subject_sha256}.json")
    with pytest.raises(StorageError, match="is damaged; make gate_requests again"):
        approved.decide(approved.id, "ben")
    approved.request()
    assert approved.events("REQUESTED") == ["REQUESTED"]
    approved.guard()


def test_a_rejection_of_what_is_stale_holds_when_the_tables_come_back(approved):
    approved.make_round(surface=4.0)
    approved.decide(approved.id, "ben", Verb.REJECT)
    approved.make_round()
    with pytest.raises(Refusal, match="REVOKED: rejected by 'ben'"):
        approved.guard()


JUNK = [
    ("UNFREEZE", {"freeze_seq": 999}),
    ("APPROVED", {"round_id": "r1"}),
    ("REQUESTED", {"gate": "publish"}),
    ("FREEZE", {"round_id": "r1"}),
    ("CASE_RESOLVED", {}),
]


@pytest.mark.parametrize(("kind", "body"), JUNK)
def test_a_junk_event_closes_the_gate_and_keeps_nobody_from_revoking(approved, kind, body):
    junk = approved.ledger.append(kind, "forger", body, ts=NOON)
    with pytest.raises(Refusal, match=rf"LOG_INCONSISTENT: event {junk.seq} .*Rejecting and revoking still work"):
        approved.guard()
    (result,) = decide_each(
        approved.verifier(), [approved.id], Verb.REVOKE, "late", NamedSigner("ben"), confirmed=lambda _: None, **CLOCK
    )
    assert (result["recorded"], result["state"]) == (True, "REVOKED")
    (refused,) = decide_each(
        approved.verifier(), [approved.id], Verb.APPROVE, "fine", NamedSigner("ben"), confirmed=lambda _: None, **CLOCK
    )
    assert (refused["recorded"], refused["code"]) == (False, "LOG_INCONSISTENT")


def test_a_freeze_two_people_lift_at_once_is_lifted(approved):
    freeze = approved.ledger.append("FREEZE", "dot", {"round_id": "r1", "reason": "look"}, ts=NOON)
    for who in ("dot", "eve"):
        approved.ledger.append("UNFREEZE", who, {"freeze_seq": freeze.seq}, ts=NOON)
    approved.guard()


def test_a_revocation_by_a_clock_that_runs_ahead_closes_its_request_and_no_other(approved):
    approved.make_round("r2")
    other = approved.request("r2")
    approved.decide(approved.id, "ben", Verb.REVOKE, now=NOON + 200 * 24 * HOUR)
    approved.decide(other, "ana", now=NOON + HOUR)
    approved.guard(FEATURES, "r2", now=NOON + HOUR)


def test_what_changed_while_it_was_read_is_not_signed(asked):
    with pytest.raises(Refusal, match="DIGEST_MISMATCH: what is to be decided has changed"):
        decide(
            asked.verifier(), asked.id, Verb.APPROVE, "read", NamedSigner("ana"), now=NOON, nonce="0" * 32,
            seen_sha256="0" * 64,
        )  # fmt: skip
    assert asked.events("APPROVED") == []


def test_a_decision_made_while_others_were_recorded_is_made_anew_on_the_newest_head(asked, monkeypatch):
    append, left = Ledger.append, [2]

    def disturbed(self, type, actor, body, **more):  # noqa: A002
        if left[0] and type == "APPROVED":
            left[0] -= 1
            append(self, "NOTE", "somebody", {}, ts=NOON)
        return append(self, type, actor, body, **more)

    monkeypatch.setattr(Ledger, "append", disturbed)
    asked.decide(asked.id)
    (recorded,) = asked.history().decisions
    said = decision_of(statement_of(dsse.parse_envelope(recorded.envelope)))
    assert said.checkpoint.size == recorded.seq - 1


def test_each_of_several_requests_gets_its_own_result(asked):
    asked.make_round("r2", verdict="block")
    asked.make_round("r3")
    ids = [asked.id, asked.request("r2"), asked.request("r3")]
    results = decide_each(
        asked.verifier(), [ids[0], ids[1], ids[2][:20]], Verb.APPROVE, "all read", NamedSigner("ana"),
        confirmed=lambda _: None, **CLOCK,
    )  # fmt: skip
    assert [(r["round_id"], r["recorded"], r["code"], r["state"]) for r in results] == [
        ("r1", True, None, "APPROVED"),
        ("r2", False, "BLOCKED_POLICY", "BLOCKED_POLICY"),
        ("r3", True, None, "APPROVED"),
    ]


def test_a_wrong_id_among_several_stops_all_before_the_first(asked):
    size = asked.ledger.size()
    with pytest.raises(UsageError):
        decide_each(
            asked.verifier(), [asked.id, "zzz"], Verb.APPROVE, "read", NamedSigner("ana"), confirmed=lambda _: None,
            **CLOCK,
        )  # fmt: skip
    assert asked.ledger.size() == size
