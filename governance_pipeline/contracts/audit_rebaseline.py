"""Contract of `audit_rebaseline`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    TableModel,
    Text,
    count,
    text,
)
from governance_pipeline.vocabulary import ROUND_ID_PATTERN


class AuditRebaseline(TableModel):
    """One row per assumption of a governed project that does not hold, and one per re-baseline that was declared.

    Null: round_id where it is about the whole project, baseline_version before any was noted, rebaseline_id and
    ledger_seq where no event says so.
    """

    trigger: Text = text(
        "What invalidates an assumption, or declaration for a re-baseline.",
        pattern=(
            r"^(baseline_not_noted|document_changed|phase_not_in_requirements|new_log_format|new_column|new_data_type"
            r"|rule_contradicted|old_baseline|declaration)$"
        ),
    )
    subject: Text = text(
        "Document, phase, format, column, type of data, rule or case; of a re-baseline its scope change."
    )
    pointer: Text = text("Where to look: file, round and line, or event of the ledger.")
    state: Text = text(
        "due (nobody has declared a re-baseline), declared (one is open), open or resumed.",
        pattern=r"^(due|declared|open|resumed)$",
    )
    next_step: Text = text("Next step of an open re-baseline.", null=True)
    round_id: Text = text("Round it was seen in.", null=True, pattern=ROUND_ID_PATTERN)
    baseline_version: Text = text("Baseline in force; of a re-baseline that was ended the one it brought.", null=True)
    rebaseline_id: Text = text("Re-baseline that is open, or the one of the row.", null=True)
    ledger_seq: Count = count("Latest event of the re-baseline.", null=True, at_least=1)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["trigger", "subject", "pointer"]
        metadata = {"version": 1, "by_round": False}
