"""Signals of amplification are recorded and never change a decision."""

from __future__ import annotations

import pytest

from governance_pipeline.rounds.contract import Mode
from governance_pipeline.verdict.controls import control_view
from governance_pipeline.verdict.detectors.amplification import COLUMN_OF, DETECTORS
from governance_pipeline.verdict.findings import findings_of
from governance_pipeline.verdict.signals import Decision, SignalClass


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.code)
def test_a_signal_is_recorded_as_not_calibrated_whatever_the_mode(detector, mode):
    row = {COLUMN_OF[detector.code]: True}
    view = control_view({"core_rounds": [{"mode": mode.value}], "features_amplification": [row]})
    [found] = findings_of(view, (detector,))
    assert detector.signal_class is SignalClass.STATISTIC
    assert (found.decided.decision, found.decided.reason, found.severity) == (Decision.RECORD, "not_calibrated", None)


def test_a_finding_points_at_the_line_that_touched_the_file_in_whatever_spelling():
    row = {"unit": "src/a.py", "is_impact_increase": True, "candidate_impact_count": 9}
    touched = {"file_path": "./src/a.py", "line": 7}
    view = control_view({"features_amplification": [row], "core_file_changes": [touched]})
    [hit] = DETECTORS[0].detect(view)
    assert (hit.place.path, hit.place.line) == ("changes.jsonl", 7)
    assert "used by 9 files" in hit.message
    assert hit.factors["baseline"]["frequency_count"] == 3
