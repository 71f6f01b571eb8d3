"""Contract of `core_rounds`."""

from __future__ import annotations

from governance_pipeline.contracts.fields import (
    Count,
    Flag,
    TableModel,
    Text,
    Utc,
    count,
    flag,
    round_id,
    sha256,
    text,
    utc,
)
from governance_pipeline.vocabulary import ContractState


class CoreRounds(TableModel):
    """One row per round: its contract, the state of it, and when the round ended.

    Lists are JSON text: null = not declared (unknown), [] = declared empty. Null in any contract column: the contract
    is absent, invalid or silent on it.
    """

    round_id: Text = round_id()
    contract_state: Text = text("valid, invalid or absent.", among=ContractState)
    contract_sha256: Text = sha256("Digest of round.toml.", null=True)
    contract_fault: Text = text("First fault of an invalid contract: line, code, message.", null=True)
    objective: Text = text("What the round promised.", null=True)
    project: Text = text("Project the round belongs to.", null=True)
    cohort: Text = text("Declared cohort.", null=True)
    task_kind: Text = text("Kind of task.", null=True)
    language: Text = text("Main language.", null=True)
    parent_round_id: Text = text("Round this one continues.", null=True)
    baseline_version: Text = text("Version of the baseline it is judged against.", null=True)
    mode: Text = text("quick or final.", null=True, pattern=r"^(quick|final)$")
    contributes_to: Text = text("JSON list of key result ids.", null=True)
    key_results: Text = text("JSON list of {id, text}.", null=True)
    scope_include: Text = text("JSON list of globs in scope.", null=True)
    scope_non_goals: Text = text("JSON list of globs that are non-goals.", null=True)
    scope_public: Text = text("JSON list of globs of public boundaries.", null=True)
    scope_objective_set: Text = text("JSON list of objective files.", null=True)
    scope_canonical: Text = text("JSON list of globs of canonical assets: no write without an approval.", null=True)
    module_rule: Text = text(
        "dir:N rule the contract declares; null = none: dir:2 is in force, unless it has a [modules] table.", null=True
    )
    modules: Text = text("JSON list of [name, globs] in the order written.", null=True)
    goal_substitution: Text = text("observe or warn, as the contract says.", null=True, pattern=r"^(observe|warn)$")
    material_files_count: Count = count("Surface threshold in files.", null=True, at_least=1)
    material_churn_count: Count = count("Surface threshold in lines.", null=True, at_least=1)
    repo_path: Text = text("Repository for graph features.", null=True)
    repo_base_id: Text = text("Commit the round started from.", null=True)
    is_repo_directed: Flag = flag("Distances follow edge direction.", null=True)
    runs_count: Count = count("Runs found in the logs.")
    started_at: Utc = utc("Earliest time any source of the round carries; null when none does.")
    ended_at: Utc = utc("Latest time any source of the round carries; null when none does.")

    class Config(TableModel.Config):
        """Key and version."""

        unique = ["round_id"]
        metadata = {"version": 3}
