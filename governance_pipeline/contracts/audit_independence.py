"""Contract of `audit_independence`."""

from __future__ import annotations

from enum import StrEnum

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    TableModel,
    Text,
    count,
    flag,
    round_id,
    sha256,
    text,
)


class IndependenceRule(StrEnum):
    """The rules of independence in the order they are asked (spec/gate.md §4).

    The first that fails is named; when none fails, the first that cannot be decided.
    """

    UNSIGNED = "unsigned"
    NOT_A_VERDICT = "not_a_verdict"
    SIGNATURE = "signature"
    VERIFIER = "verifier"
    ROUND = "round"
    EVIDENCE_MISSING = "evidence_missing"
    EVIDENCE_COPIED = "evidence_copied"
    PRODUCER_UNKNOWN = "producer_unknown"
    AGENT = "agent"
    KEY = "key"
    PRINCIPAL = "principal"
    CONTROLLER = "controller"
    RUN = "run"
    SESSION = "session"
    ANCESTRY = "ancestry"
    RUNTIME = "runtime"


class AuditIndependence(TableModel):
    """One row per validator attestation and run that produced in its round: may the one certify the other.

    is_independent null = undecidable, which every gate treats as not independent; rule is null only where it is true.
    An attestation in a round without a known producer has one row with producer_run_id null.
    """

    round_id: Text = round_id()
    validator_id: Text = text("Who the attestation says has validated.", null=True)
    principal_id: Text = text("Principal of the trust root whose key made the signature.", null=True)
    key_fingerprint: Text = sha256("Its key: digest of the public bytes.", null=True)
    form: Text = text("envelope (DSSE) or bare.", pattern=r"^(envelope|bare)$")
    result: Text = text("What the attestation claims.", null=True)
    attestation_sha256: Text = sha256("Digest of the signed payload, or of the line of a bare claim.")
    validator_run_id: Text = text("Run in which it was validated.", null=True)
    producer_run_id: Text = text("Run that produced; null when none is known.", null=True)
    producer_agent_ids: Text = text("JSON list of the agents that made steps in it.")
    is_signature_verified: Flag = flag("A validator of the trust root signed; null = no root was given.", null=True)
    is_independent: Flag = flag("Every rule holds.", null=True)
    rule: Text = text("First rule that failed, or else could not be decided.", null=True, among=IndependenceRule)
    reason_code: Text = text("The gate's code for it.", null=True, pattern=r"^[A-Z_]+$")
    shared_value: Text = text("What both sides share, or what is not known.", null=True)
    lineage_path: Text = text("Runs and sessions from the validator's to the one both come from.", null=True)
    is_same_runtime: Flag = flag("Both ran in the same family of models or platforms.", null=True)
    path: Text = text("Path of the source file below the round folder, POSIX separators.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count(
        "Physical line in the source file, from 1; null when the file is one document.", null=True, at_least=1
    )
    pointer: Text = text("RFC 6901 pointer inside the line or document.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "path", "line", "producer_run_id"]
        metadata = {"version": 1}
