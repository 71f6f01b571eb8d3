"""Contract of `audit_cross_checks`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    TableModel,
    Text,
    Utc,
    count,
    flag,
    lexeme,
    round_id,
    sha256,
    text,
    utc,
)
from governance_pipeline.vocabulary import Action, DataType, RecordStatus, UnknownReason


class AuditCrossChecks(TableModel):
    """One row per record of declared against computed (govern/cross-check-record/v1).

    declared, computed, delta and epsilon are exact lexemes; the warehouse adds numeric twins. mismatch is null where
    the record is unverifiable. overwritten is always false.
    """

    round_id: Text = round_id()
    record_id: Text = sha256("The same input gives the same id for ever.")
    check_id: Text = text("Check of the catalogue.")
    subject_id: Text = text("Subject; null for a row that could not be used.", null=True)
    field: Text = text("Aggregate.")
    data_type: Text = text("How it was compared.", among=DataType)
    unit: Text = text("Unit.", null=True)
    declared: Text = lexeme("What the source claims.")
    declared_raw: Text = text("What it wrote.", null=True)
    computed: Text = lexeme("What the parts give.")
    delta: Text = lexeme("declared - computed, sign kept.")
    epsilon: Text = lexeme("Tolerance used.")
    epsilon_reason: Text = text("Why that tolerance.")
    status: Text = text("match, mismatch or unverifiable.", among=RecordStatus)
    mismatch: Flag = flag("The flag; null where unverifiable.", null=True)
    action: Text = text("accept, escalate_to_human or confirm_by_human.", among=Action)
    reason_code: Text = text("Why unverifiable.", null=True, among=UnknownReason)
    overwritten: Flag = flag("Always false: no code path writes a declared value.", always=False)
    formula: Text = text("Recompute expression.")
    formula_digest: Text = sha256("Digest of it.")
    components_count: Count = count("Component rows used.")
    components_digest: Text = sha256("Digest of them.", null=True)
    declared_file_sha256: Text = sha256("File of the declared value.")
    declared_path: Text = text("Path of that file below the round folder.")
    declared_line: Count = count("Line.", null=True, at_least=1)
    declared_pointer: Text = text("RFC 6901 pointer of the value.")
    escalate_to: Text = text("Who decides.")
    opened_at: Utc = utc("When its case was opened in the ledger; null before.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "record_id"]
        metadata = {"version": 1}
