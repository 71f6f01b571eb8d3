"""Gate tables: what was asked about each round, the decisions that open the gate, and a copy of the ledger."""

import dagster as dg

from assets_defs.asking import Requests
from assets_defs.deciding import CHECK_SPECS, Yielded, decided
from assets_defs.partitions import chunked, rounds
from assets_defs.recording import TRANSIENT_FAULT, Recorded, metadata_of, recorded
from assets_defs.resources import Gatekeeper
from assets_defs.tables import DECISIONS, LEDGER_COPY, REQUESTS, spec_of
from governance_pipeline.gate.tables import gate_ledger as ledger_copy
from governance_pipeline.pipeline import STEPS
from governance_pipeline.workspace import Workspace


@dg.multi_asset(specs=[spec_of(REQUESTS)], partitions_def=rounds, backfill_policy=chunked, retry_policy=TRANSIENT_FAULT)
def gate_requests(
    context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> Recorded:
    """Ask a person about each round whose work has not been asked about; an audit without a gate asks nobody."""
    is_audit = any(dg.AssetKey(table) in context.job_def.asset_layer.selected_asset_keys for table in STEPS)
    if is_audit and not gate.is_configured():
        context.log.warning("nobody was asked: no gate is configured; make one with `govern trust init`")
        return
    requests = Requests(gate, workspace.lake)
    yield from recorded(context, requests, [REQUESTS], requests.shown)


@dg.multi_asset(specs=[spec_of(DECISIONS)], check_specs=CHECK_SPECS, partitions_def=rounds, can_subset=True)
def gate_decisions(
    context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> Yielded:
    """Show whether the gate is open for a round, and fail where it is closed; the gated assets ask again."""
    yield from decided(context, workspace.lake, gate)


@dg.multi_asset(specs=[spec_of(LEDGER_COPY)])
def gate_ledger(
    workspace: dg.ResourceParam[Workspace], gate: dg.ResourceParam[Gatekeeper]
) -> dg.MaterializeResult[None]:
    """Copy the ledger to where it can be queried; the copy decides nothing."""
    lake = workspace.lake
    stored = lake.put(LEDGER_COPY, None, ledger_copy(gate.verifier(lake).ledger))
    return dg.MaterializeResult(asset_key=LEDGER_COPY, metadata=metadata_of(lake, LEDGER_COPY, None, stored))


gate_tables = [gate_requests, gate_decisions, gate_ledger]
