"""What an asset step tells Dagster of each round it covers: what was stored, and what failed.

A step over many rounds that succeeds marks every one of them as materialized, so a step with a bad round reports the
good ones itself and then fails (decision 0003). This is the only module that knows.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import dagster as dg

from governance_pipeline.contracts.registry import contract_of, is_by_round
from governance_pipeline.errors import GateRefused, StorageError
from governance_pipeline.pipeline import STEPS
from governance_pipeline.report.table_counts import has_counts, table_counts
from governance_pipeline.storage.lake import Lake, Stored
from governance_pipeline.strict.excerpt import excerpt, mask_secrets
from governance_pipeline.vocabulary import is_round_id

SHOWN_CHARACTERS = 300

TRANSIENT_FAULT = dg.RetryPolicy(max_retries=2, delay=1)
"""A fault of the machine (OSError) is tried twice more without a message; any other failure says so at once."""


Recorded = Iterator[dg.MaterializeResult[Any] | dg.AssetMaterialization]
"""What an asset body yields: one result per table, or one materialization per table and good round before it fails."""


class Maker(Protocol):
    """Whoever makes tables of rounds and stores them in a lake: the workspace, or the gate for its own."""

    @property
    def lake(self) -> Lake:
        """Where they are stored."""
        ...

    def make(self, tables: Sequence[str], round_ids: Sequence[str]) -> Mapping[str, Mapping[str, Stored]]:
        """Make and store them; table -> round -> what was stored."""
        ...


class Made(NamedTuple):
    """Result of one step: table -> round -> what was stored, and the rounds that failed with the reason."""

    stored: Mapping[str, Mapping[str, Stored]]
    failed: Mapping[str, Exception]


def make(maker: Maker, tables: Sequence[str], round_ids: Sequence[str]) -> Made:
    """Make tables of rounds together; when that fails, one round after the other, so that only bad ones are lost."""
    if len(round_ids) > 1 and all(is_round_id(round_id) for round_id in round_ids):
        try:
            return Made(maker.make(tables, round_ids), {})
        except GateRefused as refused:  # of the plan as a whole: each round by itself would be refused like it
            return Made({table: {} for table in tables}, dict.fromkeys(round_ids, refused))
        except Exception:  # noqa: BLE001, S110 - said again, with its round, by the loop below
            pass
    stored: dict[str, dict[str, Stored]] = {table: {} for table in tables}
    failed: dict[str, Exception] = {}
    for round_id in round_ids:
        try:
            for table, parts in _make_one(maker, tables, round_id).items():
                stored[table].update(parts)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other rounds go on and the step fails naming it
            failed[round_id] = error
    return Made(stored, failed)


def _make_one(maker: Maker, tables: Sequence[str], round_id: str) -> Mapping[str, Mapping[str, Stored]]:
    if not is_round_id(round_id):  # the web UI lets anyone type a partition key
        raise StorageError(f"{round_id!r} is not a legal round id; delete this partition")
    return maker.make(tables, [round_id])


def recorded(
    context: dg.AssetExecutionContext,
    maker: Maker,
    tables_in_order: Sequence[str] = tuple(STEPS),
    more: Callable[[str], Mapping[str, Any]] = lambda _: {},
) -> Recorded:
    """Make the selected tables of the rounds of this run and record each round that was stored.

    Args:
        context: of the asset's step.
        maker: makes and stores tables.
        tables_in_order: the tables the asset may be asked for.
        more: gives further metadata of a round.

    Raises:
        dg.Failure: rounds failed; it names them, and the good ones are stored and recorded.
    """
    tables = [table for table in tables_in_order if dg.AssetKey(table) in context.selected_asset_keys]
    made = make(maker, tables, context.partition_keys)
    for table in tables:
        for round_id, stored in made.stored[table].items():
            metadata = {**metadata_of(maker.lake, table, round_id, stored), **more(round_id)}
            if made.failed:
                yield dg.AssetMaterialization(table, partition=round_id, metadata=metadata)
            else:
                context.add_asset_metadata(metadata, asset_key=table, partition_key=round_id)
        if not made.failed:
            yield dg.MaterializeResult(asset_key=table)
    if made.failed:
        raise failure_of(context, made.failed)


def metadata_of(lake: Lake, table: str, round_id: str | None, stored: Stored) -> dict[str, Any]:
    """Return what Dagster shows of a stored table: rows, digest, and sums over its counts."""
    is_counted = has_counts(contract_of(table).to_schema().columns)
    counts = table_counts(lake.get(table, round_id)) if is_counted else {}
    return {
        f"dagster/{'row_count' if round_id is None else 'partition_row_count'}": stored.rows,
        "sha256": dg.MetadataValue.text(stored.digest),
        **{name: dg.MetadataValue.int(count) for name, count in counts.items()},
    }


def cohort_metadata(lake: Lake, table: str, of_rounds: Mapping[str, Stored]) -> dict[str, Any]:
    """Return what Dagster shows of a table made over all rounds: digest and rows, or how many rounds it is kept for."""
    if is_by_round(table):
        rows = sum(stored.rows for stored in of_rounds.values())
        return {"rounds_count": dg.MetadataValue.int(len(of_rounds)), "dagster/row_count": dg.MetadataValue.int(rows)}
    digest = lake.digest(table, None)
    return {} if digest is None else {"sha256": dg.MetadataValue.text(digest)}


def failure_of(context: dg.AssetExecutionContext, failed: Mapping[str, Exception]) -> dg.Failure:
    """Make the failure of a step some of whose rounds failed, and log each error; neither shows a secret."""
    reasons = {
        round_id: excerpt(f"{type(error).__name__}: {error}", SHOWN_CHARACTERS) for round_id, error in failed.items()
    }
    for round_id, error in failed.items():
        context.log.error("round %s failed:\n%s", round_id, mask_secrets("".join(traceback.format_exception(error))))
    return dg.Failure(
        f"{len(reasons)} of {len(context.partition_keys)} rounds failed, the others are stored: "
        + "; ".join(f"{round_id}: {reason}" for round_id, reason in reasons.items()),
        metadata={"failed_rounds": dg.MetadataValue.json(reasons)},
        allow_retries=all(isinstance(error, OSError) for error in failed.values()),
    )
