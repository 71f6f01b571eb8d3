"""Contract of `verdict_findings`."""

from __future__ import annotations

import pandera.pandas as pandera

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

_REASONS = (
    r"^(no_contract|no_scope|no_evidence|check_not_run|declared_missing|components_missing|no_baseline|stale|too_few|"
    r"exchangeability_suspect|instrument_broken|partial_graph|not_calibrated|cohort_small|not_comparable)$"
)


class VerdictFindings(TableModel):
    """One row per finding of a round: what was noticed, what follows from it, and where it can be looked up.

    Null: severity for any class but A, reason for class A and D, the evidence columns where a finding is about
    nothing in particular, is_known and first_seen_round_id where the round names a parent that is not at hand,
    the columns of a dismissal where nobody has dismissed it.
    """

    round_id: Text = round_id()
    finding_id: Text = sha256("Digest of round, code, subject and evidence: other bytes give another id.")
    fingerprint: Text = sha256("Digest of code and subject: the same finding in two rounds has the same one.")
    code: Text = text("Stable code of the detector.", pattern=r"^[a-z][a-z0-9-]*$")
    # "class" is a word of Python, so the column needs an alias.
    signal_class: Text = pandera.Field(
        nullable=False, isin=["A", "B", "C", "D"], alias="class", description="A fact, B gap, C statistic, D judgement."
    )
    severity: Text = text("Of a fact, by policy.", null=True, pattern=r"^(blocking|warning|observe)$")
    is_required: Flag = flag("The round needs what the finding is about.")
    decision: Text = text("What follows from it.", pattern=r"^(block|unknown|warn|pause|record|proposal|dismissed)$")
    reason: Text = text(
        "What is unknown (class B), or why a statistic does less than it could (class C).", null=True, pattern=_REASONS
    )
    message: Text = text("One sentence, escaped and cut.")
    factors: Text = text("JSON object of the values behind it.")
    path: Text = text("Evidence: path of the file below the round folder.", null=True)
    file_sha256: Text = sha256("Evidence: digest of that file.", null=True)
    line: Count = count("Evidence: physical line, from 1; null for a whole document.", null=True, at_least=1)
    pointer: Text = text("Evidence: RFC 6901 pointer inside the line or document.", null=True)
    is_known: Flag = flag("The verdict of the parent round has it too.", null=True)
    first_seen_round_id: Text = text("Earliest round, from parent to parent, that has it.", null=True)
    dismissed_decision: Text = text(
        "Dismissed: what would follow from it.", null=True, pattern=r"^(block|unknown|warn|pause|record|proposal)$"
    )
    dismissed_by: Text = text("Dismissed: who signed.", null=True)
    dismissal_reason: Text = text("Dismissed: why, in their words.", null=True)
    dismissed_at: Utc = utc("Dismissed: when the ledger recorded it.")
    dismissed_until_on: Text = text("Dismissed: last day, in UTC, on which it counts; null: no end.", null=True,
                                    pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")  # fmt: skip
    dismissal_seq: Count = count("Dismissed: event of the ledger.", null=True, at_least=1)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "finding_id"]
        metadata = {"version": 2}
