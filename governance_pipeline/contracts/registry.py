"""The one list of tables, and what a table's contract gives: empty frame, typed frame, failures.

What belongs here: the literal list in pipeline order and the calls by table name. What does not: any rule.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from governance_pipeline.contracts import frames, rules, sql_rules
from governance_pipeline.contracts.audit_coverage import AuditCoverage
from governance_pipeline.contracts.audit_cross_checks import AuditCrossChecks
from governance_pipeline.contracts.audit_escalations import AuditEscalations
from governance_pipeline.contracts.audit_explanations import AuditExplanations
from governance_pipeline.contracts.audit_incidents import AuditIncidents
from governance_pipeline.contracts.audit_independence import AuditIndependence
from governance_pipeline.contracts.audit_integrity import AuditIntegrity
from governance_pipeline.contracts.audit_locks import AuditLocks
from governance_pipeline.contracts.audit_rebaseline import AuditRebaseline
from governance_pipeline.contracts.audit_registry import AuditRegistry
from governance_pipeline.contracts.breach import breach_frame, contract_breach
from governance_pipeline.contracts.confidence_events import ConfidenceEvents
from governance_pipeline.contracts.confidence_pools import ConfidencePools
from governance_pipeline.contracts.confidence_scores import ConfidenceScores
from governance_pipeline.contracts.confidence_teams import ConfidenceTeams
from governance_pipeline.contracts.core_approvals import CoreApprovals
from governance_pipeline.contracts.core_attestations import CoreAttestations
from governance_pipeline.contracts.core_change_facts import CoreChangeFacts
from governance_pipeline.contracts.core_changes import CoreChanges
from governance_pipeline.contracts.core_components import CoreComponents
from governance_pipeline.contracts.core_criteria import CoreCriteria
from governance_pipeline.contracts.core_declared import CoreDeclared
from governance_pipeline.contracts.core_evidence import CoreEvidence
from governance_pipeline.contracts.core_file_changes import CoreFileChanges
from governance_pipeline.contracts.core_rounds import CoreRounds
from governance_pipeline.contracts.core_runs import CoreRuns
from governance_pipeline.contracts.core_steps import CoreSteps
from governance_pipeline.contracts.core_usage import CoreUsage
from governance_pipeline.contracts.features_amplification import FeaturesAmplification
from governance_pipeline.contracts.features_cohort_baseline import FeaturesCohortBaseline
from governance_pipeline.contracts.features_conformal import FeaturesConformal
from governance_pipeline.contracts.features_graph_surface import FeaturesGraphSurface
from governance_pipeline.contracts.features_round import FeaturesRound
from governance_pipeline.contracts.features_step_surface import FeaturesStepSurface
from governance_pipeline.contracts.fields import TableModel
from governance_pipeline.contracts.gate_decisions import GateDecisions
from governance_pipeline.contracts.gate_ledger import GateLedger
from governance_pipeline.contracts.gate_requests import GateRequests
from governance_pipeline.contracts.published_features import PublishedFeatures
from governance_pipeline.contracts.published_round_report import PublishedRoundReport
from governance_pipeline.contracts.raw_log_files import RawLogFiles
from governance_pipeline.contracts.raw_quarantine import RawQuarantine
from governance_pipeline.contracts.verdict_findings import VerdictFindings
from governance_pipeline.contracts.verdict_rounds import VerdictRounds
from governance_pipeline.errors import UsageError

REGISTRY: Final[Mapping[str, type[TableModel]]] = MappingProxyType(
    {
        "raw_log_files": RawLogFiles,
        "raw_quarantine": RawQuarantine,
        "core_rounds": CoreRounds,
        "core_criteria": CoreCriteria,
        "core_runs": CoreRuns,
        "core_steps": CoreSteps,
        "core_usage": CoreUsage,
        "core_declared": CoreDeclared,
        "core_components": CoreComponents,
        "core_file_changes": CoreFileChanges,
        "core_change_facts": CoreChangeFacts,
        "core_changes": CoreChanges,
        "core_evidence": CoreEvidence,
        "core_approvals": CoreApprovals,
        "core_attestations": CoreAttestations,
        "audit_cross_checks": AuditCrossChecks,
        "audit_escalations": AuditEscalations,
        "audit_explanations": AuditExplanations,
        "audit_integrity": AuditIntegrity,
        "audit_independence": AuditIndependence,
        "audit_registry": AuditRegistry,
        "audit_locks": AuditLocks,
        "audit_coverage": AuditCoverage,
        "audit_incidents": AuditIncidents,
        "audit_rebaseline": AuditRebaseline,
        "features_step_surface": FeaturesStepSurface,
        "features_round": FeaturesRound,
        "features_graph_surface": FeaturesGraphSurface,
        "features_amplification": FeaturesAmplification,
        "features_cohort_baseline": FeaturesCohortBaseline,
        "features_conformal": FeaturesConformal,
        "verdict_findings": VerdictFindings,
        "verdict_rounds": VerdictRounds,
        "confidence_events": ConfidenceEvents,
        "confidence_scores": ConfidenceScores,
        "confidence_pools": ConfidencePools,
        "confidence_teams": ConfidenceTeams,
        "gate_requests": GateRequests,
        "gate_decisions": GateDecisions,
        "gate_ledger": GateLedger,
        "published_round_report": PublishedRoundReport,
        "published_features": PublishedFeatures,
    }
)
"""Table name -> contract, in pipeline order. A table exists when it is listed here."""


def contract_of(table: str) -> type[TableModel]:
    """Give the contract of a table.

    Raises:
        UsageError: no such table.
    """
    try:
        return REGISTRY[table]
    except KeyError:
        raise UsageError(f"there is no table {table!r}; the tables are {', '.join(REGISTRY)}") from None


def version_of(table: str) -> int:
    """Give the version of a table's contract; it changes whenever a column changes its meaning."""
    return int(contract_of(table).Config.metadata["version"])


def is_by_round(table: str) -> bool:
    """Tell whether a table is kept round by round; if not, it is one table over all rounds."""
    return bool(contract_of(table).Config.metadata.get("by_round", True))


def reads_all_rounds(table: str) -> bool:
    """Tell whether a table is made over all rounds at once, however it is kept: no run over some rounds can make it."""
    return bool(contract_of(table).Config.metadata.get("reads_all_rounds", False))


def grain_of(table: str) -> str:
    """Give the first line of a contract's docstring: what one row is."""
    return explanation_of(table).partition("\n")[0]


def explanation_of(table: str) -> str:
    """Give a contract's docstring: grain, what null means, and whatever else a reader must know."""
    return inspect.cleandoc(contract_of(table).__doc__ or "")


def key_of(table: str) -> tuple[str, ...]:
    """Give the columns that identify a row."""
    return rules.rules_of(contract_of(table))[-1].columns


def descriptions_of(table: str) -> dict[str, str]:
    """Give what each column means, in order."""
    return {str(name): column.description or "" for name, column in contract_of(table).to_schema().columns.items()}


def lexeme_columns(table: str) -> tuple[str, ...]:
    """Give the text columns that hold numbers: canonical lexemes, and those named `_lexeme` that are as written."""
    columns = contract_of(table).to_schema().columns.items()
    return tuple(str(name) for name, column in columns if column.metadata or str(name).endswith("_lexeme"))


def empty_frame(table: str) -> pd.DataFrame:
    """Give the frame of a table without rows; shape: every column of the contract, in order, with its dtype."""
    return frames.empty(contract_of(table))


def frame_of(table: str, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Make the frame of a table from rows; a column a row leaves out is null there.

    Whole numbers take int (never bool), Real takes finite numbers exact in binary64, Money takes Decimal or int,
    times take datetimes with a zone, text takes str. None, pd.NA and pd.NaT are null; NaN is not.

    Raises:
        ContractBreach: a row names a column the contract does not have, or a value does not fit its column; every
            such cell is listed with column and row (from 0). Rules about values are `validate`'s.
    """
    return frames.typed(contract_of(table), table, rows)


def breaches(table: str, frame: pd.DataFrame, *, large_rows: int | None = None) -> pd.DataFrame:
    """List the failures of a frame against the contract of its table.

    Args:
        table: name of the table.
        frame: what claims to keep the contract.
        large_rows: above this number of rows the same rules run as one SQL pass (None: always pandera).

    Returns:
        One row per failure: column, rule, row (from 0), value as shown; empty when the frame is sound.
    """
    model = contract_of(table)
    in_sql = large_rows is not None and len(frame) > large_rows
    find = sql_rules.frame_breaches if in_sql else rules.value_breaches
    return breach_frame(rules.structure_breaches(model, frame) or find(model, frame))


def breaches_of_parquet(table: str, path: Path) -> pd.DataFrame:
    """List the failures of a Parquet file with the columns of a table, as `breaches` does, without loading it."""
    return breach_frame(sql_rules.parquet_breaches(contract_of(table), path))


def validate(table: str, frame: pd.DataFrame, *, large_rows: int | None = None) -> pd.DataFrame:
    """Give `frame` back when it keeps its contract; `large_rows` as in `breaches`.

    Raises:
        ContractBreach: it does not; `rows` lists every failure.
    """
    found = breaches(table, frame, large_rows=large_rows)
    if len(found):
        raise contract_breach(table, found)
    return frame
