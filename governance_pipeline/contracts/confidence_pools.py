"""Contract of `confidence_pools`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import Count, Real, TableModel, Text, count, real, text


class ConfidencePools(TableModel):
    """One row per runtime: the mean of the agents that are there now, weighted by their evaluations.

    Kept over all rounds; no gate reads it.
    """

    runtime: Text = text("platform/model/thinking.")
    score: Real = real("Mean global score of its members, in points; 50 without any.", null=False, low=-100, high=100)
    evaluations: Real = real("Evaluations of all tracks of the runtime; an implicit one is a half.", null=False, low=0)
    maturity: Text = text("By whole evaluations.", pattern=r"^(NEW|JUNIOR|ESTABLISHED|MATURE)$")
    ci_half_width: Real = real("25 / sqrt(evaluations), in points.", null=False, low=0)
    members_count: Count = count("Agents whose last event was in this runtime.")
    members: Text = text("JSON list of them.")

    class Config(TableModel.Config):
        """Key and version; one table over all rounds."""

        unique = ["runtime"]
        metadata = {"version": 1, "by_round": False}
