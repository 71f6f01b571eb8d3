"""Claims about where cases stand: only what counts moves a case, they age, and a changed number is asked anew."""

from __future__ import annotations

from datetime import timedelta

import pytest
import yaml
from gate_world import HOUR, NOON, NamedSigner

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.crosscheck.shipped_policies import shipped_document
from governance_pipeline.errors import UsageError
from governance_pipeline.gate.case_deciding import REASON_CHARACTERS, find_case, state_case
from governance_pipeline.gate.cases import Cases, current_cases, unresolved_mismatches, with_standing
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.states import State, standing_of
from governance_pipeline.gate.verify import passage_of, verify
from governance_pipeline.ledger.cases import CaseEvent, step_event
from governance_pipeline.trust import dsse
from governance_pipeline.trust.case_statement import CaseRef, Outcome, sign_case
from governance_pipeline.trust.reasons import ReasonCode, Refusal

DAY = timedelta(days=1)


@pytest.fixture
def world(copies):
    """A world whose round r1 has one mismatch, opened and asked about at noon."""
    world = copies()
    world.make_round(mismatch=True)
    world.request()
    return world


def standing(world, now=NOON):
    [one] = Cases(world.verifier(now), now).standings()
    return one


def state(world, who="ben", outcome=Outcome.SOURCE_WRONG, *, now=NOON, reason="I looked", case_id=None, **more):
    case_id = case_id or standing(world).case.case_id
    return state_case(world.verifier(now), case_id, None, reason, NamedSigner(who), outcome, clock=lambda: now, **more)


def record(world, envelope, outcome=Outcome.SOURCE_WRONG, *, ref=None, who="forger"):
    """Put a statement into the ledger around the front door."""
    event = step_event(ref or standing(world).case.ref, envelope, "typed", who, NOON, outcome)
    world.ledger.append(event.type, who, event.body, ts=NOON)


def gate_state(world, now=NOON):
    history = world.history()
    return standing_of(history.in_force("publish", "r1"), world.verifier(now), history, now).state


def test_asking_about_a_round_opens_its_cases_before_anything_is_asked(world):
    events = [event.type for event in world.ledger.events()]
    assert events.index(CaseEvent.OPENED) < events.index("REQUESTED")
    found = standing(world)
    assert (found.state, found.opened_at, found.owner, found.is_current) == ("open", NOON, None, True)
    world.request()
    assert [event.type for event in world.ledger.events()] == events


@pytest.mark.parametrize(
    ("who", "agents", "code"),
    [
        ("mallory", ["coder-1"], ReasonCode.UNTRUSTED_KEY),
        ("dot", ["coder-1"], ReasonCode.UNTRUSTED_KEY),
        ("coder-1", ["coder-1"], ReasonCode.UNTRUSTED_KEY),
        ("pia", ["coder-pia"], ReasonCode.SELF_APPROVAL),
        ("ben", ["cho"], ReasonCode.SELF_APPROVAL),
        ("cho", ["cho"], ReasonCode.SELF_APPROVAL),
    ],
)
@pytest.mark.parametrize("outcome", [Outcome.ACCEPTED, None])
def test_nobody_who_made_the_round_and_nobody_without_the_role_speaks_about_its_cases(
    copies, who, agents, code, outcome
):
    world = copies()
    world.make_round(mismatch=True, agents=tuple(agents))
    world.request()
    before = world.ledger.size()
    with pytest.raises(Refusal) as refused:
        state(world, who, outcome)
    assert refused.value.code is code
    assert world.ledger.size() == before


@pytest.mark.parametrize(
    "spoiled", ["no signature", "other key", "other case", "other values", "acknowledgement", "blank"]
)
def test_a_recorded_statement_that_does_not_count_moves_nothing_and_is_shown(world, spoiled):
    ref = standing(world).case.ref
    about = {"other case": ref._replace(case_id="case-" + "0" * 64), "other values": ref._replace(sha256="0" * 64)}
    outcome = None if spoiled == "acknowledgement" else Outcome.ACCEPTED
    reason, key = " " if spoiled == "blank" else "why", NamedSigner("mallory" if spoiled == "other key" else "ben")
    envelope = sign_case(about.get(spoiled, ref), reason, key, NOON, outcome)
    if spoiled == "no signature":
        envelope = dsse.envelope_bytes(dsse.parse_envelope(envelope)._replace(signatures=()))
    record(world, envelope, Outcome.ACCEPTED, ref=ref)
    found = standing(world)
    assert found.state == "open"
    assert len(found.left_out) == 1
    assert gate_state(world) is State.BLOCKED_POLICY


def test_a_resolution_of_the_same_record_in_another_round_is_none(world):
    other = CaseRef("r2", *standing(world).case.ref[1:])
    record(world, sign_case(other, "why", NamedSigner("ben"), NOON, Outcome.ACCEPTED))
    assert standing(world).state == "open"
    assert gate_state(world) is State.BLOCKED_POLICY


def test_a_computed_value_that_changed_is_not_covered_by_the_resolution_of_before(world):
    """The record id names the declared place only; the parts may be in another file."""
    state(world)
    assert gate_state(world) is State.PENDING
    rows = world.stored["r1", "audit_escalations"]
    changed = [{**row, "computed": "3"} for row in rows]
    world.lake.put("audit_escalations", "r1", frame_of("audit_escalations", changed))
    world.request(now=NOON + HOUR)
    assert gate_state(world, NOON + HOUR) is State.BLOCKED_POLICY
    old, new = Cases(world.verifier(), NOON + HOUR).standings()
    assert (old.state, old.is_current, new.state, new.is_current) == ("resolved", False, "open", True)
    assert find_case(Cases(world.verifier(), NOON), new.case.case_id).case.sha256 == new.case.sha256


def test_open_acknowledged_resolved_and_the_way_the_gate_goes(world):
    assert gate_state(world) is State.BLOCKED_POLICY
    state(world, "ana", None, reason="asking the vendor")
    found = standing(world)
    assert (found.state, found.owner, found.acknowledged.reason) == ("acknowledged", "ana", "asking the vendor")
    assert gate_state(world) is State.BLOCKED_POLICY
    recorded = state(world, "ben", reason="the log counts a retry twice")
    assert recorded.event.type == CaseEvent.RESOLVED
    found = recorded.standing
    assert (found.state, found.owner, found.resolved.outcome) == ("resolved", "ana", Outcome.SOURCE_WRONG)
    assert (found.resolved.people, found.resolved.reason) == (("ben",), "the log counts a retry twice")
    assert gate_state(world) is State.PENDING
    assert unresolved_mismatches([found]) == []


def test_a_resolution_changes_neither_table_nor_case(world):
    digests = {table: world.lake.digest(table, "r1") for table in ("audit_cross_checks", "audit_escalations")}
    before = standing(world).case
    state(world, outcome=Outcome.ACCEPTED)
    assert standing(world).case == before
    assert {table: world.lake.digest(table, "r1") for table in digests} == digests
    assert [case.ref for case in current_cases(world.lake, "r1")] == [before.ref]


def test_what_is_resolved_stays_resolved_by_the_first_who_did(world):
    state(world, "ben")
    for outcome in (Outcome.ACCEPTED, None):
        with pytest.raises(Refusal, match=r"REPLAYED.*was resolved by 'ben' as source_wrong"):
            state(world, "ana", outcome)


def test_whoever_looks_after_a_case_need_not_say_so_twice_but_another_may_take_it(world):
    state(world, "ana", None)
    with pytest.raises(Refusal, match="looks after case"):
        state(world, "ana", None, reason="again")
    assert state(world, "ben", None).standing.owner == "ben"


def test_a_case_ages_in_whole_days_until_it_is_resolved_and_is_overdue_by_the_policy(world):
    ages = [(standing(world, NOON + n * DAY - HOUR * (n > 0))) for n in (0, 1, 3, 4)]
    assert [(s.age_days, s.is_overdue) for s in ages] == [(0, False), (0, False), (2, False), (3, True)]
    state(world, now=NOON + 5 * DAY)
    late = standing(world, NOON + 50 * DAY)
    assert (late.age_days, late.is_overdue) == (5, False)


def test_a_tightened_policy_makes_cases_late_sooner_and_allows_fewer_outcomes(world):
    copy = {**shipped_document("escalation_policy.yaml"), "overdue_after_days": {"mismatch": 0, "unverifiable": 0}}
    copy |= {"outcomes": ["data_conflict"], "minimum_reason_characters": 12}
    path = world.config_path.with_name("escalation_policy.yaml")
    path.write_text(yaml.safe_dump(copy))
    path.chmod(0o600)
    assert standing(world).is_overdue
    with pytest.raises(UsageError, match="knows data_conflict, not accepted"):
        state(world, outcome=Outcome.ACCEPTED, reason="long enough it is")
    with pytest.raises(UsageError, match="a reason has 12 to"):
        state(world, outcome=Outcome.DATA_CONFLICT, reason="short")
    assert state(world, outcome=Outcome.DATA_CONFLICT, reason="long enough it is").standing.state == "resolved"


def write_policy(world, **changes):
    path = world.config_path.with_name("escalation_policy.yaml")
    path.write_text(yaml.safe_dump({**shipped_document("escalation_policy.yaml"), **changes}))
    path.chmod(0o600)


@pytest.mark.parametrize("changes", [{"outcomes": ["data_conflict"]}, {"minimum_reason_characters": 40}])
def test_a_resolution_a_tightened_policy_does_not_allow_any_more_leaves_the_case_open_for_command_and_gate(
    world, changes
):
    state(world)
    assert gate_state(world) is State.PENDING
    write_policy(world, **changes)
    found = standing(world)
    assert (found.state, found.resolved) == ("open", None)
    assert "POLICY_MISMATCH: the escalation policy in force" in found.left_out[0]
    assert gate_state(world) is State.BLOCKED_POLICY
    done = state(world, outcome=Outcome.DATA_CONFLICT, reason="the log and the tables are about two different runs")
    assert done.standing.state == "resolved"
    assert gate_state(world) is State.PENDING


def test_an_approval_does_not_outlast_a_policy_that_forbids_how_the_case_was_resolved(world):
    state(world)
    world.decide(world.request())
    assert gate_state(world) is State.APPROVED
    write_policy(world, outcomes=["data_conflict"])
    assert gate_state(world) is State.BLOCKED_POLICY
    with pytest.raises(Refusal, match="BLOCKED_POLICY: open mismatch cases: 1"):
        verify(passage_of(world.verifier(), PUBLISH, "r1", NOON))


def test_a_policy_nobody_can_use_keeps_the_gate_closed_and_says_why(world):
    state(world)
    write_policy(world, minimum_reason_characters=0)
    assert gate_state(world) is State.BLOCKED_POLICY
    history = world.history()
    said = standing_of(history.in_force("publish", "r1"), world.verifier(), history, NOON).message
    assert "does not tighten the shipped one" in said


@pytest.mark.parametrize("reason", ["", "  ", "x" * (REASON_CHARACTERS + 1)])
def test_a_reason_is_words_and_not_a_book(world, reason):
    with pytest.raises(UsageError, match="a reason has 1 to"):
        state(world, reason=reason)


def test_a_case_is_found_by_the_beginning_of_its_id_alone(world):
    cases = Cases(world.verifier(), NOON)
    case = standing(world).case
    for text in (case.case_id, case.case_id[:12], case.case_id.removeprefix("case-")[:8]):
        assert find_case(cases, text).case == case
    for text in ("", "case-", "nothing", "case-zz"):
        with pytest.raises(UsageError, match="no case begins"):
            find_case(cases, text)
    world.make_round("r2", mismatch=True)
    world.lake.put(
        "audit_escalations",
        "r2",
        frame_of("audit_escalations", [{**r, "round_id": "r2"} for r in world.stored["r1", "audit_escalations"]]),
    )
    both = Cases(world.verifier(), NOON)
    with pytest.raises(UsageError, match=r"2 cases begin .*--round"):
        find_case(both, case.case_id)
    assert find_case(both, case.case_id, "r2").opened_at is None


def test_a_case_the_ledger_does_not_hold_yet_is_opened_in_the_step_that_resolves_it(copies):
    world = copies()
    world.make_round(mismatch=True)
    found = standing(world)
    assert (found.opened_at, found.age_days, found.is_overdue) == (None, None, None)
    done = state(world).standing
    assert (done.state, done.opened_at, done.age_days) == ("resolved", NOON, 0)


def test_a_case_whose_tables_are_gone_is_still_there_and_its_makers_are_still_known(copies):
    world = copies()
    world.make_round(mismatch=True, agents=("coder-pia",))
    world.request()
    for table in ("audit_escalations", "core_runs"):
        (world.lake.root / table / "round=r1" / "current").unlink()
    assert standing(world).is_current is None
    with pytest.raises(Refusal, match="SELF_APPROVAL"):
        state(world, "pia")
    assert state(world, "ben").standing.state == "resolved"


def test_what_the_person_read_is_what_is_signed(world):
    with pytest.raises(Refusal, match="DIGEST_MISMATCH"):
        state(world, seen_sha256="0" * 64)
    assert state(world, seen_sha256=standing(world).case.sha256).standing.state == "resolved"


def test_the_table_is_shown_as_its_cases_stand_and_stays_what_it_is(world):
    table = world.lake.get("audit_escalations", "r1")
    shown = []
    for step in (lambda: None, lambda: state(world, "ana", None), lambda: state(world)):
        step()
        rows = with_standing(table, Cases(world.verifier(), NOON + 4 * DAY).standings())
        shown.append(rows[["state", "age_days", "owner", "is_overdue"]].to_numpy().tolist()[0])
    assert shown == [["open", 4, None, True], ["acknowledged", 4, "ana", True], ["resolved", 0, "ana", False]]
    assert table["state"].tolist() == ["open"]
    assert with_standing(table, [])["state"].tolist() == ["open"]


def test_a_group_moves_every_record_it_lists(world):
    [row] = world.stored["r1", "audit_escalations"]
    rows = [
        {**row, "record_id": n * 64, "case_id": f"case-{n * 64}", "reason": "components_missing", "computed": None}
        for n in "abc"
    ]
    world.lake.put("audit_escalations", "r1", frame_of("audit_escalations", rows))
    world.request(now=NOON)
    group = next(s for s in Cases(world.verifier(), NOON).standings() if s.is_current)
    assert [record.record_id[0] for record in group.case.records] == ["a", "b", "c"]
    state(world, case_id=group.case.case_id)
    table = with_standing(world.lake.get("audit_escalations", "r1"), Cases(world.verifier(), NOON).standings())
    assert table["state"].tolist() == ["resolved"] * 3
