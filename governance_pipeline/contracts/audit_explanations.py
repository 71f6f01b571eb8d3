"""Contract of `audit_explanations`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    TableModel,
    Text,
    count,
    flag,
    lexeme,
    round_id,
    sha256,
    text,
)
from governance_pipeline.vocabulary import Hypothesis, UnknownReason

NONE_HELD = "no hypothesis that was tried meets the declared number"
"""What the row of none_holds reads; every other row names what it reads itself."""


class AuditExplanations(TableModel):
    """One row per mismatch and hypothesis tried to explain it; none of them changes the flag of the record.

    value is null where the other recompute is unknown (reason_code), and so is holds. none_holds is the last row of a
    mismatch that nothing tried explains.
    """

    round_id: Text = round_id()
    record_id: Text = sha256("Mismatch of audit_cross_checks.")
    attempt_index: Count = count("Order in which it was tried, from 1.", at_least=1)
    check_id: Text = text("Check of the record.")
    hypothesis: Text = text("What may explain the difference.", among=Hypothesis)
    reads: Text = text("What it reads and what it would mean.")
    formula: Text = text("The other recompute expression; null for none_holds.", null=True)
    rows_read: Text = text("Component rows it was evaluated over; null for none_holds.", null=True)
    value: Text = lexeme("What it gives.")
    delta: Text = lexeme("declared - value, sign kept.")
    holds: Flag = flag("Whether the value meets the declared number within epsilon; null where unknown.", null=True)
    reason_code: Text = text("Why there is no value.", null=True, among=UnknownReason)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "record_id", "attempt_index"]
        metadata = {"version": 1}
