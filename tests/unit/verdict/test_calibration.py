"""What a p-value may say with and without a calibration, and that nothing of class C does more than its record allows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from governance_pipeline.verdict.calibration import CalibrationRecord, calibration_of, judged, record_of
from governance_pipeline.verdict.controls import CONTROL_ROUND, control_tables
from governance_pipeline.verdict.detectors import detector_of
from governance_pipeline.verdict.detectors.statistics import DETECTORS, statistics_skipped
from governance_pipeline.verdict.findings import findings_of
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.round_view import NOT_CALIBRATED, RoundView, RowsByRound
from governance_pipeline.verdict.signals import Calibration, Cohort, Decision, Extremity

PLAN = {
    "calibration_id": "k-1", "signal": "extreme-surface", "score": "largest_s", "design": "intervention",
    "alpha": {"moderate": "0.05", "extreme": "0.01"}, "cohorts": [["c"]], "minimum_reference": 50,
}  # fmt: skip
RECORD = record_of(PLAN)


def row(at_least=0, known=99, **more):
    p = (at_least + 1) / (known + 1)
    return {
        "feature": "largest_s", "value": 1.0, "cohort": '["c"]', "known_count": known, "at_least_count": at_least,
        "p_value": p, "p_adjusted": p, "is_extreme": p <= 0.05, "level": "0.05", "reason": None, **more,
    }  # fmt: skip


SUSPECT = {"reason": "exchangeability_suspect", "p_adjusted": None, "is_extreme": None}
TOO_FEW = {"reason": "too_few", "at_least_count": None, "p_value": None, "p_adjusted": None, "is_extreme": None}


def view(rows, records=NOT_CALIBRATED):
    return RoundView(
        RowsByRound(control_tables({"features_conformal": rows})), CONTROL_ROUND, shipped_policy(), records
    )


def decisions(rows, records=NOT_CALIBRATED):
    found = findings_of(view(rows, records), tuple(DETECTORS))
    return [(one.detector.code, str(one.decided.decision), one.decided.reason) for one in found]


def test_a_row_without_a_p_value_is_not_extreme_with_or_without_a_calibration():
    assert judged(row(**TOO_FEW), None) is None
    assert judged(row(**TOO_FEW), RECORD) is None
    assert decisions([row(**TOO_FEW)], {"extreme-surface": RECORD}) == []


def test_a_record_of_another_signal_is_no_record():
    assert calibration_of("evidence-lag", {"evidence-lag": RECORD}) is None
    assert calibration_of("extreme-surface", {}) is None
    assert calibration_of("extreme-surface", {"extreme-surface": RECORD}) is RECORD


def test_a_plan_becomes_a_record_with_exact_levels():
    assert (RECORD.moderate, RECORD.extreme) == (Fraction(1, 20), Fraction(1, 100))
    assert (RECORD.cohorts, RECORD.validated) == ((("c",),), Calibration.INTERVENTION)
    assert record_of({**PLAN, "cohorts": None}).cohorts is None


@pytest.mark.parametrize(
    ("at_least", "wanted"), [(0, Extremity.EXTREME), (1, Extremity.MODERATE), (4, Extremity.MODERATE), (5, None)]
)
def test_levels_are_reached_exactly(at_least, wanted):
    found = judged(row(at_least), RECORD)
    assert (None if found is None else found.extremity) == wanted


@pytest.mark.parametrize(
    ("more", "cohort"),
    [
        ({}, Cohort.OK),
        ({"known": 49}, Cohort.SMALL),
        ({"cohort": '["d"]'}, Cohort.NOT_COMPARABLE),
        (SUSPECT, Cohort.EXCHANGEABILITY_SUSPECT),
    ],
)
def test_a_weak_reference_is_named(more, cohort):
    assert judged(row(**more), RECORD).cohort == cohort


def test_without_a_calibration_an_extreme_round_is_recorded_and_nothing_else():
    assert decisions([row()]) == [("extreme-surface", "record", "not_calibrated")]
    assert decisions([row(50)]) == []


def test_only_the_calibrated_score_of_a_signal_speaks_once_there_is_a_record():
    rows = [row(), row(feature="max_z")]
    assert [one[1] for one in decisions(rows)] == ["record", "record"]
    assert decisions(rows, {"extreme-surface": RECORD}) == [("extreme-surface", "pause", None)]


@pytest.mark.parametrize("validated", [Calibration.OUT_OF_SAMPLE, Calibration.INTERVENTION])
@pytest.mark.parametrize("at_least", [0, 3])
@pytest.mark.parametrize("more", [{}, {"known": 30}, {"cohort": '["d"]'}, SUSPECT])
def test_no_statistic_ever_blocks_or_makes_a_round_unknown(validated, at_least, more):
    record = CalibrationRecord(**{**{name: getattr(RECORD, name) for name in RECORD.__slots__}, "validated": validated})
    made = decisions([row(at_least, **more)], {"extreme-surface": record})
    assert {one[1] for one in made} <= {Decision.RECORD, Decision.WARN, Decision.PAUSE}
    if more:
        assert "pause" not in {one[1] for one in made}


def test_a_drifting_cohort_is_recorded_as_suspect_and_listed_as_left_out():
    assert decisions([row(**SUSPECT)], {"extreme-surface": RECORD}) == [
        ("extreme-surface", "record", "exchangeability_suspect")
    ]
    assert statistics_skipped(view([row(**SUSPECT), row(**TOO_FEW, feature="largest_h"), row(feature="max_z")])) == [
        {"id": "extreme-surface:largest_s", "required": False, "reason": "exchangeability_suspect"},
        {"id": "architectural-dispersion:largest_h", "required": False, "reason": "too_few"},
    ]


def test_a_finding_says_the_whole_comparison_and_that_it_is_no_judgement():
    [hit] = detector_of("extreme-surface").detect(view([row()]))
    assert "does not say that anything is wrong" in hit.message
    assert (hit.factors["p_value"], hit.factors["known_count"], hit.factors["calibration"]) == (0.01, 99, "none")
