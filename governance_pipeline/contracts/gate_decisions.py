"""Contract of `gate_decisions`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    TableModel,
    Text,
    Utc,
    count,
    flag,
    round_id,
    sha256,
    text,
    utc,
)


class GateDecisions(TableModel):
    """One row per decision and signer that opened the gate of a round.

    A round whose gate is closed has no row: nothing here was not verified in full at the moment the table was made.
    """

    round_id: Text = round_id()
    decision_id: Text = sha256("Digest of the signed statement.")
    request_id: Text = sha256("Request it answers.")
    gate: Text = text("Gate it opened.")
    subject_sha256: Text = sha256("Manifest that was approved.")
    display_sha256: Text = sha256("The exact text the person was shown.")
    approver_id: Text = text("Principal of the trust root that signed.")
    on_behalf_of: Text = text("Principal in whose place they signed, who let them.", null=True)
    key_fingerprint: Text = sha256("Its key.")
    assurance: Text = text(
        "How surely a person signed, by the signature itself.", pattern=r"^(key_file|ssh_agent|presence)$"
    )
    trust_tier: Text = text("What the set-up can prevent, T0 to T3.", pattern=r"^(T0|T1|T2|T3)$")
    is_throwaway: Flag = flag("The trust root was made for a demo or a test.")
    reason: Text = text("Why, in the words of the approver.")
    nonce: Text = text("Makes the statement unique.")
    recorded_at: Utc = utc("When the ledger took it.", null=False)
    not_before_at: Utc = utc("From when it counts.", null=False)
    expires_at: Utc = utc("From when it does not count any more.", null=False)
    ledger_seq: Count = count("Event that holds it.", at_least=1)
    checkpoint_count: Count = count("Events of the ledger it was made from.", at_least=1)
    checkpoint_root: Text = sha256("RFC 9162 root over them.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "decision_id", "key_fingerprint"]
        metadata = {"version": 1}
