"""One attestation of a round: what it says, who signed it, and whether it rests on something derived again.

What belongs here: the rules an attestation keeps or breaks on its own. What does not: comparing its validator with a
producer (`independence`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.contracts.audit_independence import IndependenceRule as Rule
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.trust import dsse
from governance_pipeline.trust.principals import Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.statement import STATEMENT_PAYLOAD_TYPE, parse_statement
from governance_pipeline.trust.verdict import REDERIVATIONS, ROUND_URI, Verdict, verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from governance_pipeline.trust.lineage import Run
    from governance_pipeline.trust.production import RoundWork
    from governance_pipeline.trust.root import TrustRoot

    EnvelopeOf = Callable[[str, int | None], bytes | None]


class Outcome(NamedTuple):
    """How one rule came out: True holds, False is broken, None cannot be decided.

    `shared` is what both sides share, or what is not known; `path` the lineage that shows it.
    """

    rule: Rule
    holds: bool | None
    code: ReasonCode = ReasonCode.NOT_INDEPENDENT
    shared: str | None = None
    path: str | None = None


class Attestation(NamedTuple):
    """One row of core_attestations as far as it can be believed.

    Attributes:
        validator_id: who it says has validated.
        verdict: what it states; None when it is no verdict.
        signer: the principal of the trust root that signed and its key; None when none did, or it is not known.
        is_signature_verified: None when no root was given or the envelope is not at hand.
        outcomes: the rules it was held to on its own, in their order.
    """

    validator_id: str | None
    verdict: Verdict | None
    signer: dsse.SignedBy | None
    is_signature_verified: bool | None
    outcomes: tuple[Outcome, ...]


def examined(
    row: Mapping[str, Any], root: TrustRoot | None, now: datetime, envelope_of: EnvelopeOf | None
) -> Attestation:
    """Hold one row of core_attestations (nulls as None) to the rules it can break on its own.

    Args:
        row: the row.
        root: the trust root; None leaves signatures undecided.
        now: instant at which keys are judged.
        envelope_of: gives the exact bytes of the envelope at a line of a source file, by its digest; without it
            signatures stay undecided, because the table keeps the payload only.
    """
    if row["form"] != "envelope":
        unsigned = Outcome(Rule.UNSIGNED, False, ReasonCode.MALFORMED, "an unsigned claim satisfies nothing")
        return Attestation(row["validator_id"], None, None, None if root is None else False, (unsigned,))
    outcomes: list[Outcome] = []
    verdict = _verdict(row, outcomes)
    signers = _signers(row, root, now, envelope_of, outcomes)
    signer = _signer(verdict, signers, root, outcomes)
    if verdict is not None and verdict.resource_uri != f"{ROUND_URI}{row['round_id']}":
        outcomes.append(Outcome(Rule.ROUND, False, ReasonCode.WRONG_CHECKPOINT, verdict.resource_uri))
    verified = None if signers is None else bool(signers)
    validator_id = row["validator_id"] if verdict is None else verdict.verifier_id
    return Attestation(validator_id, verdict, signer, verified, tuple(outcomes))


def evidence_outcome(verdict: Verdict, work: RoundWork, run: Run | None) -> Outcome | None:
    """Tell whether a verdict rests on something derived again; None when it does.

    One entry that counts is enough (`RoundWork.is_derived`); an entry of an unknown method never does.
    """
    entries = [entry for entry in verdict.rederived if entry.method in REDERIVATIONS]
    if not entries:
        return Outcome(Rule.EVIDENCE_MISSING, False, shared="nothing was derived again")
    found = [work.is_derived(entry.value, run) for entry in entries]
    if any(found):
        return None
    holds = None if None in found else False
    return Outcome(Rule.EVIDENCE_COPIED, holds, shared=entries[found.index(holds)].value)


def _verdict(row: Mapping[str, Any], outcomes: list[Outcome]) -> Verdict | None:
    try:
        if row["payload_type"] != STATEMENT_PAYLOAD_TYPE or row["body"] is None:
            raise Refusal(ReasonCode.WRONG_TYPE, "the payload is no in-toto statement")  # noqa: TRY301 - one way out
        payload = row["body"].encode()
        if sha256_hex(payload) != row["payload_sha256"]:
            raise Refusal(ReasonCode.DIGEST_MISMATCH, "the statement is not the one that was ingested")  # noqa: TRY301 - same
        return verdict_of(parse_statement(payload))
    except Refusal as refused:
        outcomes.append(Outcome(Rule.NOT_A_VERDICT, False, refused.code, str(refused)))
        return None


def _signers(
    row: Mapping[str, Any],
    root: TrustRoot | None,
    now: datetime,
    envelope_of: EnvelopeOf | None,
    outcomes: list[Outcome],
) -> list[dsse.SignedBy] | None:
    """Give who signed: an empty list for nobody that counts, None when that cannot be known."""
    data = None if root is None or envelope_of is None else envelope_of(row["file_sha256"], row["line"])
    if root is None or data is None:
        what = "no trust root was given" if root is None else "the bytes of the envelope are not at hand"
        outcomes.append(Outcome(Rule.SIGNATURE, None, ReasonCode.MISSING, what))
        return None
    try:
        envelope = dsse.parse_envelope(data)
        if (envelope.payload_type, envelope.payload_sha256) != (row["payload_type"], row["payload_sha256"]):
            raise Refusal(ReasonCode.DIGEST_MISMATCH, "the file holds another envelope than the table")  # noqa: TRY301 - same
        return dsse.verify_signatures(envelope, root, now, role=Role.VALIDATOR)
    except Refusal as refused:
        outcomes.append(Outcome(Rule.SIGNATURE, False, refused.code, str(refused)))
        return []


def _signer(
    verdict: Verdict | None, signers: list[dsse.SignedBy] | None, root: TrustRoot | None, outcomes: list[Outcome]
) -> dsse.SignedBy | None:
    """Choose the signature of the verifier itself: a verdict counts for the pair of signer and verifier only."""
    if not signers or root is None or verdict is None:
        return None
    for signer in signers:
        if root.identity(signer.principal) == root.identity(verdict.verifier_id):
            return signer
    outcomes.append(Outcome(Rule.VERIFIER, False, ReasonCode.UNTRUSTED_KEY, signers[0].principal))
    return signers[0]
