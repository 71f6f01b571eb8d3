"""The body of a gated asset: pass the guard for every round of the run, then write, then say that it is done.

What belongs here: what a run is called in the ledger, and what Dagster is told. What does not: the refusal, which is
the guard's (gate.guard), and what is written (gate.publication). Nothing is written before all rounds have passed.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from assets_defs.deciding import OPEN, refused, standings
from assets_defs.decision_sensor import ATTEMPT_TAG
from assets_defs.recording import failure_of, metadata_of
from assets_defs.resources import Gatekeeper
from governance_pipeline.errors import GovernError
from governance_pipeline.gate.attempts import resumed_run
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.gates import gate_of_asset
from governance_pipeline.gate.guard import Release, require_open_gate
from governance_pipeline.gate.passage import Verifier
from governance_pipeline.gate.publication import publish
from governance_pipeline.storage.lake import Lake, Stored
from governance_pipeline.strict.excerpt import excerpt

Yielded = Iterator[dg.MaterializeResult[Any] | dg.AssetMaterialization]


def published(context: dg.AssetExecutionContext, asset: str, lake: Lake, keeper: Gatekeeper) -> Yielded:
    """Write a gated asset for every round of this run, or for none.

    Raises:
        dg.Failure: passage is refused, and nothing was used or written; or a write failed, rounds that were done before
            it are recorded, and the same run may be executed again.
    """
    releases = _released(context, asset, lake, keeper)
    done: dict[str, dict[str, Any]] = {}
    try:
        for release in releases:
            stored = publish(release, now=keeper.now)
            done[release.round_id] = _metadata(release, stored)
    except Exception as error:  # noqa: BLE001 - whatever it is, what is done is recorded and the step fails
        for round_id, metadata in done.items():
            yield dg.AssetMaterialization(asset, partition=round_id, metadata=metadata)
        raise failure_of(context, {release.round_id: error}) from None
    for round_id, metadata in done.items():
        context.add_asset_metadata(metadata, asset_key=asset, partition_key=round_id)
    yield dg.MaterializeResult(asset_key=asset)


def _released(context: dg.AssetExecutionContext, asset: str, lake: Lake, keeper: Gatekeeper) -> list[Release]:
    run, round_ids = context.run, context.partition_keys
    try:
        verifier = keeper.verifier(lake)
        return require_open_gate(
            gate_of_asset(asset).name, asset, round_ids, lake, verifier.ledger, verifier.root, verifier.config,
            run.run_id, _root_run(run, asset, round_ids, verifier), keeper.now(),
        )  # fmt: skip
    except GovernError as error:
        if len(round_ids) == 1:
            raise refused({round_ids[0]: str(error)}) from None
        closed = {key: s for key, s in standings(lake, keeper, round_ids).items() if s.state != OPEN}
        reasons = {key: standing.reason for key, standing in closed.items()}
        raise refused(reasons or dict.fromkeys(round_ids, str(error))) from None


def _root_run(run: dg.DagsterRun, asset: str, round_ids: Sequence[str], verifier: Verifier) -> str:
    """Return the run this one continues: that of the attempt the ledger knows under its tag, else Dagster's.

    A tag alone says nothing; without such an attempt in the ledger the run stands for itself.
    """
    attempt, own = run.tags.get(ATTEMPT_TAG), run.root_run_id or run.run_id
    if attempt is None or len(round_ids) != 1:
        return own
    return resumed_run(read_history(verifier.ledger), attempt, round_ids[0], asset) or own


def _metadata(release: Release, stored: Stored) -> dict[str, Any]:
    return {
        **metadata_of(release.lake, release.asset, release.round_id, stored),
        "approved_by": dg.MetadataValue.json([excerpt(name) for name in release.approved_by]),
        "decision_ids": dg.MetadataValue.json(release.decision_ids),
        "request_id": dg.MetadataValue.text(release.request_id),
        "subject_sha256": dg.MetadataValue.text(release.subject_sha256),
        "is_throwaway": dg.MetadataValue.bool(any(one.decision.is_throwaway for one in release.approvals)),
    }
