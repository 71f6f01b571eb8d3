"""Contract of `features_cohort_baseline`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Real,
    TableModel,
    Text,
    Utc,
    count,
    real,
    sha256,
    text,
    utc,
)


class FeaturesCohortBaseline(TableModel):
    """One row per baseline and feature: robust statistics of the rounds of a cohort that ended up to a time.

    A baseline is named by a digest of what it is made of and of the baseline before it, so its rows never change: a
    round that ends later, arrives late or is measured again gives another baseline. Kept over all rounds, made from
    the rounds at hand alone. No normality is assumed anywhere. Source: spec/trajectory.md §4.
    """

    baseline_id: Text = sha256(
        "Digest of cohort, version, formulas, the baseline it supersedes, and the rounds added with their values."
    )
    cohort: Text = text("JSON list: the declared name, or project, task kind and language.")
    baseline_version: Text = text(
        "Version the rounds declare; null = they declare none, a version of its own.", null=True
    )
    until_at: Utc = utc("End of the last round in it; it is the reference of rounds that end later.", null=False)
    rounds_count: Count = count("Rounds in it.", at_least=1)
    supersedes_baseline_id: Text = sha256("The baseline before it in time; null for the first of a cohort.", null=True)
    reason: Text = text(
        "Why it supersedes: first (nothing before it) or rounds_added (more rounds of the cohort ended).",
        pattern=r"^(first|rounds_added)$",
    )
    added_round_ids: Text = text("JSON list of the rounds it has and the one before it has not: those that ended last.")
    feature: Text = text("Column of features_round.")
    known_count: Count = count("n: its rounds where the feature is known.")
    unknown_count: Count = count("Its rounds where it is not.")
    median: Real = real("Median of the known values; null when there is none.")
    mad: Real = real("Median of |value - median|.", low=0)
    q05: Real = real("5 % quantile, interpolated linearly.")
    q25: Real = real("25 % quantile.")
    q75: Real = real("75 % quantile.")
    q95: Real = real("95 % quantile.")
    log_martingale_max: Real = real(
        "Largest ln M of the conformal test martingale over its known values in order of time; 0 at least. From the "
        "logarithm of the bound in the settings the cohort drifts, and p-values against it raise nothing.",
        null=False,
        low=0,
    )
    feature_version: Text = text("Version of the formulas; rows of different versions are never mixed.")
    epsilon: Real = real("Epsilon of J; rows of different epsilons are never mixed.", null=False)

    class Config(TableModel.Config):
        """Key and version; one table over all rounds."""

        unique = ["baseline_id", "feature"]
        metadata = {"version": 1, "by_round": False, "reads_all_rounds": True}
