"""Claims about what people sign of a case: the digest covers every value, and only the right predicate counts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.trust import dsse
from governance_pipeline.trust.case_statement import (
    RESOLUTION_PREDICATE,
    CaseRecord,
    CaseRef,
    Outcome,
    case_sha256,
    sign_case,
    stated,
)
from governance_pipeline.trust.keys import generate_key, load_signer
from governance_pipeline.trust.principals import Key, Kind, Principal, Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root import first_root
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE, Subject, statement_bytes

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
RECORD = CaseRecord(sha256_hex(b"record"), "10", "9")
REF = CaseRef("r-1", f"case-{RECORD.record_id}", case_sha256("r-1", "mismatch", [RECORD]))
VALUES = st.none() | st.sampled_from(["0", "1", "10", "-1", "0.5"])
CASES = st.tuples(st.sampled_from(["r-1", "r-2"]), st.sampled_from(["mismatch", "overflow"]), VALUES, VALUES)


@pytest.fixture
def ana(tmp_path):
    tmp_path.chmod(0o700)
    generate_key(tmp_path / "ana.pem", None)
    return load_signer(tmp_path / "ana.pem", None)


@pytest.fixture
def root(ana):
    made = first_root("owner", sha256_hex(b"no key of anybody").encode()[:32], datetime(2027, 1, 1, tzinfo=UTC))
    person = Principal("ana", Kind.HUMAN, "ana", frozenset({Role.APPROVER}), (Key(ana.public_key),))
    return type(made)(made.version, made.expires, made.is_throwaway, (*made.principals, person))


def signed(signer, kind=RESOLUTION_PREDICATE, subjects=None, **changes):
    predicate = {"case_id": REF.case_id, "round_id": "r-1", "reason": "why", "resolution": "accepted", **changes}
    predicate = {name: value for name, value in predicate.items() if value is not ...}
    payload = statement_bytes(subjects or [Subject(REF.case_id, REF.sha256)], kind, predicate)
    return dsse.sign(payload, STATEMENT_PAYLOAD_TYPE, signer)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"kind": "urn:govern:human-approval:v1"}, ReasonCode.WRONG_TYPE),
        ({"resolution": "corrected"}, ReasonCode.MALFORMED),
        ({"resolution": ...}, ReasonCode.MALFORMED),
        ({"reason": ...}, ReasonCode.MALFORMED),
        ({"reason": 5}, ReasonCode.MALFORMED),
        ({"reason": "\t "}, ReasonCode.MALFORMED),
        ({"round_id": "r-2"}, ReasonCode.DIGEST_MISMATCH),
        ({"case_id": "case-1"}, ReasonCode.DIGEST_MISMATCH),
        ({"subjects": [Subject("", "0" * 64)]}, ReasonCode.DIGEST_MISMATCH),
        ({"subjects": [Subject("", REF.sha256), Subject("", "0" * 64)]}, ReasonCode.DIGEST_MISMATCH),
    ],
)
def test_what_is_not_a_resolution_of_this_case_is_refused_with_its_code(ana, root, changes, code):
    with pytest.raises(Refusal) as refused:
        stated(signed(ana, **changes), REF, root, ["coder"], NOON, resolves=True)
    assert refused.value.code is code


@pytest.mark.parametrize("data", [b"", b"{}", b"x" * 70_000, b'{"payloadType":"a","payload":"","signatures":[]}'])
def test_what_is_no_signed_envelope_is_refused(root, data):
    with pytest.raises(Refusal):
        stated(data, REF, root, [], NOON, resolves=True)


def test_an_acknowledgement_is_no_resolution_and_the_reverse(ana, root):
    for outcome, resolves in ((None, True), (Outcome.ACCEPTED, False)):
        with pytest.raises(Refusal, match="WRONG_TYPE"):
            stated(sign_case(REF, "why", ana, NOON, outcome), REF, root, [], NOON, resolves=resolves)


@pytest.mark.parametrize("outcome", [*Outcome, None])
def test_what_was_signed_is_read_back(ana, root, outcome):
    envelope = sign_case(REF, "it was\na retry", ana, NOON, outcome)
    said = stated(envelope, REF, root, ["coder"], NOON, resolves=outcome is not None)
    assert said == (("ana",), "it was\na retry", outcome)


@given(CASES, CASES)
def test_cases_that_ask_different_things_have_different_digests(one, other):
    digests = [case_sha256(c[0], c[1], [CaseRecord(RECORD.record_id, c[2], c[3])]) for c in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)
