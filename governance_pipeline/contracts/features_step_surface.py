"""Contract of `features_step_surface`."""

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


class FeaturesStepSurface(TableModel):
    """One row per step of a round: how far its change spread, and how much was proven by then.

    A step is one event of changes.jsonl; only a round without that file takes its steps from the edits in its logs,
    one per run step with edits, numbered from 1 by run id and step. Null = unknown, and `unknown` says why; a step
    that is missing has no row. Numbers an event carries itself are kept, even where its files give others.
    Source: spec/trajectory.md §1 (trajectory-features-v1).
    """

    round_id: Text = round_id()
    step_index: Count = count("Step t of the round, from 1.", at_least=1)
    origin: Text = text("native (changes.jsonl) or log (edits found in logs).", pattern=r"^(native|log)$")
    run_id: Text = text("Run the event names.", null=True)
    at: Utc = utc("When.")
    files_count: Count = count("F: distinct files modified.", null=True)
    churn_count: Count = count("L: lines added and deleted.", null=True)
    modules_count: Count = count("M: distinct modules touched.", null=True)
    public_count: Count = count("P: files touched that are a public boundary.", null=True)
    outside_scope_ratio: Real = real(
        "D: files outside the declared scope / files modified, 0 to 1; a proxy of the distance to the objective, not "
        "that distance.",
        low=0,
        high=1,
    )
    entropy_nats: Real = real("H: entropy of the change over modules, in nats.", low=0)
    surface_sum: Real = real(
        "S = F + L + M + P + D + H: descriptive, of mixed units, neither a risk nor a probability; null when any term "
        "is.",
        low=0,
    )
    evidence_share: Real = real("E: required criteria proven up to this step / required, 0 to 1.", low=0, high=1)
    evidence_per_surface: Real = real(
        "J = (E + epsilon) / (S + epsilon): recorded only; no threshold, ranking or alert is made from it.", low=0
    )
    surface_sum_delta: Real = real("S minus S of step t - 1; null where that step has no row or either is unknown.")
    evidence_share_delta: Real = real("E minus E of step t - 1; null where that step has no row or either is unknown.")
    is_repeated: Flag = flag("More than one line gives this step; its terms are null unless they are byte-identical.")
    unknown: Text = text("JSON object: letter of each unknown term among F L M P D H E -> reason.")
    mismatches: Text = text("JSON list of {field, declared, computed}: own numbers of the event its files contradict.")
    path: Text = text("Path of the source file below the round folder; the first place that gives the step.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count("Physical line in it, from 1; null when the file is one document.", null=True, at_least=1)
    feature_version: Text = text("Version of the formulas; rows of different versions are never mixed.")
    epsilon: Real = real("Epsilon of J; rows of different epsilons are never mixed.", null=False)

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "step_index"]
        metadata = {"version": 1}
