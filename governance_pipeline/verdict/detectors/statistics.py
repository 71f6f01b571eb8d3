"""Class C: a round that is unusual among the comparable rounds before it, in one of five ways.

None of them says that anything is wrong. Each is recorded and changes no decision until its signal is calibrated
(`verdict.calibration`). Source: spec/verdict.md §1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.verdict.calibration import calibration_of, judged
from governance_pipeline.verdict.calibration_evaluation import SCORES
from governance_pipeline.verdict.detector import Control, Detector, Hit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.verdict.round_view import RoundView

    Row = Mapping[str, Any]

TABLE: Final = "features_conformal"

PASSIVE_REASONS: Final = ("too_few", "exchangeability_suspect")
"""Why a comparison that was asked for can raise nothing; the verdict lists it as left out."""

_WORDS: Final = {
    "aus_round": "the accumulated surface (AUS)",
    "largest_s": "the largest surface of a step (S)",
    "largest_h": "the largest dispersion of a step over modules (H)",
    "unproven_growth": "the growth of the surface without evidence",
    "rewrite_share": "the rewritten share of the touched files",
    "max_z": "the most unusual of the compared numbers (max_z)",
}

_FACTORS: Final = (
    "feature", "value", "cohort", "baseline_id", "known_count", "at_least_count", "p_value", "p_adjusted",
    "batch_count", "median", "mad", "robust_z", "q05", "q95", "log_martingale_max", "reason",
)  # fmt: skip


def _detect(code: str, view: RoundView) -> Iterator[Hit]:
    record = calibration_of(code, view.calibrations)
    for row in view.rows(TABLE):
        found = judged(row, record) if row["feature"] in SCORES[code] else None
        if found is not None:
            yield Hit(
                (row["feature"],),
                _message(row),
                {
                    **{name: row[name] for name in _FACTORS},
                    "calibration": str(found.calibration),
                    "calibration_id": None if record is None else record.calibration_id,
                    "extremity": str(found.extremity),
                    "reference": str(found.cohort),
                },
                required=False,
                statistic=found,
            )


def _message(row: Row) -> str:
    return (
        f"{_WORDS[row['feature']]} is unusual among comparable rounds: {row['at_least_count']} of the "
        f"{row['known_count']} before it are at least as extreme; that does not say that anything is wrong"
    )


def statistics_skipped(view: RoundView) -> list[dict[str, Any]]:
    """List the comparisons of a round that can raise nothing: `{id, required, reason}`, by signal and feature."""
    rows = {row["feature"]: row for row in view.rows(TABLE)}
    return [
        {"id": f"{code}:{feature}", "required": False, "reason": rows[feature]["reason"]}
        for code, features in SCORES.items()
        for feature in features
        if feature in rows and rows[feature]["reason"] in PASSIVE_REASONS
    ]


_RULES: Final = {
    "extreme-surface": "the largest S of a step, or the most unusual compared number, is extreme in its cohort",
    "architectural-dispersion": "the largest H of a step is extreme in its cohort",
    "accumulated-expansion": "the accumulated surface is extreme in its cohort",
    "evidence-lag": "the growth of the surface without evidence is extreme in its cohort",
    "rewrite-attempt": "the rewritten share of the touched files is extreme in its cohort",
}


def _control(code: str, at_least: int) -> Control:
    row = {
        "feature": SCORES[code][0], "value": 10.0, "at_least_count": at_least, "p_value": (at_least + 1) / 100,
        "p_adjusted": (at_least + 1) / 100, "is_extreme": at_least == 0,
    }  # fmt: skip
    return {TABLE: [row]}


DETECTORS: Final = tuple(
    Detector(
        code=code,
        rule=rule,
        reads=(TABLE,),
        detect=partial(_detect, code),
        fires_on=_control(code, 0),
        silent_on=_control(code, 50),
    )
    for code, rule in _RULES.items()
)
