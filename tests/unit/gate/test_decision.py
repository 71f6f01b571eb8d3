"""A decision says what its statement says, byte for byte, and nothing that is not understood is read as one."""

from __future__ import annotations

import json

import pytest
from gate_world import NamedSigner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.decision import (
    DECISION_BYTES,
    PREDICATE,
    Decision,
    Verb,
    decision_of,
    sign_decision,
)
from governance_pipeline.strict.excerpt import is_said
from governance_pipeline.trust import dsse
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import Statement, statement_of


def _read(data: bytes) -> Decision:
    return decision_of(statement_of(dsse.parse_envelope(data)))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    verb=st.sampled_from(list(Verb)),
    reason=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200).filter(lambda t: t.strip()),
    producers=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, unique=True),
)
def test_what_is_signed_is_read_back(asked, verb, reason, producers):
    changes = {"verb": verb, "reason": reason, "producers": tuple(producers)}
    decision = asked.statement(asked.id, **changes)
    try:
        assert _read(sign_decision(decision, NamedSigner("ana"))) == decision
    except UsageError:  # a reason nobody can see is none
        assert not is_said(reason)


@pytest.mark.parametrize(
    "changes", [{"producers": ()}, {"reason": "  "}, {"nonce": "1"}, {"gate": "../x"}, {"round_id": "a b"}], ids=str
)
def test_what_a_reader_would_refuse_is_not_signed(asked, changes):
    with pytest.raises(UsageError, match="cannot be signed as a decision"):
        sign_decision(asked.statement(asked.id, **changes), NamedSigner("ana"))


def test_a_decision_too_large_to_be_read_is_not_signed(asked):
    many = tuple(f"agent-{n:06d}" for n in range(DECISION_BYTES // 12))
    with pytest.raises(UsageError, match=f"at most {DECISION_BYTES} are read"):
        sign_decision(asked.statement(asked.id, producers=many), NamedSigner("ana"))


@pytest.mark.parametrize("member", ["decision", "request_id", "expires", "policy", "log_checkpoint", "trust_tier"])
def test_every_member_is_needed_and_has_one_type(asked, member):
    data = sign_decision(asked.statement(asked.id), NamedSigner("ana"))
    statement = statement_of(dsse.parse_envelope(data))
    for predicate in (
        {name: value for name, value in statement.predicate.items() if name != member},
        {**statement.predicate, member: 1},
        {**statement.predicate, member: None},
    ):
        with pytest.raises(Refusal) as refused:
            decision_of(statement._replace(predicate=predicate))
        assert refused.value.code is ReasonCode.MALFORMED


@pytest.mark.parametrize("when", ["yesterday", "2026-11-30T12:00:00+00:00", "2026-02-30T12:00:00Z", ""])
def test_times_have_one_spelling(asked, when):
    statement = statement_of(dsse.parse_envelope(sign_decision(asked.statement(asked.id), NamedSigner("ana"))))
    with pytest.raises(Refusal, match="MALFORMED"):
        decision_of(statement._replace(predicate={**statement.predicate, "expires": when}))


def test_another_predicate_is_another_type():
    with pytest.raises(Refusal, match="WRONG_TYPE"):
        decision_of(Statement((), "https://slsa.dev/verification_summary/v1", {}))


def test_an_auditor_needs_no_more_than_json_to_see_who_signed_for_what(asked):
    payload = json.loads(dsse.parse_envelope(sign_decision(asked.statement(asked.id), NamedSigner("ana"))).payload)
    assert payload["_type"] == "https://in-toto.io/Statement/v1"
    assert payload["predicateType"] == PREDICATE
    assert payload["subject"][0]["name"] == "publish/r1"
    assert payload["predicate"]["log_checkpoint"]["size"] == asked.ledger.size()
