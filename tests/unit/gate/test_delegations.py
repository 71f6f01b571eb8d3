"""A place is lent for one request to one person: both names are held to every rule, and nothing is handed on."""

from __future__ import annotations

import pytest
from gate_world import FEATURES, HOUR, NOON, PEOPLE, NamedSigner, digest, person

from governance_pipeline.errors import UsageError
from governance_pipeline.gate import delegating
from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.delegating import Wish
from governance_pipeline.gate.delegation import Act, Delegation, sign_delegation
from governance_pipeline.gate.events import EventType
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.people import may_act
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.gate.tables import gate_decisions
from governance_pipeline.trust import dsse
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.principals import Key, Validity
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.root import Revocation

ONLY_ANA = {"approvers": ["ana"]}
LATER = NOON + HOUR


@pytest.fixture
def house(world):
    """A world whose policy names ana alone; ben, cho (controlled by ben) and pia are approvers of the root only."""
    world.write_policy(**ONLY_ANA)
    world.id = world.request()
    return world


def delegate(world, to="ben", who="ana", now=NOON, hours=None, back=False):
    act = delegating.withdraw if back else delegating.delegate
    nonce = digest(f"{who}{to}{world.ledger.size()}")[:32]
    wish = Wish(world.id, to, "away", hours)
    return act(world.verifier(now), wish, NamedSigner(who), now=now, nonce=nonce)


def approve(world, who="ben", place="ana", now=NOON, verb=Verb.APPROVE):
    nonce = digest(f"{who}{place}{verb}{world.ledger.size()}")[:32]
    signer = NamedSigner(who)
    return decide(world.verifier(now), world.id, verb, "read", signer, now=now, nonce=nonce, on_behalf_of=place)


def state(world, now=LATER):
    history = world.history()
    return standing_of(history.requests[-1], world.verifier(now), history, now)


def can_act(world, now=LATER):
    history = world.history()
    return may_act(state(world, now), world.verifier(now), history, now)


def refused(code):
    return pytest.raises(Refusal, match=f"^{code}: ")


def draft(world, **changes):
    history = world.history()
    request = history.requests[-1]
    members = {
        "act": Act.DELEGATE, "gate": "publish", "round_id": "r1", "request_id": request.request_id,
        "subject_sha256": request.subject_sha256, "delegator": "ana", "delegate": "ben", "nonce": "0" * 32,
        "not_before": NOON, "expires": NOON + 24 * HOUR, "origin": f"govern-ledger:{world.config.root_fingerprint}",
        "checkpoint": world.ledger.head(history.size), "reason": "away", "trust_tier": "T0",
    }  # fmt: skip
    return Delegation(**{**members, **changes})


def forge(world, data, kind=EventType.DELEGATED, name=None):
    """Put a delegation into the ledger around the front door."""
    where = {"gate": "publish", "round_id": "r1", "request_id": world.history().requests[-1].request_id}
    name = name or dsse.parse_envelope(data).payload_sha256
    world.ledger.append(kind, "forger", {**where, "delegation_id": name, "envelope": data.decode()}, ts=NOON)


def test_the_delegate_decides_in_the_place_of_the_delegator_and_both_names_are_kept(house):
    with refused("UNTRUSTED_KEY"):
        approve(house, place=None)
    delegate(house)
    assert can_act(house) == ["ana", "ben"]
    event = approve(house)
    assert (event.actor, event.body["on_behalf_of"]) == ("ben", "ana")
    assert state(house).state is State.APPROVED
    [release] = house.guard(FEATURES)
    assert release.approved_by == ["ben on behalf of ana"]
    rows = gate_decisions(PUBLISH, ["r1"], house.verifier(LATER), LATER)
    assert rows[["approver_id", "on_behalf_of"]].to_numpy().tolist() == [["ben", "ana"]]


def test_without_a_delegation_nobody_signs_for_another(house):
    with refused("UNTRUSTED_KEY"):
        approve(house)
    house.forge(house.sign(house.statement(house.id, on_behalf_of="ana"), "ben"), house.statement(house.id))
    assert (state(house).state, state(house).code) == (State.PENDING, "UNTRUSTED_KEY")


def test_a_delegate_the_policy_does_not_name_signs_for_nobody_but_the_delegator(house):
    delegate(house)
    for place in (None, "cho", "nobody"):
        with refused("UNTRUSTED_KEY"):
            approve(house, place=place)


def test_a_delegation_is_for_one_person(house):
    delegate(house)
    with refused("UNTRUSTED_KEY"):
        approve(house, who="cho")


def test_a_delegate_hands_nothing_on(house):
    delegate(house)
    with refused("UNTRUSTED_KEY"):
        delegate(house, who="ben", to="pia")
    forge(house, sign_delegation(draft(house, delegate="pia"), NamedSigner("ben")))
    with refused("UNTRUSTED_KEY"):
        approve(house, who="pia")


@pytest.mark.parametrize("to", ["ana", "dot", "coder-1", "nobody", "owner"])
def test_only_another_approver_of_the_root_can_be_a_delegate(house, to):
    with pytest.raises(Refusal, match=r"^(UNTRUSTED_KEY|SELF_APPROVAL): "):
        delegate(house, to=to)
    assert house.events("DELEGATED") == []


def test_a_delegate_in_the_hand_of_the_delegator_is_refused(world):
    world.id = world.request()
    with refused("SELF_APPROVAL"):
        delegate(world, who="ben", to="cho")


@pytest.mark.parametrize(("who", "to"), [("pia", "ben"), ("ana", "pia")])
def test_neither_side_may_have_a_part_in_the_round(world, who, to):
    world.make_round(agents=("coder-pia",))
    world.id = world.request()
    with refused("SELF_APPROVAL"):
        delegate(world, who=who, to=to)


@pytest.mark.parametrize(("who", "to", "place"), [("pia", "ben", "pia"), ("ana", "pia", "ana")])
def test_a_part_in_the_round_voids_what_was_forged_around_the_front_door_too(world, who, to, place):
    world.make_round(agents=("coder-pia",))
    world.id = world.request()
    forge(world, sign_delegation(draft(world, delegator=who, delegate=to), NamedSigner(who)))
    with refused("SELF_APPROVAL"):
        approve(world, who=to, place=place)


def test_what_rests_on_a_delegation_ends_with_it(house):
    delegate(house, hours=2)
    approve(house)
    assert state(house, NOON + 1.9 * HOUR).state is State.APPROVED
    assert (state(house, NOON + 2 * HOUR).state, state(house, NOON + 2 * HOUR).code) == (State.PENDING, "EXPIRED")
    with refused("EXPIRED"):
        house.guard(FEATURES, now=NOON + 2 * HOUR)
    with refused("EXPIRED"):
        approve(house, now=NOON + 3 * HOUR)


def test_a_delegation_that_is_taken_back_voids_what_was_decided_by_it(house):
    delegate(house)
    approve(house)
    delegate(house, back=True)
    assert (state(house).state, state(house).code) == (State.PENDING, "UNTRUSTED_KEY")
    assert can_act(house) == ["ana"]
    with refused("UNTRUSTED_KEY"):
        house.guard(FEATURES)
    with refused("MISSING"):
        delegate(house, back=True)
    delegate(house)
    assert can_act(house) == ["ana", "ben"]


def test_only_the_delegator_takes_a_delegation_back(house):
    event = delegate(house)
    back = draft(house, act=Act.WITHDRAW, withdraws=event.body["delegation_id"])
    for data in (sign_delegation(back, NamedSigner("ben")), sign_delegation(back, NamedSigner("mallory"))):
        forge(house, data, EventType.UNDELEGATED)
    approve(house)
    assert state(house).state is State.APPROVED
    forge(house, sign_delegation(back, NamedSigner("ana")), EventType.UNDELEGATED)
    assert "has taken the delegation to 'ben' back" in state(house).message


@pytest.mark.parametrize("who", ["ana", "ben"])
def test_a_key_revoked_later_voids_the_decision_whichever_side_it_is_of(house, who):
    delegate(house)
    approve(house)
    gone = Revocation(fingerprint(NamedSigner(who).public_key), NOON, "lost")
    house.write_root(*PEOPLE, version=2, revocations=(gone,), at=NOON)
    with refused("REVOKED_KEY"):
        house.guard(FEATURES)


def test_a_delegator_who_is_no_approver_any_more_lends_nothing(house):
    delegate(house)
    approve(house)
    late = Key(NamedSigner("ana").public_key, Validity(None, NOON + 0.5 * HOUR))
    house.write_root(*(p for p in PEOPLE if p.id != "ana"), person("ana", keys=(late,)), version=2, at=NOON)
    with refused("EXPIRED"):
        house.guard(FEATURES)


def test_a_delegation_does_not_reach_the_next_request_nor_its_next_window(house):
    delegate(house)
    late = NOON + 72 * HOUR
    house.request(now=late)
    with pytest.raises(Refusal, match=r"^(SUPERSEDED|EXPIRED|UNTRUSTED_KEY): "):
        approve(house, now=late)
    house.make_round(surface=4.0)
    house.id = house.request(now=late)
    with refused("UNTRUSTED_KEY"):
        approve(house, now=late)


def test_delegator_and_delegate_count_as_one_also_in_a_circle(world):
    world.write_policy(quorum=2)
    world.id = world.request()
    delegate(world, who="ana", to="ben")
    delegate(world, who="ben", to="ana")
    approve(world, who="ben", place="ana")
    approve(world, who="ana", place="ben")
    assert state(world).code == "THRESHOLD"
    world.decide(world.id, "pia")
    assert state(world).state is State.APPROVED


def test_the_delegates_own_approval_adds_nothing_to_the_one_for_the_delegator(world):
    world.write_policy(quorum=2)
    world.id = world.request()
    delegate(world)
    world.decide(world.id, "ben")
    world.forge(world.sign(world.statement(world.id, on_behalf_of="ana"), "ben"), world.statement(world.id))
    assert state(world).code == "THRESHOLD"


@pytest.mark.parametrize("verb", [Verb.REJECT, Verb.REVOKE])
def test_a_delegate_can_close_for_the_delegator_and_a_stranger_cannot_say_so(house, verb):
    house.decide(house.id)
    delegate_refused = pytest.raises(Refusal, match=r"^UNTRUSTED_KEY: ")
    with delegate_refused:
        approve(house, verb=verb)
    house.forge(
        house.sign(house.statement(house.id, verb=verb, on_behalf_of="ana"), "ben"),
        house.statement(house.id),
        type=f"{verb}ED" if verb is Verb.REJECT else "REVOKED",
    )
    assert "'ben' on behalf of 'ana'" in state(house).message


def test_a_delegate_rejects_in_the_place_of_the_delegator(house):
    delegate(house)
    approve(house, verb=Verb.REJECT)
    assert state(house).state is State.REJECTED
    assert "rejected by 'ben' on behalf of 'ana'" in state(house).message


@pytest.mark.parametrize(
    ("changes", "signer", "code"),
    [
        ({}, "mallory", "UNTRUSTED_KEY"),
        ({"delegator": "pia"}, "ana", "UNTRUSTED_KEY"),
        ({"act": Act.WITHDRAW, "withdraws": "0" * 64}, "ana", "MALFORMED"),
        ({"round_id": "r2"}, "ana", "WRONG_CHECKPOINT"),
        ({"is_throwaway": True}, "ana", "WRONG_CHECKPOINT"),
        ({"request_id": "1" * 64}, "ana", "SUPERSEDED"),
        ({"subject_sha256": "1" * 64}, "ana", "SUPERSEDED"),
        ({"not_before": NOON + 2 * HOUR}, "ana", "NOT_YET_VALID"),
        ({"expires": NOON}, "ana", "EXPIRED"),
        ({"origin": "another"}, "ana", "LOG_INCONSISTENT"),
        ({"assurance": "presence"}, "ana", "MALFORMED"),
    ],
)
def test_a_forged_delegation_lends_nothing_and_says_why(house, changes, signer, code):
    forge(house, sign_delegation(draft(house, **changes), NamedSigner(signer)))
    with refused(code):
        approve(house)
    assert can_act(house, NOON) == ["ana"]


def test_a_delegation_recorded_under_another_id_lends_nothing(house):
    forge(house, sign_delegation(draft(house), NamedSigner("ana")), name="1" * 64)
    with refused("MALFORMED"):
        approve(house)


def test_junk_in_place_of_a_delegation_lends_nothing_and_hinders_nothing(house):
    for data in (b"{}", b"not json", b"x" * 100_000):
        forge(house, data, name="1" * 64)
    delegate(house)
    approve(house)
    assert state(house).state is State.APPROVED


def test_a_decision_signed_before_the_delegation_does_not_count_by_it(house):
    early = house.statement(house.id, on_behalf_of="ana")
    delegate(house)
    house.forge(house.sign(early, "ben"), early)
    assert state(house).code == "UNTRUSTED_KEY"


def test_it_is_given_once_and_only_while_there_is_something_to_decide(house):
    delegate(house)
    with refused("REPLAYED"):
        delegate(house)
    house.decide(house.id)
    with refused("REPLAYED"):
        delegate(house, to="cho")


@pytest.mark.parametrize("reason", ["", "  ", "x" * 2001])
def test_a_delegation_has_a_reason(house, reason):
    with pytest.raises(UsageError, match="cannot be signed"):
        delegating.delegate(
            house.verifier(NOON), Wish(house.id, "ben", reason), NamedSigner("ana"), now=NOON, nonce="0" * 32
        )


def test_a_minimum_assurance_holds_for_the_delegation_too(house):
    house.write_policy(**ONLY_ANA, minimum_assurance="ssh_agent")
    house.make_round(surface=5.0)
    house.id = house.request()
    with refused("NO_USER_PRESENCE"):
        delegate(house)
