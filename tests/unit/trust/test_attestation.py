"""An attestation counts if a trusted validator signed it for this round, and derived something again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.principals import Kind, Role
from governance_pipeline.trust.root import Revocation
from governance_pipeline.trust.verdict import Rederived

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DIGEST = "ab" * 32


@pytest.mark.parametrize(
    ("attack", "code"),
    [
        (lambda e: e._replace(signatures=()), "MISSING"),
        (lambda e: e._replace(signatures=(e.signatures[0]._replace(sig=bytes(64)),)), "BAD_SIGNATURE"),
        (lambda e: e._replace(payload=e.payload.replace(b"PASSED", b"FAILED")), "DIGEST_MISMATCH"),
        (lambda e: e._replace(payload_type="text/plain"), "DIGEST_MISMATCH"),
    ],
)
def test_an_envelope_that_was_touched_does_not_count(honest, checker_root, signer, attack, code, only):
    honest.attest(signer("checker"), tamper=attack)
    assert only(honest.judged(checker_root())) == (False, "signature", code)


def test_a_statement_of_the_table_must_be_the_one_that_was_signed(honest, checker_root, signer, only):
    honest.attest(signer("checker"), result="FAILED")
    honest.attestations[0]["body"] = honest.attestations[0]["body"].replace("FAILED", "PASSED")
    assert only(honest.judged(checker_root())) == (False, "not_a_verdict", "DIGEST_MISMATCH")


def test_an_unknown_or_agents_own_key_is_untrusted(honest, checker_root, signer, only):
    honest.attest(signer("eve"))
    assert only(honest.judged(checker_root())) == (False, "signature", "UNTRUSTED_KEY")


def test_a_principal_without_the_role_validator_does_not_count(honest, checker_root, make_principal, signer):
    honest.attest(signer("ana"), verifier_id="ana")
    root = checker_root(make_principal("ana", Role.APPROVER))
    frame = honest.judged(root)
    assert set(frame["rule"]) == {"signature"}
    assert set(frame["reason_code"]) == {"UNTRUSTED_KEY"}
    assert not frame["is_independent"].any()


def test_a_revoked_key_does_not_count(honest, checker_root, signer, only):
    honest.attest(signer("checker"))
    print_of = fingerprint(signer("checker").public_key)
    root = checker_root().with_revocation(Revocation(print_of, NOON - timedelta(days=1), "lost"))
    assert only(honest.judged(root)) == (False, "signature", "REVOKED_KEY")


def test_nobody_signs_for_another_verifier(honest, checker_root, make_principal, signer, only):
    honest.attest(signer("other"))
    root = checker_root(make_principal("other", Role.VALIDATOR, kind=Kind.VALIDATOR))
    assert only(honest.judged(root)) == (False, "verifier", "UNTRUSTED_KEY")


def test_a_verdict_on_another_round_does_not_count(honest, checker_root, signer, only):
    honest.attest(signer("checker"), resource_uri="round:r-2")
    assert only(honest.judged(checker_root())) == (False, "round", "WRONG_CHECKPOINT")


def test_an_envelope_without_a_verdict_does_not_count(honest, checker_root, signer, only):
    honest.attest(signer("checker"), payload_type="text/plain")
    assert only(honest.judged(checker_root())) == (False, "not_a_verdict", "WRONG_TYPE")


def test_a_verdict_without_evidence_does_not_count(honest, checker_root, signer, only):
    for entries in ((), (Rederived("looked at it", "all", "fine"),)):
        honest.attestations.clear()
        honest.attest(signer("checker"), rederived=entries)
        assert only(honest.judged(checker_root()))[:2] == (False, "evidence_missing")


@pytest.mark.parametrize("copy", [DIGEST, DIGEST.upper(), "15", "15.0", "1.5e1"])
def test_a_value_that_was_declared_and_never_came_out_of_a_tool_was_copied(
    honest, checker_root, signer, copy, only, recounted
):
    honest.steps[1]["output_result_sha256"] = "cd" * 32
    honest.declare("15")
    honest.attest(signer("checker"), rederived=recounted(copy))
    assert only(honest.judged(checker_root())) == (False, "evidence_copied", "NOT_INDEPENDENT")


def test_a_declared_value_counts_when_a_tool_of_the_validator_gave_it(honest, checker_root, signer, only, recounted):
    honest.declare("15")
    honest.step("check", "checker", "15")
    honest.attest(signer("checker"), rederived=recounted("15"))
    assert only(honest.judged(checker_root()))[0] is True


def test_a_value_nobody_declared_counts(honest, checker_root, signer, only, recounted):
    honest.declare("15")
    honest.attest(signer("checker"), rederived=recounted("16"))
    assert only(honest.judged(checker_root()))[0] is True
    assert only(honest.judged(checker_root(), core_declared=None))[:2] == (None, "evidence_copied")


def test_one_derived_value_among_copies_is_enough(honest, checker_root, signer, only, recounted):
    honest.declare("15")
    honest.attest(signer("checker"), rederived=(*recounted("15"), Rederived("hash recomputed", "e", DIGEST)))
    assert only(honest.judged(checker_root()))[0] is True


def test_without_the_validators_outputs_a_copy_cannot_be_told(honest, checker_root, signer, only):
    honest.steps[1].pop("output_result_sha256")
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root()))[:2] == (None, "evidence_copied")
