"""What a registered calibration comes to on rounds that ended after it was registered.

What belongs here: reading plan and labels, refusing rounds that are too old, counting, and the one measure the plan
named. What does not: signing and recording (gate). Pure: rows in, result out. A p-value is compared with a level
exactly, as fractions. Confidence limits are one-sided: Wilson's for a share (E. B. Wilson, 1927), Newcombe's hybrid for
the difference of two (R. G. Newcombe, 1998, method 10); both hold for small numbers, and neither assumes symmetry.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import RecordRefused, UsageError
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.trust.calibration_statement import plan_sha256
from governance_pipeline.trust.instants import instant_of
from governance_pipeline.verdict.document_schema import document_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    Row = Mapping[str, Any]

SCHEMA: Final = "govern/calibration-result/v1"
LEVELS: Final = ("moderate", "extreme")
SCORES: Final = {
    "extreme-surface": ("largest_s", "max_z"),
    "architectural-dispersion": ("largest_h",),
    "accumulated-expansion": ("aus_round",),
    "evidence-lag": ("unproven_growth",),
    "rewrite-attempt": ("rewrite_share",),
}
"""Signal -> features that may be its score (spec/verdict.md §1)."""


class _Evaluated(NamedTuple):
    """One labelled round with a known p-value."""

    p: Fraction
    is_defect: bool
    arm: str | None


def read_plan(data: bytes) -> dict[str, Any]:
    """Read a plan (`govern/calibration/v1`) as plain values.

    Raises:
        UsageError: it is no strict JSON, breaks its schema, or its members contradict each other.
    """
    plan: dict[str, Any] = _parsed(data, "plan")
    fault = document_fault("calibration-v1.json", plan) or _plan_fault(plan)
    if fault is not None:
        raise UsageError(f"calibration plan: {fault}")
    return plan


def read_labels(data: bytes, plan: Row) -> list[dict[str, Any]]:
    """Read the labels (`govern/calibration-labels/v1`) of a plan: one per round.

    Raises:
        UsageError: they are no strict JSON, break their schema, are of another calibration, or name a round twice.
    """
    document = _parsed(data, "labels")
    fault = document_fault("calibration-labels-v1.json", document)
    if fault is not None:
        raise UsageError(f"calibration labels: {fault}")
    if document["calibration_id"] != plan["calibration_id"]:
        raise UsageError(f"the labels are of calibration {excerpt(document['calibration_id'], 80)}")
    labels: list[dict[str, Any]] = document["rounds"]
    if len({label["round_id"] for label in labels}) < len(labels):
        raise UsageError("the labels name a round twice; nobody knows which one counts")
    if plan["design"] == "intervention" and any(label.get("arm") is None for label in labels):
        raise UsageError("each label of an intervention needs its arm: treated or control")
    return labels


def evaluate(plan: Row, registered_at: datetime, data: bytes, rows: Iterable[Row]) -> dict[str, Any]:
    """Evaluate a plan on labelled rounds.

    Args:
        plan: as registered.
        registered_at: when the ledger recorded it: rounds that ended before existed when the plan was written.
        data: the labels, as bytes.
        rows: rows of `features_conformal`, of the labelled rounds and of any others.

    Returns:
        The `govern/calibration-result/v1`.

    Raises:
        UsageError: a labelled round is not stored, too old, of a cohort the plan does not name, or there are too few.
    """
    labels = {label["round_id"]: label for label in read_labels(data, plan)}
    of_score = {row["round_id"]: row for row in rows if row["feature"] == plan["score"]}
    since = max(registered_at, instant_of(plan["split_at"]))
    _refuse_old(plan, labels, of_score, since)
    known = [_evaluated(of_score[name], label) for name, label in labels.items() if _is_known(of_score[name])]
    if len(known) < plan["minimum_rounds"]:
        raise UsageError(
            f"{len(known)} labelled rounds have a known p-value, the plan asks {plan['minimum_rounds']}; wait for "
            "more. Nothing was evaluated"
        )
    counts = {level: _counts(known, Fraction(plan["alpha"][level])) for level in LEVELS}
    others = [name for name, row in of_score.items() if name not in labels and _is_of(plan, row, since)]
    return {
        "schema": SCHEMA,
        **{name: plan[name] for name in ("calibration_id", "signal", "design")},
        "plan_sha256": plan_sha256(plan),
        "labels_sha256": sha256_hex(data),
        "labelled_rounds": len(labels),
        "known_rounds": len(known),
        "unlabelled_rounds": len(others),
        "counts": counts,
        **_measured(plan["success"], counts[plan["success"]["level"]]),
    }


def _parsed(data: bytes, what: str) -> Any:
    try:
        return parse_json(data)
    except RecordRefused as reason:
        raise UsageError(f"calibration {what}: no strict JSON: {reason}") from None


def _plan_fault(plan: Row) -> str | None:
    if plan["score"] not in SCORES[plan["signal"]]:
        return f"the score of {plan['signal']} is {' or '.join(SCORES[plan['signal']])}, not {plan['score']}"
    moderate, extreme = (Fraction(plan["alpha"][level]) for level in LEVELS)
    if not 0 < extreme < moderate < 1:
        return "alpha: 0 < extreme < moderate < 1"
    if not 0 < Fraction(plan["success"]["confidence"]) < 1:
        return "success.confidence: above 0 and below 1"
    if (plan["success"]["measure"] == "effect") != (plan["design"] == "intervention"):
        return "an intervention is measured by its effect, and nothing else is"
    try:
        instant_of(plan["split_at"])
    except ValueError as error:
        return f"split_at: {error}"
    return None


def _refuse_old(plan: Row, labels: Row, of_score: Mapping[str, Row], since: datetime) -> None:
    for name in labels:
        if name not in of_score:
            raise UsageError(f"round {excerpt(name, 80)} has no {plan['score']} in features_conformal; make it first")
        row = of_score[name]
        if row["ended_at"] is None or row["ended_at"] <= since:
            raise UsageError(
                f"round {name} ended at {row['ended_at'] or 'an unknown time'}, and only rounds that ended after "
                f"{since} are evaluated: the plan must be older than its data"
            )
        if not _is_of(plan, row, since):
            raise UsageError(f"round {name} is of cohort {row['cohort']}, which the plan does not name")


def _is_of(plan: Row, row: Row, since: datetime) -> bool:
    """Whether a row is of the cohorts and the time a plan speaks of."""
    cohort = None if row["cohort"] is None else json.loads(row["cohort"])
    is_named = plan["cohorts"] is None or cohort in plan["cohorts"]
    return is_named and row["ended_at"] is not None and row["ended_at"] > since


def _is_known(row: Row) -> bool:
    return row["at_least_count"] is not None and row["known_count"] is not None and row["reason"] is None


def _evaluated(row: Row, label: Row) -> _Evaluated:
    p = Fraction(1 + int(row["at_least_count"]), int(row["known_count"]) + 1)
    return _Evaluated(p, label["is_defect"], label.get("arm"))


def _counts(rounds: Sequence[_Evaluated], alpha: Fraction) -> dict[str, int]:
    flagged = [one for one in rounds if one.p <= alpha]
    silent = [one for one in rounds if one.p > alpha]
    arms = {arm: [one for one in flagged if one.arm == arm] for arm in ("treated", "control")}
    return {
        "flagged_defect": sum(one.is_defect for one in flagged),
        "flagged_clean": sum(not one.is_defect for one in flagged),
        "silent_defect": sum(one.is_defect for one in silent),
        "silent_clean": sum(not one.is_defect for one in silent),
        **{f"{arm}_defect": sum(one.is_defect for one in some) for arm, some in arms.items()},
        **{arm: len(some) for arm, some in arms.items()},
    }


def _measured(success: Row, counts: Mapping[str, int]) -> dict[str, Any]:
    z = NormalDist().inv_cdf(float(success["confidence"]))
    bound = float(success["bound"])
    if success["measure"] == "effect":
        hits, of = counts["control_defect"] - counts["treated_defect"], counts["control"] + counts["treated"]
        value, limit = _effect(counts, z)
    else:
        hits, of = _share(success["measure"], counts)
        value = hits / of if of else None
        limit = None if not of else _wilson(hits, of, z if success["measure"] == "false_alarm_share" else -z)
    is_upper = success["measure"] == "false_alarm_share"
    is_success = limit is not None and (limit <= bound if is_upper else limit >= bound)
    return {
        **{name: success[name] for name in ("measure", "level", "bound")},
        "hits": max(hits, 0),
        "of": of,
        "value": None if value is None else f"{value:.6f}",
        "limit": None if limit is None else f"{limit:.6f}",
        "is_success": is_success,
        "reason": None if is_success else "nothing_to_measure" if limit is None else "bound_not_reached",
    }


def _share(measure: str, counts: Mapping[str, int]) -> tuple[int, int]:
    if measure == "precision":
        return counts["flagged_defect"], counts["flagged_defect"] + counts["flagged_clean"]
    if measure == "recall":
        return counts["flagged_defect"], counts["flagged_defect"] + counts["silent_defect"]
    return counts["flagged_clean"], counts["flagged_clean"] + counts["silent_clean"]


def _wilson(hits: int, of: int, z: float) -> float:
    """Wilson's limit of a share: the lower one for a negative z, the upper one for a positive."""
    share, square = hits / of, z * z
    middle = share + square / (2 * of)
    spread = z * sqrt(share * (1 - share) / of + square / (4 * of * of))
    return min(max((middle + spread) / (1 + square / of), 0.0), 1.0)


def _effect(counts: Mapping[str, int], z: float) -> tuple[float | None, float | None]:
    """Defect share in control less that in treated, and its lower limit."""
    if not counts["control"] or not counts["treated"]:
        return None, None
    control, treated = counts["control_defect"] / counts["control"], counts["treated_defect"] / counts["treated"]
    low = _wilson(counts["control_defect"], counts["control"], -z)
    high = _wilson(counts["treated_defect"], counts["treated"], z)
    return control - treated, control - treated - sqrt((control - low) ** 2 + (high - treated) ** 2)
