"""Contract of `features_amplification`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    Real,
    TableModel,
    Text,
    count,
    flag,
    integer,
    real,
    round_id,
    text,
)


class FeaturesAmplification(TableModel):
    """One row per file a round touched: how often it changes, how far a change of it reaches, and what that signals.

    Frequency is from the git history before the round's base commit, impact from the repository graph: files that use
    the unit, directly or through others. Factors are kept beside their product, at the base and after the round.
    Null = unknown, and `unknown` says why a signal is. Passive: nothing follows from a signal by itself.
    Source: spec/trajectory.md §6.
    """

    round_id: Text = round_id()
    unit: Text = text("Path of the touched file in normal form.")
    is_in_baseline: Flag = flag("The unit exists at the base commit.", null=True)
    baseline_frequency_count: Count = count("Commits up to the base that touch it.", null=True)
    baseline_impact_count: Count = count("Files that use it at the base, directly or through others.", null=True)
    baseline_tests_count: Count = count("Test files among those.", null=True)
    baseline_amplification: Real = real("Frequency times impact at the base.", low=0)
    baseline_robust_z: Real = real("Distance of that from the median of all units, in scaled MADs.")
    is_baseline_outlier: Flag = flag("It lies in the outlier region.", null=True)
    is_in_candidate: Flag = flag("The unit exists after the round.", null=True)
    candidate_frequency_count: Count = count("The same commits and those of the round.", null=True)
    candidate_impact_count: Count = count("Files that use it after the round.", null=True)
    candidate_tests_count: Count = count("Test files among those.", null=True)
    candidate_amplification: Real = real("Frequency times impact after the round.", low=0)
    candidate_robust_z: Real = real("Distance of that from the median of the baseline, in scaled MADs.")
    is_candidate_outlier: Flag = flag("It lies in the outlier region of the baseline.", null=True)
    impact_delta_count: Count = integer("Impact after the round minus impact at the base.")
    is_touched_outlier: Flag = flag("Signal 1, context only: it was an outlier before the round.", null=True)
    is_impact_increase: Flag = flag("Signal 2: its impact grew materially.", null=True)
    is_outlier_crossing: Flag = flag("Signal 3: its impact carries it into the region at its old frequency.", null=True)
    is_frequency_only_crossing: Flag = flag("It entered the region, but not at its old frequency.", null=True)
    reference_units_count: Count = count("Units of the baseline whose product is known.", null=True)
    region_median: Real = real("Median of their products.", low=0)
    region_mad: Real = real("Median of the distances from it.", low=0)
    region_threshold: Real = real("The region begins above this product.", low=0)
    region_reason: Text = text("Why there is no region.", null=True, pattern=r"^(too_few|mad_zero)$")
    commits_used_count: Count = count("Commits of the history that count.", null=True)
    commits_left_out_count: Count = count("Commits of too many files, which do not.", null=True)
    is_whole_history: Flag = flag("The history was read to its first commit.", null=True)
    base_commit_id: Text = text("Base commit of the round.", null=True, pattern=r"^[0-9a-f]{40,64}$")
    candidate_commit_id: Text = text("Last commit of the round.", null=True, pattern=r"^[0-9a-f]{40,64}$")
    read_files_share: Real = real("Files of languages with a provider read whole at the base.", low=0, high=1)
    known_imports_share: Real = real("Imports of which it is known where they lead, at the base.", low=0, high=1)
    provider: Text = text("JSON: provenance, units, what is counted, gaps and confidence of both providers.")
    rule: Text = text("JSON: k, min_units, material_min, material_share, max_files in force.")
    unknown: Text = text("JSON object: signal -> reason, for each of the first three that is null.")
    feature_version: Text = text("Version of the formulas; rows of different versions are never mixed.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "unit"]
        metadata = {"version": 1}
