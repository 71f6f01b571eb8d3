"""Table `verdict_findings`: what the detectors find in each round, and what follows from it.

What belongs here: running the detectors and looking each hit up in the decision table. What does not: the rules of
either. A pure function of its tables and a policy document. Source: spec/verdict.md §3-4.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.verdict.baseline import Baseline, baselines
from governance_pipeline.verdict.decision_table import Decided, decide_signal, severity_of
from governance_pipeline.verdict.detectors import DETECTORS
from governance_pipeline.verdict.dismissals import NOTHING, Dismissals, columns_of
from governance_pipeline.verdict.round_view import NO_FOLDER, NOT_CALIBRATED, RoundView, RowsByRound
from governance_pipeline.verdict.signals import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from governance_pipeline.verdict.calibration import Records
    from governance_pipeline.verdict.detector import Detector, Hit
    from governance_pipeline.verdict.policy_document import Policy

TABLE: Final = "verdict_findings"


class Found(NamedTuple):
    """One hit of one detector in a round, decided."""

    detector: Detector
    hit: Hit
    finding_id: str
    fingerprint: str
    severity: str | None
    decided: Decided


def findings(
    tables: Mapping[str, pd.DataFrame],
    policy: Policy,
    dismissals: Dismissals = NOTHING,
    calibrations: Records = NOT_CALIBRATED,
    folder: Mapping[str, pd.DataFrame] = NO_FOLDER,
) -> pd.DataFrame:
    """Return one row per finding of every round in `core_rounds`; columns as contract `verdict_findings`.

    Args:
        tables: every table of `round_view.INPUTS`, of any number of rounds. A parent round among them is the baseline
            of its child (`baseline.ancestors` says which are needed).
        policy: the policy document in force.
        dismissals: what people have dismissed; with some, `dismissals.PARTY_TABLES` are needed too.
        calibrations: code of a statistic -> the calibration in force; without one it is only recorded.
        folder: tables of the governed folder (`round_view.FOLDER_INPUTS`), if there is one.

    Raises:
        UsageError: a table is missing.
    """
    source = RowsByRound(tables, folder=folder)
    said = dismissals.known(tables)
    found: dict[str, list[Found]] = {}
    parents: dict[str, str | None] = {}
    for round_id in source.round_ids:
        view = RoundView(source, round_id, policy, calibrations)
        found[round_id] = findings_of(view)
        parents[round_id] = view.parent_round_id
    known = baselines(parents, {round_id: [one.fingerprint for one in some] for round_id, some in found.items()})
    rows = (_row(round_id, one, known[round_id], said) for round_id, some in found.items() for one in some)
    return frame_of(TABLE, rows)


def findings_of(view: RoundView, detectors: tuple[Detector, ...] = DETECTORS) -> list[Found]:
    """Run detectors over one round: in their order, then by place and subject; a finding id occurs once."""
    found: dict[str, Found] = {}
    for detector in detectors:
        for hit in sorted(detector.detect(view), key=_order):
            one = _decided(view, detector, hit)
            found.setdefault(one.finding_id, one)
    return list(found.values())


def _decided(view: RoundView, detector: Detector, hit: Hit) -> Found:
    finding_id = detector.finding_id(hit, view.round_id)
    signal = detector.signal(hit, finding_id)
    severity = str(severity_of(detector.code, view.policy)) if isinstance(signal, Fact) else None
    decided = decide_signal(signal, view.mode, view.policy)
    return Found(detector, hit, finding_id, detector.fingerprint(hit), severity, decided)


def _order(hit: Hit) -> tuple[Any, ...]:
    place = hit.place
    where = ("", 0, "") if place is None else (place.path, place.line or 0, place.pointer)
    return *where, hit.subject


def _row(round_id: str, one: Found, baseline: Baseline, dismissals: Dismissals) -> dict[str, Any]:
    hit, place = one.hit, one.hit.place
    row = {
        "round_id": round_id,
        "finding_id": one.finding_id,
        "fingerprint": one.fingerprint,
        "code": one.detector.code,
        "class": str(one.detector.signal_class),
        "severity": one.severity,
        "is_required": hit.required,
        "reason": None if one.decided.reason is None else str(one.decided.reason),
        "message": hit.message,
        "factors": compact_json(hit.factors),
        **({} if place is None else place._asdict()),
        "is_known": baseline.is_known(one.fingerprint),
        "first_seen_round_id": baseline.first_seen_in(one.fingerprint, round_id),
    }
    return row | columns_of(dismissals.of(row), str(one.decided.decision))


def compact_json(value: Any) -> str:
    """Write JSON the same way every time: members sorted, no blanks."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
