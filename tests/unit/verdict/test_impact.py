"""The impact member of a verdict: factors beside products, and nothing of units nobody knows anything about."""

from __future__ import annotations

from governance_pipeline.verdict.controls import control_view
from governance_pipeline.verdict.impact import impact


def test_a_unit_of_which_nothing_is_known_is_left_out():
    assert impact(control_view({"features_amplification": [{"base_commit_id": None, "is_in_baseline": None}]})) == []


def test_a_round_without_touched_files_has_no_impact():
    assert impact(control_view({})) == []


def test_factors_are_kept_beside_the_product_and_a_new_unit_has_no_baseline():
    row = {
        "unit": "a.py\x1b[31m", "is_in_baseline": False, "baseline_frequency_count": None, "baseline_impact_count": None,
        "candidate_amplification": 8.0, "is_impact_increase": None, "impact_delta_count": None,
        "unknown": '{"impact_increase": "no_baseline"}',
    }  # fmt: skip
    [entry] = impact(control_view({"features_amplification": [row]}))
    assert "\x1b" not in entry["unit"]
    assert entry["baseline"] is None
    assert entry["candidate"]["impact_count"] == 2
    assert entry["candidate"]["amplification"] == 8.0
    assert entry["unknown"] == {"impact_increase": "no_baseline"}
    assert entry["signals"]["impact_increase"] is None
