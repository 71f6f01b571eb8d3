"""Contract of `features_round`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Real,
    TableModel,
    Text,
    count,
    real,
    round_id,
    text,
)
from governance_pipeline.vocabulary import ContractState


class FeaturesRound(TableModel):
    """One row per round: its accumulated surface, what it proved, and the numbers cohorts compare.

    Null = unknown, with its reason beside it. Source: spec/trajectory.md §1 (trajectory-features-v1) and §4.
    """

    round_id: Text = round_id()
    origin: Text = text("Steps from native (changes.jsonl) or log (edits found in logs).", pattern=r"^(native|log)$")
    contract_state: Text = text("valid, invalid or absent.", among=ContractState)
    module_rule: Text = text("Module rule in force; null when only a [modules] table decides.", null=True)
    steps_count: Count = count("Steps with a row.")
    last_step_index: Count = count("Number of the last step; null without steps.", null=True, at_least=1)
    step_gaps: Text = text("JSON list of [first, last] of the steps missing before the last one.")
    repeated_steps: Text = text("JSON list of the steps more than one line gives.")
    aus_round: Real = real("AUS: sum of S over the steps; idle time adds nothing. Null: aus_reason says why.", low=0)
    aus_known_steps_count: Count = count("Steps whose S is known.")
    aus_reason: Text = text(
        "Why AUS is unknown, the first that holds: no_steps, changes_quarantined, step_gap, s_unknown.",
        null=True,
        pattern=r"^(no_steps|changes_quarantined|step_gap|s_unknown)$",
    )
    largest_s: Real = real("Largest S of a step. Null: aus_reason says why.", low=0)
    largest_h: Real = real("Largest H of a step, nats. Null: largest_h_reason says why.", low=0)
    largest_h_reason: Text = text(
        "Why it is unknown, the first that holds: no_steps, changes_quarantined, step_gap, h_unknown.",
        null=True,
        pattern=r"^(no_steps|changes_quarantined|step_gap|h_unknown)$",
    )
    unproven_growth: Real = real(
        "Growth without evidence: sum of max(0, S - S of the step before) over steps whose E did not rise.", low=0
    )
    unproven_growth_reason: Text = text(
        "Why it is unknown, the first that holds: no_steps, changes_quarantined, step_gap, s_unknown, e_unknown.",
        null=True,
        pattern=r"^(no_steps|changes_quarantined|step_gap|s_unknown|e_unknown)$",
    )
    rewrite_share: Real = real(
        "Deleted lines / lines at [repo] base, over the touched files that were there; a file counts once at most.",
        low=0,
        high=1,
    )
    rewrite_share_reason: Text = text(
        "Why it is unknown, the first that holds: no_repo (the contract names no repository and commit), no_steps, "
        "changes_quarantined, step_gap, step_repeated, files_not_listed, path_outside (a touched file is not named "
        "from the root of the repository), base_not_pinned (base is no commit id), repo_unreadable, base_not_found, "
        "churn_unknown, no_base_lines (no touched file was there with a line).",
        null=True,
        pattern=r"^(no_repo|no_steps|changes_quarantined|step_gap|step_repeated|files_not_listed|path_outside"
        r"|base_not_pinned|repo_unreadable|base_not_found|churn_unknown|no_base_lines)$",
    )
    required_count: Count = count("Criteria the contract requires; null without a valid one.", null=True)
    proven_required_count: Count = count("Those proven at the end of the round; null whenever E is.", null=True)
    evidence_share: Real = real("E of the round: proven_required / required; 0 when none is required.", low=0, high=1)
    evidence_reason: Text = text(
        "Why E is unknown: no_contract, contract_invalid or evidence_quarantined.",
        null=True,
        pattern=r"^(no_contract|contract_invalid|evidence_quarantined)$",
    )
    quarantined_changes_count: Count = count("Quarantined lines of changes.jsonl.")
    quarantined_evidence_count: Count = count("Quarantined lines of evidence.jsonl.")
    opaque_steps_count: Count = count(
        "Steps in logs whose file changes nobody can know; a surface with origin log is short by them."
    )
    feature_version: Text = text("Version of the formulas; rows of different versions are never mixed.")
    epsilon: Real = real("Epsilon of J; rows of different epsilons are never mixed.", null=False)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id"]
        metadata = {"version": 2}
