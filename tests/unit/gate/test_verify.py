"""Whatever goes wrong closes the gate, and the ledger may hold anything."""

from __future__ import annotations

import pytest
from gate_world import HOUR, NOON
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.gate.events import EventType, read_history
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.inputs import read_inputs
from governance_pipeline.gate.passage import Offer
from governance_pipeline.gate.verify import STEPS, Step, passage_of, verify
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.trust import dsse
from governance_pipeline.trust.reasons import ReasonCode, Refusal

AT = NOON + HOUR


@pytest.mark.parametrize("at", range(len(STEPS)))
def test_an_unexpected_exception_in_any_step_closes_the_gate_without_showing_where(approved, caplog, at):
    def broken(_passage):
        raise ZeroDivisionError("secret detail")

    steps = [*STEPS[:at], Step("broken", broken), *STEPS[at + 1 :]]
    with pytest.raises(Refusal) as refused:
        verify(passage_of(approved.verifier(), PUBLISH, "r1", AT), steps)
    assert refused.value.code is ReasonCode.INTERNAL
    assert "secret detail" not in str(refused.value)
    assert "secret detail" in caplog.text


def test_a_ledger_that_is_gone_is_inconsistent_and_never_a_new_one(approved):
    verifier = approved.verifier()
    for file in approved.ledger.path.parent.glob("ledger.sqlite*"):
        file.unlink()
    with pytest.raises(Refusal) as refused:
        passage_of(verifier, PUBLISH, "r1", AT)
    assert refused.value.code is ReasonCode.LOG_INCONSISTENT
    Ledger.create(approved.ledger.path)
    with pytest.raises(Refusal, match="MISSING"):
        passage_of(verifier, PUBLISH, "r1", AT)


@pytest.mark.parametrize("kind", list(EventType))
def test_an_event_that_lacks_what_its_type_needs_is_named(approved, kind):
    event = approved.ledger.append(kind, "somebody", {"gate": 1, "round_id": "r1"}, ts=NOON)
    with pytest.raises(
        Refusal, match=rf"LOG_INCONSISTENT: event {event.seq} of the ledger: unusable: .* a {kind} needs"
    ):
        read_history(approved.ledger)
    lenient = read_history(approved.ledger, is_strict=False)
    assert [(fault.seq, fault.code) for fault in lenient.unusable] == [(event.seq, "unusable")]


@pytest.mark.parametrize(
    ("member", "value"),
    [("subject_sha256", "../../../etc/passwd"), ("round_id", "../r1"), ("request_id", "x"), ("verdicts", ["../x"]),
     ("upstream", {"core_runs": "../x"})],
)  # fmt: skip
def test_a_request_whose_digests_or_round_are_names_of_other_files_is_not_believed(asked, member, value):
    (event,) = asked.ledger.events(types={"REQUESTED"})
    body = {name: item for name, item in event.body.items() if name != "unique"}
    asked.ledger.append("REQUESTED", "forger", {**body, member: value}, ts=NOON)
    with pytest.raises(Refusal, match="LOG_INCONSISTENT"):
        read_history(asked.ledger)


def test_a_request_of_a_gate_this_program_does_not_know_is_no_request_of_it(asked):
    (event,) = asked.ledger.events(types={"REQUESTED"})
    body = {name: item for name, item in event.body.items() if name != "unique"}
    asked.ledger.append("REQUESTED", "newer program", {**body, "gate": "deploy"}, ts=NOON)
    assert len(asked.history().requests) == 1


def test_events_of_others_are_no_business_of_the_gate(approved):
    approved.ledger.append("INCIDENT", "somebody", {"text": "x"}, ts=NOON)
    assert approved.history().size == 4
    approved.guard()


def test_the_latest_time_counts_whatever_the_order_of_events(approved):
    approved.ledger.append("NOTE", "somebody", {}, ts=NOON + 5 * HOUR)
    approved.ledger.append("FREEZE", "dot", {"reason": "x"}, ts=NOON - 5 * HOUR)
    assert approved.history().last_ts == NOON
    approved.ledger.append("NOTE", "somebody", {}, ts=NOON + 5 * HOUR)
    with pytest.raises(Refusal, match=r"FROZEN|CLOCK_SUSPECT"):
        approved.guard(now=NOON)


@pytest.fixture
def passage(approved):
    """Give a function that asks about one offer, the bytes and the ledger being read once."""
    history = approved.history()
    inputs, verifier = read_inputs(PUBLISH, "r1", approved.lake), approved.verifier()

    def ask(data: bytes | None = None):
        made = passage_of(verifier, PUBLISH, "r1", AT, history=history, inputs=inputs)
        if data is not None:
            made.offers = [Offer(data, made.offers[0].event)]
        return made

    return ask


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300))
def test_no_bytes_offered_as_a_decision_pass_or_raise_anything_but_a_refusal(passage, data):
    with pytest.raises(Refusal) as refused:
        verify(passage(data))
    assert refused.value.code is ReasonCode.MALFORMED


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10_000), value=st.integers(0, 255))
def test_no_signed_byte_of_a_decision_can_be_exchanged(passage, place, value):
    (offer,) = passage().offers
    data = bytearray(offer.data)
    data[place % len(data)] = value
    code = _code(passage(bytes(data)))
    if code is None:  # the hint at a key, and blanks, are not signed and decide nothing
        mine, theirs = dsse.parse_envelope(bytes(data)), dsse.parse_envelope(offer.data)
        assert (mine.payload_type, mine.payload) == (theirs.payload_type, theirs.payload)
        assert [s.sig for s in mine.signatures] == [s.sig for s in theirs.signatures]
    else:
        assert code in {"MALFORMED", "BAD_SIGNATURE", "UNTRUSTED_KEY", "WRONG_TYPE"}


def _code(passage):
    try:
        verify(passage)
    except Refusal as refused:
        return str(refused.code)
    return None
