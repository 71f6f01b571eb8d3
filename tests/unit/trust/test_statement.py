"""Statements and verdicts are read from the signed bytes, or refused with a code."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from governance_pipeline.errors import UnreadableError
from governance_pipeline.trust import dsse
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import (
    STATEMENT_PAYLOAD_TYPE,
    STATEMENT_TYPE,
    Subject,
    parse_statement,
    statement_bytes,
    statement_of,
)
from governance_pipeline.trust.verdict import (
    VERDICT_PREDICATE,
    Input,
    Rederived,
    Verdict,
    verdict_of,
    verdict_predicate,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DIGEST = "ab" * 32
SUBJECT = {"name": "evidence.jsonl", "digest": {"sha256": DIGEST}}
VERDICT = Verdict(
    subjects=(Subject("evidence.jsonl", DIGEST),),
    verifier_id="checker-4",
    time_verified=NOON,
    resource_uri="round:r-1",
    policy_uri="policy:1",
    policy_sha256=DIGEST,
    inputs=(Input("file:logs/a.jsonl", DIGEST),),
    result="PASSED",
    rederived=(Rederived("count recomputed", "entries", "15"),),
    run_id="r-1-check",
    session_id="s-2",
)


def _statement(**changed) -> bytes:
    members = {"_type": STATEMENT_TYPE, "subject": [SUBJECT], "predicateType": "p", "predicate": {}, **changed}
    return json.dumps({k: v for k, v in members.items() if v is not ...}).encode()


def _verdict(**changed) -> Verdict:
    predicate = {**verdict_predicate(VERDICT), **changed}
    members = {k: v for k, v in predicate.items() if v is not ...}
    return verdict_of(parse_statement(_statement(predicateType=VERDICT_PREDICATE, predicate=members)))


def _code(action) -> ReasonCode:
    with pytest.raises(Refusal) as refused:
        action()
    return refused.value.code


def test_a_written_statement_is_read_back():
    data = statement_bytes([Subject("a", DIGEST)], "type", {"n": 1})
    assert parse_statement(data) == ((Subject("a", DIGEST),), "type", {"n": 1})


def test_a_statement_without_predicate_has_an_empty_one_and_names_are_optional():
    data = _statement(predicate=..., subject=[{"digest": {"sha256": DIGEST, "sha1": "x"}}], more=1)
    assert parse_statement(data) == ((Subject("", DIGEST),), "p", {})


@pytest.mark.parametrize(
    "changed",
    [
        {"subject": ...},
        {"subject": []},
        {"subject": {}},
        {"subject": ["x"]},
        {"subject": [{"name": "a"}]},
        {"subject": [{"name": 1, "digest": {"sha256": DIGEST}}]},
        {"subject": [{"digest": {"sha256": DIGEST.upper()}}]},
        {"subject": [{"digest": {"sha256": DIGEST + "\n"}}]},
        {"subject": [{"digest": {"sha512": DIGEST}}]},
        {"predicateType": ...},
        {"predicateType": ""},
        {"predicateType": 1.5},
        {"predicate": []},
    ],
)
def test_a_malformed_statement_is_refused(changed):
    assert _code(lambda: parse_statement(_statement(**changed))) is ReasonCode.MALFORMED


def test_another_type_of_payload_or_statement_is_refused():
    assert (
        _code(lambda: parse_statement(_statement(_type="https://in-toto.io/Statement/v0.1"))) is ReasonCode.WRONG_TYPE
    )
    envelope = dsse.Envelope("application/json", _statement(), ())
    assert _code(lambda: statement_of(envelope)) is ReasonCode.WRONG_TYPE
    assert statement_of(envelope._replace(payload_type=STATEMENT_PAYLOAD_TYPE)).predicate_type == "p"


def test_a_repeated_member_is_refused():
    assert _code(lambda: parse_statement(_statement()[:-1] + b', "predicateType": "q"}')) is ReasonCode.MALFORMED


def test_a_predicate_that_has_no_canonical_form_is_not_written():
    with pytest.raises(UnreadableError):
        statement_bytes([Subject("a", DIGEST)], "type", {"n": 2**60})


def test_a_written_verdict_is_read_back():
    assert _verdict() == VERDICT


def test_a_verdict_may_name_no_run_and_no_inputs():
    verdict = _verdict(validatorRun=..., inputAttestations=..., rederived=...)
    assert (verdict.run_id, verdict.session_id, verdict.inputs, verdict.rederived) == (None, None, (), ())
    assert verdict_predicate(verdict)["validatorRun"] == {}


def test_the_method_may_be_called_kind_and_numbers_keep_their_spelling():
    entries = [
        {"kind": "hash recomputed", "value": DIGEST},
        {"method": "count recomputed", "what": "x", "value": 15},
        {"method": "query reproduced", "value": 1.50},
    ]
    assert [item.value for item in _verdict(rederived=entries).rederived] == [DIGEST, "15", "1.5"]


@pytest.mark.parametrize(
    "changed",
    [
        {"verifier": ...},
        {"verifier": "checker"},
        {"verifier": {"id": ""}},
        {"timeVerified": ...},
        {"timeVerified": "2026-11-30 12:00:00"},
        {"timeVerified": "2026-11-30T12:00:00+01:00"},
        {"timeVerified": "2026-02-30T12:00:00Z"},
        {"resourceUri": ...},
        {"policy": ...},
        {"policy": {"uri": "p"}},
        {"policy": {"digest": {"sha256": DIGEST}}},
        {"verificationResult": "passed"},
        {"verificationResult": ...},
        {"inputAttestations": {}},
        {"inputAttestations": [{"uri": "x"}]},
        {"inputAttestations": [{"uri": 1, "digest": {"sha256": DIGEST}}]},
        {"rederived": {}},
        {"rederived": ["x"]},
        {"rederived": [{"method": "hash recomputed"}]},
        {"rederived": [{"method": "a", "kind": "a", "value": 1}]},
        {"rederived": [{"value": 1}]},
        {"rederived": [{"method": "a", "value": True}]},
        {"rederived": [{"method": "a", "value": ""}]},
        {"rederived": [{"method": "a", "value": [1]}]},
        {"rederived": [{"method": "a", "value": 1, "what": 2}]},
        {"validatorRun": "r"},
        {"validatorRun": {"run_id": 1}},
        {"validatorRun": {"run_id": ""}},
    ],
)
def test_a_malformed_verdict_is_refused(changed):
    assert _code(lambda: _verdict(**changed)) is ReasonCode.MALFORMED


def test_another_predicate_is_refused():
    other = parse_statement(_statement(predicateType="https://slsa.dev/verification_summary/v0.2"))
    assert _code(lambda: verdict_of(other)) is ReasonCode.WRONG_TYPE
