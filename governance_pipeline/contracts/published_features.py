"""Contract of `published_features`."""

from __future__ import annotations

from governance_pipeline.contracts.features_step_surface import FeaturesStepSurface
from governance_pipeline.contracts.fields import (
    Flag,
    Real,
    TableModel,
    Text,
    flag,
    real,
    sha256,
    text,
)


class PublishedFeatures(FeaturesStepSurface):
    """One row per step of a released round: its features as they were approved, and who approved them.

    The columns of `features_step_surface` with the meaning they have there, then those of the round as a whole (the
    same in each of its rows), then the approval. Null = unknown.
    """

    aus_round: Real = real("AUS of the round: sum of S over its steps.", low=0)
    aus_reason: Text = text("Why AUS is unknown.", null=True, pattern=r"^[a-z_]+$")
    evidence_share_round: Real = real("E at the end of the round.", low=0, high=1)
    evidence_reason: Text = text("Why E of the round is unknown.", null=True, pattern=r"^[a-z_]+$")
    approved_by: Text = text("JSON list of the people who approved.")
    decision_ids: Text = text("JSON list of the decisions that opened the gate.")
    subject_sha256: Text = sha256("Manifest that was approved.")
    is_throwaway: Flag = flag("Approved under a trust root made for a demo or a test.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "step_index"]
        metadata = {"version": 1}
