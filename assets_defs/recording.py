"""What a run tells Dagster of each round it covers: what was stored, what failed, which check held.

A run over many rounds has two traps (decision 0003). An asset step that succeeds marks every round of the run as
materialized, so a step with a bad round reports the good ones itself and then fails. A check step evaluates once for
the whole run, so its result per round is reported here. This is the only module that knows either.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import dagster as dg
import pandas as pd

# No public name says which materialization a per-round evaluation is about; decision 0003 has the exit condition.
from dagster._core.definitions.asset_checks.asset_check_evaluation import (  # noqa: TID251
    AssetCheckEvaluationTargetMaterializationData as Target,
)

from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.errors import StorageError
from governance_pipeline.pipeline import STEPS, Workspace
from governance_pipeline.report.table_counts import has_counts, table_counts
from governance_pipeline.storage.lake import Stored
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.vocabulary import is_round_id

SHOWN_ROWS = 20
"""Rows of a table in the metadata of a check; all of them are in the table itself."""

SHOWN_CHARACTERS = 300

TRANSIENT_FAULT = dg.RetryPolicy(max_retries=2, delay=1)
"""A fault of the machine (OSError) is tried twice more without a message; any other failure says so at once."""


Recorded = Iterator[dg.MaterializeResult[Any] | dg.AssetMaterialization]
"""What an asset body yields: one result per table, or one materialization per table and good round before it fails."""


class Made(NamedTuple):
    """Result of one step: table -> round -> what was stored, and the rounds that failed with the reason."""

    stored: Mapping[str, Mapping[str, Stored]]
    failed: Mapping[str, Exception]


def make(workspace: Workspace, tables: Sequence[str], round_ids: Sequence[str]) -> Made:
    """Make tables of rounds together; when that fails, one round after the other, so that only bad ones are lost."""
    if len(round_ids) > 1 and all(is_round_id(round_id) for round_id in round_ids):
        try:
            return Made(workspace.make(tables, round_ids), {})
        except Exception:  # noqa: BLE001, S110 - said again, with its round, by the loop below
            pass
    stored: dict[str, dict[str, Stored]] = {table: {} for table in tables}
    failed: dict[str, Exception] = {}
    for round_id in round_ids:
        try:
            for table, parts in _make_one(workspace, tables, round_id).items():
                stored[table].update(parts)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other rounds go on and the step fails naming it
            failed[round_id] = error
    return Made(stored, failed)


def _make_one(workspace: Workspace, tables: Sequence[str], round_id: str) -> Mapping[str, Mapping[str, Stored]]:
    if not is_round_id(round_id):  # the web UI lets anyone type a partition key
        raise StorageError(f"{round_id!r} is not a legal round id; delete this partition")
    return workspace.make(tables, [round_id])


def recorded(context: dg.AssetExecutionContext, workspace: Workspace) -> Recorded:
    """Make the selected tables of the rounds of this run and record each round that was stored.

    Raises:
        dg.Failure: rounds failed; it names them, and the good ones are stored and recorded.
    """
    tables = [table for table in STEPS if dg.AssetKey(table) in context.selected_asset_keys]
    made = make(workspace, tables, context.partition_keys)
    for table in tables:
        for round_id, stored in made.stored[table].items():
            metadata = _metadata_of(workspace, table, round_id, stored)
            if made.failed:
                yield dg.AssetMaterialization(table, partition=round_id, metadata=metadata)
            else:
                context.add_asset_metadata(metadata, asset_key=table, partition_key=round_id)
        if not made.failed:
            yield dg.MaterializeResult(asset_key=table)
    if made.failed:
        raise _failure(context, made)


def checked(
    context: dg.AssetCheckExecutionContext,
    offenders: Callable[[str], pd.DataFrame],
    all_hold: Callable[[Sequence[str]], bool] = lambda _: False,
) -> dg.AssetCheckResult:
    """Judge each round of this run by its offending rows (none: the check holds) and record the result per round.

    Args:
        context: of the check's step.
        offenders: gives the rows of a round that break the rule.
        all_hold: judges many rounds at once, cheaper than one by one; when it says no, each is judged alone.

    Raises:
        Exception: a round could not be judged; the others are recorded first.
    """
    spec = next(iter(context.check_specs))
    round_ids = context.partition_keys
    if len(round_ids) > 1 and all_hold(round_ids):
        found, unjudged = dict.fromkeys(round_ids, pd.DataFrame()), list[Exception]()
    else:
        found, unjudged = _judged(round_ids, offenders)
    if len(round_ids) > 1:
        _record_per_round(context, spec, found)
    if unjudged:
        raise unjudged[0]
    return _result(context, spec, found)


def _judged(
    round_ids: Sequence[str], offenders: Callable[[str], pd.DataFrame]
) -> tuple[dict[str, pd.DataFrame], list[Exception]]:
    found: dict[str, pd.DataFrame] = {}
    unjudged: list[Exception] = []
    for round_id in round_ids:
        try:
            found[round_id] = offenders(round_id)
        except Exception as error:  # noqa: BLE001 - raised again once the other rounds are recorded
            error.add_note(f"while checking round {round_id}")
            unjudged.append(error)
    return found, unjudged


def _record_per_round(
    context: dg.AssetCheckExecutionContext, spec: dg.AssetCheckSpec, found: Mapping[str, pd.DataFrame]
) -> None:
    targets = _targets(context.instance, spec.asset_key, list(found))
    for round_id, rows in found.items():
        evaluation = dg.AssetCheckEvaluation(
            asset_key=spec.asset_key,
            check_name=spec.name,
            passed=rows.empty,
            metadata=_rows_metadata(rows),
            target_materialization_data=targets.get(round_id),
            blocking=spec.blocking,
            partition=round_id,
        )
        context.op_execution_context.log_event(evaluation)  # type: ignore[arg-type]  # taken; the signature forgets it


def _targets(instance: dg.DagsterInstance, asset_key: dg.AssetKey, round_ids: Sequence[str]) -> dict[str, Target]:
    """Return the newest materialization of each round: mostly those of this run, so one query finds nearly all."""
    targets: dict[str, Target] = {}
    for asked in (round_ids, *([round_id] for round_id in round_ids)):
        if missing := [round_id for round_id in asked if round_id not in targets]:
            wanted = dg.AssetRecordsFilter(asset_key, asset_partitions=missing)
            for record in instance.fetch_materializations(wanted, limit=len(missing)).records:
                newest = Target(storage_id=record.storage_id, run_id=record.run_id, timestamp=record.timestamp)
                targets.setdefault(str(record.partition_key), newest)
    return targets


def _result(
    context: dg.AssetCheckExecutionContext, spec: dg.AssetCheckSpec, found: Mapping[str, pd.DataFrame]
) -> dg.AssetCheckResult:
    bad = {round_id: len(rows) for round_id, rows in found.items() if len(rows)}
    if len(found) == 1:
        metadata = _rows_metadata(next(iter(found.values())))
    else:
        metadata = {"failed_rounds": dg.MetadataValue.json(bad)}
    for round_id, count in bad.items():
        context.log.warning("%s does not hold for round %s: %d rows", spec.name, round_id, count)
    return dg.AssetCheckResult(passed=not bad, metadata=metadata)


def _rows_metadata(rows: pd.DataFrame) -> dict[str, dg.MetadataValue[Any]]:
    metadata: dict[str, dg.MetadataValue[Any]] = {"failed_rows": dg.MetadataValue.int(len(rows))}
    if len(rows):
        shown = rows.head(SHOWN_ROWS).astype(object)
        texts = shown.where(shown.notna(), "").map(lambda cell: excerpt(str(cell), SHOWN_CHARACTERS))
        records = [dg.TableRecord({str(k): v for k, v in row.items()}) for row in texts.to_dict("records")]
        columns = [dg.TableColumn(name=str(name)) for name in rows.columns]
        metadata["rows"] = dg.MetadataValue.table(records, dg.TableSchema(columns=columns))
    return metadata


def _metadata_of(workspace: Workspace, table: str, round_id: str, stored: Stored) -> dict[str, Any]:
    is_counted = has_counts(contract_of(table).to_schema().columns)
    counts = table_counts(workspace.lake.get(table, round_id)) if is_counted else {}
    return {
        "dagster/partition_row_count": stored.rows,
        "sha256": dg.MetadataValue.text(stored.digest),
        **{name: dg.MetadataValue.int(count) for name, count in counts.items()},
    }


def _failure(context: dg.AssetExecutionContext, made: Made) -> dg.Failure:
    reasons = {
        round_id: excerpt(f"{type(error).__name__}: {error}", SHOWN_CHARACTERS)
        for round_id, error in made.failed.items()
    }
    for round_id, error in made.failed.items():
        context.log.error("round %s failed:\n%s", round_id, "".join(traceback.format_exception(error)))
    return dg.Failure(
        f"{len(reasons)} of {len(context.partition_keys)} rounds failed, the others are stored: "
        + "; ".join(f"{round_id}: {reason}" for round_id, reason in reasons.items()),
        metadata={"failed_rounds": dg.MetadataValue.json(reasons)},
        allow_retries=all(isinstance(error, OSError) for error in made.failed.values()),
    )
