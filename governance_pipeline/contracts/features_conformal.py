"""Contract of `features_conformal`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    Real,
    TableModel,
    Text,
    Utc,
    count,
    flag,
    real,
    round_id,
    sha256,
    text,
    utc,
)


class FeaturesConformal(TableModel):
    """One row per round and compared feature: how extreme it is among the comparable rounds that ended before it.

    A p-value says how many of those rounds are at least as extreme. It is never the probability that the round, or
    anything in it, is wrong. Null = unknown, with its reason beside it. Source: spec/trajectory.md §4-5.
    """

    round_id: Text = round_id()
    feature: Text = text("Column of features_round, or max_z: the largest robust z of the vector.")
    cohort: Text = text("JSON list: the declared name, or project, task kind and language; null = none.", null=True)
    baseline_version: Text = text("Version it is judged against; null is a version of its own.", null=True)
    baseline_id: Text = sha256(
        "Baseline (features_cohort_baseline) it is compared with: the rounds of its cohort that ended strictly before "
        "it; null when there is none.",
        null=True,
    )
    ended_at: Utc = utc("End of the round; only rounds that ended strictly before it are its reference.")
    value: Real = real("What is compared; of max_z the largest robust z, scaled with the round itself in the pool.")
    known_count: Count = count("n: reference rounds where it is known.", null=True)
    unknown_count: Count = count("Reference rounds left out because it is not.", null=True)
    median: Real = real("Median of the reference.")
    mad: Real = real("Median of |value - median| of the reference.", low=0)
    robust_z: Real = real("(value - median) / (1.4826 * mad): how far out, in a unit that assumes no normality.")
    robust_z_reason: Text = text(
        "Why it is null: no_cohort, no_time, value_unknown, no_reference, mad_zero, not_applicable (max_z).",
        null=True,
        pattern=r"^(no_cohort|no_time|value_unknown|no_reference|mad_zero|not_applicable)$",
    )
    q05: Real = real("5 % quantile of the reference, interpolated linearly.")
    q25: Real = real("25 % quantile of the reference.")
    q75: Real = real("75 % quantile of the reference.")
    q95: Real = real("95 % quantile of the reference.")
    log_martingale_max: Real = real("Largest ln M of the exchangeability martingale over the reference.", low=0)
    at_least_count: Count = count("Reference rounds at least as large; null whenever p_value is.", null=True)
    p_value: Real = real(
        "(1 + at_least_count) / (known_count + 1). Read: how extreme among comparable rounds. Not the probability of "
        "being wrong.",
        low=0,
        high=1,
    )
    p_adjusted: Real = real(
        "p_value after Benjamini-Hochberg among the features of this round. Read: of the features of a round at or "
        "below a level, the expected share that is there by chance alone is at most that level.",
        low=0,
        high=1,
    )
    batch_count: Count = count("m: p-values adjusted together, those of this round that are known and not suspect.")
    level: Text = text("Level alpha, as the settings write it.")
    is_extreme: Flag = flag("p_adjusted is at most the level; says unusual, never wrong.", null=True)
    reason: Text = text(
        "Why p is unknown (no_cohort, no_time, value_unknown, too_few: the reference cannot reach the level, mad_zero) "
        "or raises nothing (exchangeability_suspect: the reference drifts).",
        null=True,
        pattern=r"^(no_cohort|no_time|value_unknown|too_few|mad_zero|exchangeability_suspect)$",
    )
    feature_version: Text = text("Version of the formulas; rows of different versions are never mixed.")
    epsilon: Real = real("Epsilon of J; rows of different epsilons are never mixed.", null=False)

    class Config(TableModel.Config):
        """Key and version; kept round by round, made over all rounds at once."""

        unique = ["round_id", "feature"]
        metadata = {"version": 1, "reads_all_rounds": True}
