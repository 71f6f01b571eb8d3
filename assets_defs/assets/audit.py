"""Audit tables: what was recomputed, what goes to a person, whether hashes hold, and how the governed folder stands."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets_defs.governed import NO_FOLDER, Project
from assets_defs.one_table import one_asset_each
from assets_defs.recording import TRANSIENT_FAULT, metadata_of
from assets_defs.resources import Gatekeeper
from assets_defs.tables import spec_of
from governance_pipeline.framework.lake_tables import FOLDER_TABLES, refresh_folder
from governance_pipeline.workspace import Workspace


@dg.multi_asset(specs=[spec_of(table) for table in FOLDER_TABLES], retry_policy=TRANSIENT_FAULT)
def folder_tables(
    context: dg.AssetExecutionContext,
    workspace: dg.ResourceParam[Workspace],
    gate: dg.ResourceParam[Gatekeeper],
    project: dg.ResourceParam[Project],
) -> Iterator[dg.MaterializeResult[Any]]:
    """Verify the governed folder: registry, locks, coverage, incidents, re-baselines; empty where there is none."""
    folder, lake = project.folder(), workspace.lake
    if folder is None:
        context.log.info(NO_FOLDER)
    verifier = gate.verifier(lake) if gate.is_configured() else None
    for table, stored in refresh_folder(lake, folder, verifier, gate.now()).items():
        yield dg.MaterializeResult(asset_key=table, metadata=metadata_of(lake, table, None, stored))


audit_tables = [*one_asset_each("audit"), folder_tables]
