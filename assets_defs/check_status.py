"""What a check tells Dagster of each round it covers.

A check over many rounds is evaluated once for the whole run, without a partition, and leaves every round without a
result; so the result per round is logged here as an event of the same run (decision 0003). This is the only module
that knows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

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

Context = dg.AssetCheckExecutionContext | dg.AssetExecutionContext
ERROR = dg.AssetCheckSeverity.ERROR


class Judged(NamedTuple):
    """What a check says of one round; severity tells how bad a failure is and means nothing when it holds."""

    passed: bool
    metadata: Mapping[str, dg.MetadataValue[Any]]
    severity: dg.AssetCheckSeverity = ERROR


HOLDS = Judged(passed=True, metadata={"failed_rows": dg.MetadataValue.int(0)})


def judged_rows(rows: pd.DataFrame) -> Judged:
    """Judge by the rows that break a rule: none means that it holds; the first of them are shown."""
    return Judged(rows.empty, {"failed_rows": dg.MetadataValue.int(len(rows)), **rows_metadata(rows)})


def rows_metadata(rows: pd.DataFrame) -> dict[str, dg.MetadataValue[Any]]:
    """Show the first rows as a table of texts, escaped and cut; nothing when there are none."""
    if rows.empty:
        return {}
    shown = rows.head(SHOWN_ROWS).astype(object)
    texts = shown.where(shown.notna(), "").map(lambda cell: excerpt(str(cell), SHOWN_CHARACTERS))
    records = [dg.TableRecord({str(k): v for k, v in row.items()}) for row in texts.to_dict("records")]
    columns = [dg.TableColumn(name=str(name)) for name in rows.columns]
    return {"rows": dg.MetadataValue.table(records, dg.TableSchema(columns=columns))}


def checked(
    context: dg.AssetCheckExecutionContext,
    judge: Callable[[str], Judged],
    all_hold: Callable[[Sequence[str]], bool] = lambda _: False,
) -> dg.AssetCheckResult:
    """Judge each round of this run and record the result per round.

    Args:
        context: of the check's step.
        judge: judges one round.
        all_hold: judges many rounds at once, cheaper than one by one; when it says no, each is judged alone.

    Raises:
        Exception: a round could not be judged; the others are recorded first.
    """
    spec = next(iter(context.check_specs))
    round_ids = context.partition_keys
    if len(round_ids) > 1 and all_hold(round_ids):
        found, unjudged = dict.fromkeys(round_ids, HOLDS), list[Exception]()
    else:
        found, unjudged = _judged(round_ids, judge)
    if unjudged:
        if len(round_ids) > 1:
            _record_per_round(context, spec, found)
        raise unjudged[0]
    return result_of(context, spec, found)


def result_of(context: Context, spec: dg.AssetCheckSpec, found: Mapping[str, Judged]) -> dg.AssetCheckResult:
    """Give the result of a check over the rounds of this run; of several rounds each is recorded by itself as well."""
    if len(found) > 1:
        _record_per_round(context, spec, found)
    bad = {round_id: judged for round_id, judged in found.items() if not judged.passed}
    for round_id, judged in bad.items():
        context.log.warning("%s does not hold for round %s: %s", spec.name, round_id, _said(judged))
    if len(found) == 1:
        metadata = next(iter(found.values())).metadata
    else:
        metadata = {"failed_rounds": dg.MetadataValue.json({key: _said(judged) for key, judged in bad.items()})}
    severities = {judged.severity for judged in bad.values()}
    return dg.AssetCheckResult(
        passed=not bad,
        asset_key=spec.asset_key,
        check_name=spec.name,
        metadata=metadata,
        severity=ERROR if ERROR in severities or not bad else severities.pop(),
    )


def _said(judged: Judged) -> Any:
    """Give the one value that tells most of a failure: its rows, or its state."""
    return next(iter(judged.metadata.values())).value


def _judged(round_ids: Sequence[str], judge: Callable[[str], Judged]) -> tuple[dict[str, Judged], list[Exception]]:
    found: dict[str, Judged] = {}
    unjudged: list[Exception] = []
    for round_id in round_ids:
        try:
            found[round_id] = judge(round_id)
        except Exception as error:  # noqa: BLE001 - raised again once the other rounds are recorded
            error.add_note(f"while checking round {round_id}")
            unjudged.append(error)
    return found, unjudged


def _record_per_round(context: Context, spec: dg.AssetCheckSpec, found: Mapping[str, Judged]) -> None:
    targets = _targets(context.instance, spec.asset_key, list(found))
    for round_id, judged in found.items():
        evaluation = dg.AssetCheckEvaluation(
            asset_key=spec.asset_key,
            check_name=spec.name,
            passed=judged.passed,
            metadata=judged.metadata,
            target_materialization_data=targets.get(round_id),
            severity=judged.severity,
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
