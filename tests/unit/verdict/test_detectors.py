"""Every detector: its two controls, what it reads, and the cases its rule turns on."""

from __future__ import annotations

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.contracts.registry import validate
from governance_pipeline.errors import UsageError
from governance_pipeline.verdict import controls
from governance_pipeline.verdict.controls import CONTROL_ROUND, control_tables, fires, selftest
from governance_pipeline.verdict.detectors import DETECTORS, detector_of
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.round_view import RoundView, RowsByRound
from governance_pipeline.verdict.signals import CLASS_OF_CODE, SignalClass

SHIPPED_NOW = {
    "cross-check-mismatch", "output-hash-mismatch", "validator-not-independent", "goal-substitution",
    "focused-check-failed", "criterion-without-evidence", "criterion-without-check", "bugfix-without-reproduction",
    "required-check-not-run", "components-missing", "no-required-check-ran", "parse-failure", "test-deleted",
    "test-disabled", "assertion-removed", "public-signature-narrowed", "dependency-added", "dependency-unpinned",
    "extreme-surface", "architectural-dispersion", "accumulated-expansion", "evidence-lag", "rewrite-attempt",
    "canonical-write-unapproved", "partial-impact-graph", "rebaseline-due",
    "impact-increase", "outlier-crossing",
}  # fmt: skip
CHECKED = {"criterion_id": "C1", "check_command": "pytest -q"}
FAILED = {"state": "refuted", "command": "pytest -q", "exit_code": 1}
PASSED = {"step_index": 2, "line": 2, "state": "proven", "command": "pytest -q", "exit_code": 0}
BUGFIX = [{"task_kind": "bugfix"}]


def found(code, rows):
    view = RoundView(RowsByRound(control_tables(rows)), CONTROL_ROUND, shipped_policy())
    return list(detector_of(code).detect(view))


class Watched(RowsByRound):
    """Tables that remember who asked for them."""

    def __init__(self, tables):
        super().__init__(tables)
        self.asked = set()

    def whole(self, table):
        self.asked.add(table)
        return super().whole(table)


def test_every_code_that_ships_now_has_one_detector_and_no_other_code_has():
    assert {d.code for d in DETECTORS} == SHIPPED_NOW
    assert len(DETECTORS) == len(SHIPPED_NOW)


def test_no_detector_asks_a_model():
    assert {d.signal_class for d in DETECTORS} == {SignalClass.FACT, SignalClass.GAP, SignalClass.STATISTIC}
    assert CLASS_OF_CODE.keys() >= SHIPPED_NOW


def test_a_code_nobody_detects_yet_is_refused():
    with pytest.raises(UsageError, match="no-such-code"):
        detector_of("no-such-code")


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.code)
def test_a_detector_fires_on_its_control_and_is_silent_on_the_negative_one(detector):
    assert fires(detector, detector.fires_on)
    assert not fires(detector, detector.silent_on)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.code)
def test_the_controls_of_a_detector_are_rows_a_round_could_give(detector):
    for control in (detector.fires_on, detector.silent_on):
        for table, frame in control_tables(control).items():
            assert validate(table, frame) is frame


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.code)
def test_a_detector_reads_only_what_it_declares_and_the_row_of_the_round(detector):
    for control in (detector.fires_on, detector.silent_on):
        source = Watched(control_tables(control))
        list(detector.detect(RoundView(source, CONTROL_ROUND, shipped_policy())))
        assert source.asked <= {*detector.reads, "core_rounds"}


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.code)
def test_a_detector_is_silent_or_a_gap_about_checks_on_a_round_without_any_row(detector):
    assert fires(detector, {}) == (detector.code == "no-required-check-ran")


def test_a_detector_that_stops_firing_fails_the_selftest(monkeypatch, capsys):
    dead = DETECTORS[0].__class__(**{
        field: getattr(DETECTORS[0], field) for field in ("code", "rule", "reads", "fires_on", "silent_on")
    }, detect=lambda _: iter(()))  # fmt: skip
    monkeypatch.setattr(controls, "DETECTORS", (dead, *DETECTORS[1:]))
    assert [r.control for r in selftest() if not r.is_as_expected] == ["fires_on"]
    assert run(["verdict", "selftest"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_the_selftest_of_the_shipped_detectors_passes():
    assert run(["verdict", "selftest", "--json"]) == 0


# ------------------------------------------------------------------------------------------------ focused-check-failed


@pytest.mark.parametrize(
    ("rows", "fires_"),
    [
        ({"core_evidence": [FAILED]}, True),
        ({"core_evidence": [FAILED, PASSED]}, False),
        ({"core_evidence": [{**PASSED, "exit_code": 2}]}, True),
        ({"core_evidence": [{"state": "refuted", "command": None, "exit_code": 1}]}, False),
        ({"core_evidence": [{"state": "unproven", "command": "pytest -q", "exit_code": None}]}, False),
        ({"core_steps": [{"command": "pytest -q", "exit_code": 1}]}, True),
        ({"core_steps": [{"command": " pytest -q\n", "status": "error"}]}, True),
        ({"core_steps": [{"command": "pytest -q tests", "exit_code": 1}]}, False),
        ({"core_steps": [{"command": "pytest -q", "exit_code": 1, "status": "rejected"}]}, False),
        ({"core_steps": [{"command": "pytest -q", "exit_code": 0, "status": "error"}]}, False),
        ({"core_steps": [{"command": "pytest -q", "exit_code": 1}], "core_evidence": [PASSED]}, True),
    ],
)
def test_only_the_last_run_of_a_check_counts_and_a_claim_takes_no_logged_failure_back(rows, fires_):
    assert bool(found("focused-check-failed", {"core_criteria": [CHECKED], **rows})) == fires_


def test_the_failing_record_of_a_criterion_without_check_counts_by_its_own_command():
    rows = {"core_criteria": [{"criterion_id": "C1"}], "core_evidence": [FAILED]}
    (hit,) = found("focused-check-failed", rows)
    assert (hit.place.path, hit.place.line) == ("evidence.jsonl", 1)
    assert hit.factors["evidence_exit_code"] == 1


def test_evidence_of_a_criterion_the_contract_does_not_have_is_nobodys_check():
    rows = {"core_criteria": [CHECKED], "core_evidence": [{**FAILED, "criterion_id": "C9"}]}
    assert found("focused-check-failed", rows) == []


# ------------------------------------------------------------------------------------------- criterion-without-evidence


@pytest.mark.parametrize(
    ("evidence", "state"),
    [
        ([], "none"),
        ([{"state": "refuted"}], "refuted"),
        ([{"state": "unproven", "strength": 0.75}], "unproven"),
        ([{"state": "proven"}, {"state": "refuted", "line": 2}], "refuted"),
        ([{"state": "proven", "step_index": 3}, {"state": "refuted", "line": 2}], None),
    ],
)
def test_the_last_state_by_step_then_line_decides(evidence, state):
    hits = found("criterion-without-evidence", {"core_criteria": [CHECKED], "core_evidence": evidence})
    assert [hit.factors["state"] for hit in hits] == ([] if state is None else [state])


def test_a_lost_line_of_evidence_leaves_every_criterion_unknown():
    rows = {
        "core_criteria": [CHECKED, {"criterion_id": "C2"}],
        "core_evidence": [{"state": "proven"}],
        "raw_quarantine": [{"path": "evidence.jsonl", "line": 2}],
    }
    hits = found("criterion-without-evidence", rows)
    assert [hit.factors["state"] for hit in hits] == ["unknown", "unknown"]


def test_a_repeated_line_of_evidence_is_not_a_lost_one():
    rows = {
        "core_criteria": [CHECKED],
        "core_evidence": [{"state": "proven"}],
        "raw_quarantine": [{"path": "evidence.jsonl", "line": 2, "disposition": "duplicate"}],
    }
    assert found("criterion-without-evidence", rows) == []


def test_a_criterion_that_is_not_required_is_no_requirement():
    (hit,) = found("criterion-without-evidence", {"core_criteria": [{**CHECKED, "is_required": False}]})
    assert hit.required is False


# ------------------------------------------------------------------------------------------ bugfix-without-reproduction


@pytest.mark.parametrize(
    ("rows", "fires_"),
    [
        ({}, True),
        ({"core_evidence": [PASSED]}, True),
        ({"core_evidence": [FAILED]}, True),
        ({"core_evidence": [FAILED, PASSED]}, False),
        ({"core_evidence": [{**PASSED, "step_index": 1, "line": 1}, {**FAILED, "line": 2}]}, True),
        ({"core_evidence": [FAILED, {**PASSED, "command": "pytest -q other"}]}, True),
        ({"core_steps": [{"command": "pytest -q", "exit_code": 1}]}, True),
        (
            {
                "core_steps": [
                    {"command": "pytest -q", "exit_code": 1},
                    {"command": "pytest -q", "exit_code": 0, "step_index": 2, "line": 2},
                ]
            },
            False,
        ),
        (
            {
                "core_steps": [
                    {"command": "make", "exit_code": 1},
                    {"command": "make", "exit_code": 0, "step_index": 2, "line": 2},
                ]
            },
            True,
        ),
    ],
)
def test_a_bug_fix_is_shown_by_one_check_that_failed_and_then_passed(rows, fires_):
    everything = {"core_rounds": BUGFIX, "core_criteria": [CHECKED], **rows}
    assert bool(found("bugfix-without-reproduction", everything)) == fires_


@pytest.mark.parametrize("kind", [None, "feature", "bug"])
def test_another_task_needs_no_reproduction(kind):
    assert found("bugfix-without-reproduction", {"core_rounds": [{"task_kind": kind}]}) == []


def test_without_a_valid_contract_nobody_knows_that_a_round_is_a_bug_fix():
    rows = {"core_rounds": [{"task_kind": "bugfix", "contract_state": "invalid", "contract_fault": "line 1"}]}
    assert found("bugfix-without-reproduction", rows) == []


# -------------------------------------------------------------------------------------------- validator-not-independent


def test_an_attestation_that_fails_against_one_producer_of_two_is_one_finding():
    rows = {
        "audit_independence": [
            {"producer_run_id": "p1", "is_independent": True},
            {"producer_run_id": "p2", "is_independent": False, "rule": "session", "shared_value": "s-1"},
        ]
    }
    (hit,) = found("validator-not-independent", rows)
    assert hit.factors["rules"] == ["session"]
    assert [pair["is_independent"] for pair in hit.factors["pairs"]] == [True, False]


def test_two_attestations_that_fail_are_two_findings():
    rows = {
        "audit_independence": [
            {"is_independent": False, "rule": "key"},
            {"is_independent": False, "rule": "unsigned", "line": 2, "validator_id": None},
        ]
    }
    assert [hit.place.line for hit in found("validator-not-independent", rows)] == [1, 2]


# ------------------------------------------------------------------------------------------------- components-missing


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("components_missing", "components-missing"),
        ("components_incomplete", "components-missing"),
        ("component_missing_value", "components-missing"),
        ("component_not_a_number", "components-missing"),
        ("component_not_finite", "components-missing"),
        ("declared_missing", "required-check-not-run"),
        ("declared_quarantined", "required-check-not-run"),
        ("declared_not_a_number", "required-check-not-run"),
        ("declared_not_finite", "required-check-not-run"),
        ("declared_type", "required-check-not-run"),
        ("duplicate_subject", "required-check-not-run"),
        ("division_by_zero", "required-check-not-run"),
        ("overflow", "required-check-not-run"),
    ],
)
def test_every_unverifiable_number_is_one_finding_by_its_reason(reason, code, codes):
    rows = {"audit_cross_checks": [{"status": "unverifiable", "reason_code": reason}]}
    assert codes(rows) == [(code, "unknown")]
