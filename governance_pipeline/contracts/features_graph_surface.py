"""Contract of `features_graph_surface`."""

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


class FeaturesGraphSurface(TableModel):
    """One row per step of a round: the full vector F L Y M P D H C, with the repository graph behind it.

    Steps, and F L M P H, are those of features_step_surface; D here is hops in the graph of the repository at the
    round's base commit, not the share outside the scope. Null = unknown, and `unknown` says why: a round without
    [repo] has its rows, with Y, D and C null. Source: spec/trajectory.md §2 (trajectory-features-v2).
    """

    round_id: Text = round_id()
    step_index: Count = count("Step t of the round, from 1.", at_least=1)
    origin: Text = text("native (changes.jsonl) or log (edits found in logs).", pattern=r"^(native|log)$")
    run_id: Text = text("Run the event names.", null=True)
    at: Utc = utc("When.")
    commit_id: Text = text("Commit the step is, where its log names one.", null=True, pattern=r"^[0-9a-f]{40,64}$")
    files_count: Count = count("F: distinct files modified.", null=True)
    churn_count: Count = count("L: lines added and deleted.", null=True)
    symbols_count: Count = count("Y: functions, classes and methods added, removed or changed.", null=True)
    modules_count: Count = count("M: distinct modules touched.", null=True)
    public_count: Count = count("P: files touched that are a public boundary.", null=True)
    objective_hops: Real = real("D: mean hops from what changed to the objective set, weighted by churn.", low=0)
    entropy_nats: Real = real("H: entropy of the change over modules, in nats.", low=0)
    centrality_share: Real = real(
        "C: mean PageRank percentile of what changed, weighted by churn, 0 to 1.", low=0, high=1
    )
    surface_sum: Real = real(
        "S of version 2 = F + L + Y + M + P + D + H + C: descriptive, of mixed units, neither a risk nor a "
        "probability; null when any term is.",
        low=0,
    )
    symbols_source: Text = text(
        "Where Y is from: git (contents before and after a commit) or event (names the event lists).",
        null=True,
        pattern=r"^(git|event)$",
    )
    changed_symbols: Text = text("JSON list of the ids Y counts; null when Y is.", null=True)
    objective_source: Text = text(
        "contract (which may be incomplete) or seeded (a benchmark that knows it); null without an objective set.",
        null=True,
        pattern=r"^(contract|seeded)$",
    )
    objective_nodes_count: Count = count("Files of the graph the objective set matches.", null=True)
    objective_unmatched_count: Count = count("Entries of the objective set that match no file of it.", null=True)
    unreachable_weight_share: Real = real(
        "Share of the change's weight from which no objective is reached, 0 to 1.", low=0, high=1
    )
    is_directed: Flag = flag("Distances follow edges from user to used.", null=True)
    changed_nodes: Text = text(
        "JSON list of {id, weight, distance, pagerank, percentile, degree} of what changed; null without a graph.",
        null=True,
    )
    nodes_not_in_graph_count: Count = count("Changed files that are no node of the graph.", null=True)
    has_changes: Flag = flag("The step changed a file: its interval counts 1 in the discrete area, else 0.", null=True)
    aus_to_step: Real = real("AUS of version 2 up to this step: sum of S; null when any S so far is unknown.", low=0)
    aus_discrete_to_step: Real = real("Sum of S times 1 for a step with changes, else 0, up to this step.", low=0)
    surface_seconds_to_step: Real = real(
        "Wall-clock area up to this step: sum of S times the seconds since the step before; it grows with idle time "
        "and is kept apart for that reason."
    )
    aus_reason: Text = text(
        "Why aus_to_step is null: changes_quarantined, step_gap or s_unknown.",
        null=True,
        pattern=r"^(changes_quarantined|step_gap|s_unknown)$",
    )
    base_commit_id: Text = text("Commit whose graph it is.", null=True, pattern=r"^[0-9a-f]{40,64}$")
    tree_id: Text = text("Tree of that commit: same tree, same graph.", null=True, pattern=r"^[0-9a-f]{40,64}$")
    provider_sha256: Text = sha256("Digest of the code and grammars the graph was made with.", null=True)
    graph_nodes_count: Count = count("Nodes of the graph.", null=True)
    graph_edges_count: Count = count("Distinct edges of it.", null=True)
    read_files_share: Real = real("Files of languages with a provider that were read whole / all such files.", low=0)
    known_imports_share: Real = real("Imports of which it is known where they lead / imports seen.", low=0, high=1)
    known_calls_share: Real = real("Calls of which it is known where they lead / calls seen.", low=0, high=1)
    known_bases_share: Real = real("Base classes of which it is known which they are / seen.", low=0, high=1)
    coverage: Text = text("JSON: files, languages, gaps and uses seen, resolved, external, unresolved.", null=True)
    unknown: Text = text("JSON object: letter of each unknown term among F L Y M P D H C -> reason.")
    path: Text = text("Path of the source file below the round folder; the first place that gives the step.")
    file_sha256: Text = sha256("Digest of the source file.")
    line: Count = count("Physical line in it, from 1; null when the file is one document.", null=True, at_least=1)
    feature_version: Text = text("Version of the formulas; rows of different versions are never mixed.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id", "step_index"]
        metadata = {"version": 1}
