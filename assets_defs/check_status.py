"""What a check step tells Dagster of each round it covers.

A check over many rounds is evaluated once for the whole run, without a partition, and leaves every round without a
result; so the result per round is logged here as an event of the same run (decision 0003). This is the only module
that knows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

# No public name says which materialization a per-round evaluation is about; decision 0003 has the exit condition.
from dagster._core.definitions.asset_checks.asset_check_evaluation import (  # noqa: TID251
    AssetCheckEvaluationTargetMaterializationData as Target,
)

from governance_pipeline.strict.excerpt import excerpt

SHOWN_ROWS = 20
"""Rows of a table in the metadata of a check; all of them are in the table itself."""

SHOWN_CHARACTERS = 300


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
