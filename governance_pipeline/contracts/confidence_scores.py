"""Contract of `confidence_scores`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import Flag, Real, TableModel, Text, flag, real, text


class ConfidenceScores(TableModel):
    """One row per track, domain and day with an event: the score after the last event of that day.

    A track is one subject in one runtime; a user's runtime is null. Kept over all rounds; no gate reads it.
    """

    role: Text = text("agent or user.", pattern=r"^(agent|user)$")
    subject_id: Text = text("Who is judged.")
    runtime: Text = text("platform/model/thinking; null for users.", null=True)
    domain: Text = text("Domain.", pattern=r"^(TECH|OPS|JUDGMENT|COMMS|ORCH)$")
    day_on: Text = text("Day, as the events give it.", pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    score: Real = real("Score after the last event of the day, in points.", null=False, low=-100, high=100)
    net: Real = real("Sum of what was applied that day, in points.", null=False)
    penalties: Real = real("Sum of what was taken off that day, sign dropped, in points.", null=False, low=0)
    has_diverged: Flag = flag("That day's penalties exceeded half the score.")

    class Config(TableModel.Config):
        """Key and version; one table over all rounds."""

        unique = ["role", "subject_id", "runtime", "domain", "day_on"]
        metadata = {"version": 1, "by_round": False}
