"""Contract of `confidence_teams`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import Real, TableModel, Text, real, text


class ConfidenceTeams(TableModel):
    """One row per registered team of an agent and a user; the floor and the quadrant stand beside every score.

    Kept over all rounds; no gate reads it.
    """

    team_id: Text = text("Team.")
    agent_id: Text = text("Its agent.")
    user_id: Text = text("Its user.")
    agent_score: Real = real("Global score of the agent, in points.", null=False, low=-100, high=100)
    user_score: Real = real("Global score of the user, in points.", null=False, low=-100, high=100)
    quadrant: Text = text("Which side is good.", pattern=r"^(GOOD|COMPENSATED|PROBLEM|BREAKDOWN)$")
    score: Real = real("Weighted by the quadrant, in points.", null=False, low=-100, high=100)
    floor: Real = real("The lower side, in points.", null=False, low=-100, high=100)

    class Config(TableModel.Config):
        """Key and version; one table over all rounds."""

        unique = ["team_id"]
        metadata = {"version": 1, "by_round": False}
