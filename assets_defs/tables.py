"""What Dagster shows of a table, all of it made from the contract and the list of steps.

What belongs here: the asset spec of a table. What does not: any table's name, which stand in `pipeline` only.
"""

import inspect
from typing import Any

import dagster as dg
from dagster_pandera import pandera_schema_to_dagster_type

from assets_defs.partitions import rounds
from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.pipeline import STEPS

OWNERS = ["team:governance"]
KINDS = {"pandas", "parquet"}


def layer_of(table: str) -> str:
    """Return the layer of a table, which is its Dagster group: the part of its name before the first underscore."""
    return table.partition("_")[0]


def tables_of(layer: str) -> tuple[str, ...]:
    """Return the tables of a layer, in pipeline order."""
    return tuple(table for table in STEPS if layer_of(table) == layer)


def specs_of(layer: str) -> list[dg.AssetSpec]:
    """Return the asset specs of the tables of a layer, in pipeline order."""
    return [spec_of(table) for table in tables_of(layer)]


def spec_of(table: str) -> dg.AssetSpec:
    """Return the asset spec of a table: key, group, inputs, description, column schema, owners and kinds."""
    return dg.AssetSpec(
        key=table,
        group_name=layer_of(table),
        deps=STEPS[table].inputs,
        description=inspect.getdoc(contract_of(table)),
        metadata={"dagster/column_schema": column_schema(table), "dagster/table_name": table},
        owners=OWNERS,
        kinds=KINDS,
        partitions_def=rounds,
    )


def column_schema(table: str) -> dg.TableSchema:
    """Return the columns of a table with type, description, nullability and rules, and its key."""
    contract = contract_of(table)
    dagster_type = pandera_schema_to_dagster_type(contract)
    key = ", ".join(contract.to_schema().unique or [])
    schema: Any = dagster_type.metadata["schema"].value
    return dg.TableSchema(columns=schema.columns, constraints=dg.TableConstraints(other=[f"unique: {key}"]))
