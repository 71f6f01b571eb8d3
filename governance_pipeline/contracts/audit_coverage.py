"""Contract of `audit_coverage`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import Count, TableModel, Text, count, text


class AuditCoverage(TableModel):
    """One row per written rule of the governed folder and check that enforces it; a rule without one has one row.

    check_name, called_at and test_id are null for a rule nothing enforces; convention is null where nothing is left to
    convention.
    """

    rule_id: Text = text("Rule: policy-1 to policy-11, and what other parts of the framework promise.")
    check_index: Count = count("Number of the check for this rule, from 1.", at_least=1)
    rule: Text = text("What the rule asks for, in short.")
    state: Text = text("enforced, partly or convention_only.", pattern=r"^(enforced|partly|convention_only)$")
    check_name: Text = text("Code that refuses what the rule forbids, module:function.", null=True)
    called_at: Text = text("What calls it, and when.", null=True)
    test_id: Text = text("Test that breaks the rule and sees it refused.", null=True)
    convention: Text = text("What of the rule nothing enforces.", null=True)

    class Config(TableModel.Config):
        """Key and version; one table over the folder, not by round."""

        unique = ["rule_id", "check_index"]
        metadata = {"version": 1, "by_round": False}
