"""A validator is independent only if nothing at all ties it to a producer, and nothing about that is unknown."""

from __future__ import annotations

from datetime import UTC, datetime

from governance_pipeline.trust.independence import validator_is_independent
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.lineage import Lineage, Run

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DIGEST = "ab" * 32


def test_a_validator_with_nothing_in_common_is_independent(honest, checker_root, signer):
    honest.attest(signer("checker"))
    row = honest.judged(checker_root()).iloc[0]
    assert (row["is_independent"], row["is_signature_verified"], row["producer_run_id"]) == (True, True, "build")
    assert row[["rule", "reason_code", "shared_value", "lineage_path"]].isna().all()
    assert (row["principal_id"], row["key_fingerprint"]) == ("checker", fingerprint(signer("checker").public_key))


def test_without_a_trust_root_nothing_is_independent_for_certain(honest, signer, only):
    honest.attest(signer("checker"))
    frame = honest.judged(None)
    assert only(frame) == (None, "signature", "MISSING")
    assert frame["is_signature_verified"].isna().all()


def test_without_the_envelope_a_signature_stays_undecided(honest, checker_root, signer, only):
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root(), envelope_of=None)) == (None, "signature", "MISSING")
    assert only(honest.judged(checker_root(), envelope_of=lambda *_: None)) == (None, "signature", "MISSING")


def test_a_bare_claim_satisfies_nothing(honest, checker_root, only):
    honest.claim("checker")
    for root in (checker_root(), None):
        assert only(honest.judged(root)) == (False, "unsigned", "MALFORMED")


def test_a_failed_verdict_is_judged_and_kept_too(honest, checker_root, signer):
    honest.attest(signer("checker"), result="FAILED")
    frame = honest.judged(checker_root())
    assert (frame.iloc[0]["is_independent"], frame.iloc[0]["result"]) == (True, "FAILED")


def _pair(**runs) -> Lineage:
    return Lineage(
        Run(name, agents=frozenset({v.pop("agent")}), session_id=v.pop("session", f"s-{name}"), **v)
        for name, v in runs.items()
    )


def test_the_public_face_answers_with_the_rule():
    lineage = _pair(
        build={"agent": "coder"}, check={"agent": "checker"}, child={"agent": "kid", "parent_run_id": "build"}
    )
    assert validator_is_independent("checker", "coder", "build", lineage=lineage)
    for validator, worker, run_id, rule in (
        ("coder", "coder", "build", "agent"),
        ("Coder", "other", "build", "agent"),
        ("kid", "coder", "build", "ancestry"),
        ("nobody", "coder", "build", "run"),
        ("checker", "coder", "gone", "run"),
    ):
        answer = validator_is_independent(validator, worker, run_id, lineage=lineage)
        assert (bool(answer), answer.rule) == (False, rule)
    named = validator_is_independent("checker", "coder", "build", lineage=lineage, validator_run_id="build")
    assert (bool(named), named.rule) == (False, "run")
