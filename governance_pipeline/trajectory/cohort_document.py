"""The `govern/cohort-baselines/v1` document: baselines of cohorts, their versions, what superseded what, and why.

What belongs here: stored tables -> document. What does not: how it is printed (`cohort_page`), any statistic, and
which chains were left (`abandoned_chains`).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.settings import SETTINGS
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.trajectory.abandoned_chains import abandoned_chains, links
from governance_pipeline.trajectory.cohort_tables import BASELINE_TABLE, CONFORMAL_TABLE
from governance_pipeline.trajectory.documents import shortest_number
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.stored_cohorts import earlier_baselines, stale_reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    from governance_pipeline.storage.lake import Lake
    from governance_pipeline.trajectory.abandoned_chains import AbandonedChain

SCHEMA: Final = "govern/cohort-baselines/v1"
_NUMBERS: Final = ("median", "mad", "q05", "q25", "q75", "q95", "log_martingale_max")


def cohort_document(
    lake: Lake, round_id: str | None = None, bound: float = SETTINGS.martingale_bound
) -> dict[str, Any]:
    """Describe the baselines of every cohort, or of the cohort of one round.

    Args:
        lake: where the tables are.
        round_id: only the cohort of this round, and what it is compared with.
        bound: value of the martingale from which a cohort drifts.

    Raises:
        UsageError: the cohort tables were not made, or have no such round.
        StorageError: a table in force is damaged.
    """
    if not lake.has(BASELINE_TABLE, None):
        raise UsageError(
            f"{BASELINE_TABLE} has not been made in {excerpt(str(lake.root))}; name the lake with --lake, or make it: "
            "`govern audit PATH --store FOLDER`, or a backfill in Dagster"
        )
    frame = lake.get(BASELINE_TABLE, None)
    earlier, unreadable = earlier_baselines(lake)
    left = abandoned_chains(links(frame), earlier)
    cohorts = [_cohort(part, bound) for part in _parts(frame)]
    about = None if round_id is None else _round(lake, round_id)
    if about is not None:
        mine = (about["cohort"], about["baseline_version"])
        cohorts = [one for one in cohorts if (one["cohort"], one["baseline_version"]) == mine]
        left = [one for one in left if (json.loads(one.cohort), one.version) == mine]
    return {
        "schema": SCHEMA,
        "martingale_bound": shortest_number(bound),
        "stale_reason": stale_reason(lake),
        "round": about,
        "cohorts": cohorts,
        "abandoned": [_abandoned(one) for one in left],
        "unreadable_versions": unreadable,
    }


def _parts(frame: pd.DataFrame) -> Iterator[list[dict[str, Any]]]:
    """The rows of each cohort and version, in the order of the table."""
    parts: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for row in rows_of(frame):
        parts.setdefault((row["cohort"], row["baseline_version"]), []).append(row)
    yield from parts.values()


def _cohort(rows: Sequence[Mapping[str, Any]], bound: float) -> dict[str, Any]:
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_id.setdefault(row["baseline_id"], []).append(row)
    newest = list(by_id.values())[-1]
    return {
        "cohort": json.loads(rows[0]["cohort"]),
        "baseline_version": rows[0]["baseline_version"],
        "rounds_count": newest[0]["rounds_count"],
        "drifting_features": [row["feature"] for row in newest if row["log_martingale_max"] >= math.log(bound)],
        "baselines": [_baseline(of) for of in by_id.values()],
    }


def _baseline(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = rows[0]
    return {
        "baseline_id": first["baseline_id"],
        "until_at": _instant(first["until_at"]),
        "rounds_count": first["rounds_count"],
        "supersedes": first["supersedes_baseline_id"],
        "reason": first["reason"],
        "added_round_ids": json.loads(first["added_round_ids"]),
        "feature_version": first["feature_version"],
        "features": [
            {
                "feature": row["feature"],
                "known_count": row["known_count"],
                "unknown_count": row["unknown_count"],
                **{name: shortest_number(row[name]) for name in _NUMBERS},
            }
            for row in rows
        ],
    }


def _round(lake: Lake, round_id: str) -> dict[str, Any]:
    if round_id not in lake.rounds(CONFORMAL_TABLE):
        raise UsageError(f"{excerpt(round_id)!r} is no round of {CONFORMAL_TABLE} in {excerpt(str(lake.root))}")
    row = next(rows_of(lake.get(CONFORMAL_TABLE, round_id)))
    reason = row["reason"] if row["reason"] in {"no_cohort", "no_time"} else None
    return {
        "round_id": round_id,
        "cohort": None if row["cohort"] is None else json.loads(row["cohort"]),
        "baseline_version": row["baseline_version"],
        "ended_at": None if row["ended_at"] is None else _instant(row["ended_at"]),
        "baseline_id": row["baseline_id"],
        "reason": "no_reference" if reason is None and row["baseline_id"] is None else reason,
    }


def _abandoned(chain: AbandonedChain) -> dict[str, Any]:
    return {
        "cohort": json.loads(chain.cohort),
        "baseline_version": chain.version,
        "forked_after": chain.forked_after,
        "baseline_ids": list(chain.baseline_ids),
        "first_until_at": _instant(chain.first_until),
        "last_until_at": _instant(chain.last_until),
        "superseded_by": chain.superseded_by,
        "reason": chain.reason.value,
        "rounds_came": list(chain.came),
        "rounds_left": list(chain.left),
    }


def _instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
