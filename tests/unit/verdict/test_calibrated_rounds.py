"""A calibrated statistic through tables, document, SARIF and JUnit: warn, pause, one step milder, or only recorded."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.report.junit import junit_xml
from governance_pipeline.report.sarif import sarif_log
from governance_pipeline.verdict.calibration import record_of
from governance_pipeline.verdict.controls import control_tables
from governance_pipeline.verdict.findings import findings
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.verdicts import verdicts

PLAN = {
    "calibration_id": "k-1", "signal": "extreme-surface", "score": "largest_s", "design": "intervention",
    "alpha": {"moderate": "0.05", "extreme": "0.01"}, "cohorts": None, "minimum_reference": 50,
}  # fmt: skip
READ = {"lines_in": 1, "accepted": 1}
TOO_FEW = {"reason": "too_few", "at_least_count": None, "p_value": None, "p_adjusted": None, "is_extreme": None}
SUSPECT = {"reason": "exchangeability_suspect", "p_adjusted": None, "is_extreme": None}


def judged(at_least=0, known=99, plan=None, **more):
    """Give the rows of findings and the row of the verdict of a round with one comparison."""
    p = (at_least + 1) / (known + 1)
    row = {
        "feature": "largest_s", "value": 1.0, "cohort": '["c"]', "known_count": known, "at_least_count": at_least,
        "p_value": p, "p_adjusted": p, "is_extreme": p <= 0.05, "level": "0.05", "reason": None, **more,
    }  # fmt: skip
    tables = control_tables({"raw_log_files": [READ], "features_conformal": [row]})
    records = {} if plan is None else {"extreme-surface": record_of(PLAN | plan)}
    found = findings(tables, shipped_policy(), calibrations=records)
    [verdict] = verdicts(tables, found, shipped_policy()).to_dict("records")
    return found[found["class"] == "C"], verdict


@pytest.mark.parametrize(
    ("at_least", "known", "plan", "decision", "status", "is_pause"),
    [
        (0, 99, None, "record", "pass", False),
        (3, 99, {}, "warn", "warn", False),
        (0, 99, {"design": "out_of_sample"}, "warn", "warn", False),
        (0, 99, {}, "pause", "warn", True),
        (0, 199, {"minimum_reference": 200}, "warn", "warn", False),  # a small cohort: pause -> warn
        (3, 99, {"minimum_reference": 200}, "record", "pass", False),  # warn -> record
        (0, 99, {"cohorts": [["d"]]}, "warn", "warn", False),  # not comparable
    ],
)
def test_what_a_calibration_allows_reaches_table_and_document(at_least, known, plan, decision, status, is_pause):
    found, verdict = judged(at_least, known, plan)
    assert list(found["decision"]) == [decision]
    assert (verdict["status"], verdict["requires_justification"]) == (status, is_pause)
    document = json.loads(verdict["document"])
    assert (document["status"], document["requires_justification"]) == (status, is_pause)
    [entry] = document["new_findings"]
    factors = entry["factors"]
    assert (entry["decision"], factors["calibration_id"]) == (decision, None if plan is None else "k-1")


@pytest.mark.parametrize("more", [TOO_FEW, SUSPECT])
def test_too_few_and_a_drifting_cohort_never_reach_the_status(more):
    found, verdict = judged(plan={}, **more)
    assert set(found["decision"]) <= {"record"}
    assert (verdict["status"], verdict["requires_justification"]) == ("pass", False)
    skipped = {row["id"]: row["reason"] for row in json.loads(verdict["document"])["checks_skipped"]}
    assert skipped["extreme-surface:largest_s"] == more["reason"]


def test_a_pause_is_a_warning_of_its_own_name_where_machines_read_it():
    document = json.loads(judged(plan={})[1]["document"])
    [run] = sarif_log(document, {"extreme-surface": "rule"}, "1.2.3")["runs"]
    [result] = run["results"]
    assert (result["level"], result["properties"]["verdict"]) == ("warning", "pause")
    assert run["properties"]["requires_justification"] is True
    assert 'type="pause"' in junit_xml(document, {"extreme-surface": "rule"})
