"""What Dagster shows of a table, all of it made from the contract, the list of steps and the list of gates.

What belongs here: the asset spec of a table. What does not: any rule about data.
"""

import inspect
import warnings
from typing import Any

import dagster as dg
from dagster_pandera import pandera_schema_to_dagster_type

from assets_defs.partitions import rounds
from governance_pipeline.confidence.lake_tables import EVENTS, INPUTS, POOLS, SCORES, TEAMS
from governance_pipeline.contracts.registry import REGISTRY, contract_of, is_by_round, reads_all_rounds
from governance_pipeline.framework.lake_tables import FOLDER_TABLES
from governance_pipeline.gate.gates import GATES
from governance_pipeline.pipeline import STEPS
from governance_pipeline.verdict.round_view import FOLDER_INPUTS

OWNERS = ["team:governance"]
KINDS = {"pandas", "parquet"}

FINDINGS = "verdict_findings"
REQUESTS, DECISIONS, LEDGER_COPY = "gate_requests", "gate_decisions", "gate_ledger"
GATED = tuple(dict.fromkeys(asset for gate in GATES.values() for asset in gate.assets))
"""The assets a gate releases."""

_GATE_INPUTS: dict[str, tuple[str, ...]] = {
    REQUESTS: tuple(dict.fromkeys(table for gate in GATES.values() for table in gate.upstream)),
    DECISIONS: (REQUESTS,),
    LEDGER_COPY: (),
    **dict.fromkeys(GATED, (DECISIONS,)),
}
"""Table of the gate -> what it comes after. A gated asset reads upstream tables only through what was approved."""

_CONFIDENCE_INPUTS: dict[str, tuple[str, ...]] = {EVENTS: INPUTS, **dict.fromkeys((SCORES, POOLS, TEAMS), (EVENTS,))}
"""Table of confidence -> what it is made from; no other table comes after one of them."""


def layer_of(table: str) -> str:
    """Return the layer of a table, which is its Dagster group: the part of its name before the first underscore."""
    return table.partition("_")[0]


def tables_of(layer: str) -> tuple[str, ...]:
    """Return the tables of a layer, in pipeline order."""
    return tuple(table for table in REGISTRY if layer_of(table) == layer)


def is_partitioned(table: str) -> bool:
    """Tell whether an asset has a partition per round: not if it is made over all rounds, however it is kept."""
    return is_by_round(table) and not reads_all_rounds(table)


def inputs_of(table: str) -> tuple[str, ...]:
    """Return the tables a table is made from."""
    if table in STEPS:
        return (*STEPS[table].inputs, *(FOLDER_INPUTS if table == FINDINGS else ()))
    return {**_GATE_INPUTS, **_CONFIDENCE_INPUTS, **FOLDER_TABLES}[table]


def specs_of(layer: str) -> list[dg.AssetSpec]:
    """Return the asset specs of the tables of a layer, in pipeline order."""
    return [spec_of(table) for table in tables_of(layer)]


def spec_of(table: str) -> dg.AssetSpec:
    """Return the asset spec of a table: key, group, inputs, description, column schema, owners and kinds.

    Requests are skippable: an audit where no gate is configured is no failure.
    """
    return dg.AssetSpec(
        key=table,
        group_name=layer_of(table),
        deps=inputs_of(table),
        description=inspect.getdoc(contract_of(table)),
        metadata={"dagster/column_schema": column_schema(table), "dagster/table_name": table},
        owners=OWNERS,
        kinds=KINDS,
        partitions_def=rounds if is_partitioned(table) else None,
        skippable=table == REQUESTS,
    )


def column_schema(table: str) -> dg.TableSchema:
    """Return the columns of a table with type, description, nullability and rules, and its key."""
    contract = contract_of(table)
    with warnings.catch_warnings():  # beta in the pinned version; used here only
        warnings.simplefilter("ignore", dg.BetaWarning)
        dagster_type = pandera_schema_to_dagster_type(contract)
    key = ", ".join(contract.to_schema().unique or [])
    schema: Any = dagster_type.metadata["schema"].value
    return dg.TableSchema(columns=schema.columns, constraints=dg.TableConstraints(other=[f"unique: {key}"]))
