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
    """One row per round: its accumulated surface and what it proved.

    Null = unknown, with its reason beside it. Source: spec/trajectory.md §1 (trajectory-features-v1).
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
        metadata = {"version": 1}
