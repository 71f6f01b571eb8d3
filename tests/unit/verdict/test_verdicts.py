"""Verdict tables and documents: pure, the same as the decision table says, and open about what was left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.registry import validate
from governance_pipeline.errors import UsageError
from governance_pipeline.verdict.baseline import Baseline
from governance_pipeline.verdict.controls import control_tables
from governance_pipeline.verdict.decide import DecideInput, decide
from governance_pipeline.verdict.detectors import DETECTORS
from governance_pipeline.verdict.detectors.goal_substitution import goal_facts
from governance_pipeline.verdict.document_schema import document_fault
from governance_pipeline.verdict.findings import findings, findings_of
from governance_pipeline.verdict.inputs_digest import InputDigests
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.required_checks import required_checks
from governance_pipeline.verdict.round_view import INPUTS, RoundView, RowsByRound
from governance_pipeline.verdict.signals import Check, Fact, Gap, Statistic
from governance_pipeline.verdict.verdicts import verdicts

READ = {"raw_log_files": [{"lines_in": 1, "accepted": 1}]}
MISMATCH = {"declared": "9", "computed": "8", "delta": "1", "status": "mismatch", "mismatch": True}
CHECK_CODES = {"required-check-not-run", "no-required-check-ran"}


def several(**rounds):
    """Tables of several rounds: round id -> the rows that matter."""
    parts = []
    for round_id, rows in rounds.items():
        tables = control_tables({**READ, **rows})
        parts.append({name: frame.assign(round_id=round_id).astype(frame.dtypes) for name, frame in tables.items()})
    return {name: pd.concat([part[name] for part in parts], ignore_index=True) for name in INPUTS}


def judged(tables):
    found = findings(tables, shipped_policy())
    return found, verdicts(tables, found, shipped_policy())


def documents(tables):
    return {row["round_id"]: json.loads(row["document"]) for row in judged(tables)[1].to_dict("records")}


CONTROLS = st.lists(st.sampled_from([c for d in DETECTORS for c in (d.fires_on, d.silent_on)]), min_size=1, max_size=3)


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(CONTROLS, st.sampled_from(["quick", "final"]))
def test_a_round_is_judged_as_the_decision_table_judges_its_signals(controls, mode):
    rows = {table: part for control in controls for table, part in control.items()}
    rows["core_rounds"] = [{**rows.get("core_rounds", [{}])[0], "mode": mode, "round_id": "control-1"}]
    tables = control_tables({**READ, **rows})
    view = RoundView(RowsByRound(tables), "control-1", shipped_policy())
    hits = [(one.detector, one.hit, one.finding_id) for one in findings_of(view)]
    signals = [detector.signal(hit, id_) for detector, hit, id_ in hits if detector.code not in CHECK_CODES]
    checks = [Check(str(n), c.required, c.ran, c.is_reported) for n, c in enumerate(required_checks(view))]
    given_ = DecideInput(
        view.mode,
        view.policy,
        tuple(s for s in signals if s.code != "goal-substitution"),
        tuple(checks),
        goal_facts(view),
    )
    expected = decide(given_)
    found, rounds = judged(tables)
    assert rounds["status"].tolist() == [expected["status"]]
    assert sorted(found["decision"]) == sorted(f["decision"] for f in expected["findings"])
    assert all(isinstance(signal, Fact | Gap | Statistic) for signal in signals)
    if expected["status"] in {"pass", "warn"}:
        assert checks
        assert all(check.ran for check in checks)


def test_the_same_rows_give_the_same_bytes_and_the_order_of_rounds_plays_no_part():
    rows = {"a-1": {"audit_cross_checks": [MISMATCH]}, "b-2": {}, "c-3": {"core_criteria": [{"criterion_id": "C1"}]}}
    whole = documents(several(**rows))
    assert documents(several(**dict(reversed(rows.items())))) == whole
    assert {round_id: documents(several(**{round_id: part}))[round_id] for round_id, part in rows.items()} == whole


def digest(round_id="a", **rounds):
    """Digest of the input rows of one round."""
    return InputDigests(RowsByRound(several(**rounds))).digest(round_id, Baseline(None, {}))


def test_one_changed_cell_changes_the_digest_of_the_inputs_and_another_round_does_not():
    plain = digest(a={})
    steps = ({"tool": "bash"}, {"tool": None}, {"tool": ""}, {"at": datetime(2026, 1, 1, tzinfo=UTC)})
    assert len({plain, *(digest(a={"core_steps": [step]}) for step in steps)}) == 5
    assert digest(a={}, b={"core_steps": [{}]}) == plain


def test_neighbouring_texts_cannot_be_shifted_without_changing_the_digest():
    first, second = (
        digest(a={"core_steps": [{"tool": tool, "command": command}]}) for tool, command in (("ab", "c"), ("a", "bc"))
    )
    assert first != second


def test_what_the_parent_has_is_an_input_too():
    inputs = InputDigests(RowsByRound(several(a={})))
    baselines = (Baseline(None, {}), Baseline("p", {}), Baseline("p", None), Baseline("p", {"x": "p"}))
    assert len({inputs.digest("a", baseline) for baseline in baselines}) == 4


def test_a_missing_table_is_refused_and_never_taken_for_an_empty_one():
    tables = control_tables(READ)
    del tables["audit_integrity"]
    with pytest.raises(UsageError, match="audit_integrity"):
        findings(tables, shipped_policy())


@pytest.mark.parametrize("rows", [READ, *(d.fires_on for d in DETECTORS), *(d.silent_on for d in DETECTORS)])
def test_every_document_keeps_its_schema(rows, judge):
    assert document_fault("verdict-v1.json", judge(rows)) is None


def test_clean_logs_that_only_lack_a_contract_pass_and_say_what_was_left_out(judge):
    document = judge({"core_rounds": [{"contract_state": "absent", "contract_sha256": None}]})
    assert document["status"] == "pass"
    skipped = {(row["id"], row["reason"]) for row in document["checks_skipped"]}
    assert {("criteria", "no_contract"), ("scope", "no_contract"), ("goal-substitution", "no_contract")} <= skipped
    assert ("validator-independence", "not_in_quick_mode") in skipped
    assert [row["reason"] for row in document["unknowns"]] == ["no_contract"]
    assert document["checks_run"] == [{"id": "log-accounted", "count": 1}]


def test_a_declared_number_nobody_can_check_is_listed_and_is_no_finding(judge):
    document = judge({"core_declared": [{"field": "tokens_sent", "subject_id": "s"}]})
    assert {"id": "cross-check:tokens_sent:s", "required": False, "reason": "not_checkable"} in document[
        "checks_skipped"
    ]
    assert document["status"] == "pass"


def test_a_warning_hides_no_gap(judge):
    document = judge({"raw_log_files": [], "audit_cross_checks": [], "core_criteria": [], "audit_integrity": []})
    assert document["status"] == "unknown"
    warned = judge({"audit_cross_checks": [MISMATCH, {"record_id": "b" * 64, "status": "unverifiable",
                                                       "reason_code": "overflow"}]})  # fmt: skip
    assert warned["status"] == "unknown"
    assert {f["decision"] for f in warned["new_findings"]} == {"warn", "unknown"}


def test_final_mode_blocks_on_missing_evidence_and_quick_mode_leaves_it_unknown(judge):
    rows = {"core_criteria": [{"criterion_id": "C1"}]}
    assert judge(rows)["status"] == "unknown"
    final = judge({**rows, "core_rounds": [{"mode": "final"}]})
    assert final["status"] == "block"
    assert [row["reason"] for row in final["unknowns"]] == ["no_evidence", "check_not_run", "no_scope", "no_evidence"]


def test_a_finding_points_at_the_raw_line_and_says_how_to_see_it_again(judge):
    (finding,) = judge({"audit_cross_checks": [{**MISMATCH, "declared_line": 7}]})["new_findings"]
    assert finding["evidence"] == {
        "path": "declared.jsonl", "file_sha256": "a" * 64, "line": 7, "pointer": "/value",
    }  # fmt: skip
    assert finding["factors"]["declared"] == "9"
    assert finding["reproduce"] == f"govern verdict check --finding {finding['finding_id']}"


def test_findings_of_a_parent_are_known_listed_apart_and_still_count():
    rows = {"audit_cross_checks": [MISMATCH]}
    child = {**rows, "core_rounds": [{"parent_round_id": "a-1"}]}
    both = documents(several(**{"a-1": rows, "b-2": child}))
    assert (both["a-1"]["new_findings"], both["b-2"]["new_findings"]) == (both["a-1"]["new_findings"], [])
    (known,) = both["b-2"]["known_findings"]
    assert known["first_seen"] == "a-1"
    assert known["finding_id"] != both["a-1"]["new_findings"][0]["finding_id"]
    assert both["b-2"]["status"] == "warn"


def test_without_the_parent_at_hand_findings_are_listed_as_new_and_first_seen_is_unknown():
    child = {"audit_cross_checks": [MISMATCH], "core_rounds": [{"parent_round_id": "a-1"}]}
    document = documents(several(**{"b-2": child}))["b-2"]
    assert document["baseline"] == {"round_id": "a-1", "is_at_hand": False}
    assert [f["first_seen"] for f in document["new_findings"]] == [None]
    assert "no_baseline" in {row["reason"] for row in document["unknowns"]}
    assert document["status"] == "warn"


def test_other_bytes_give_another_finding_id_and_the_same_fingerprint():
    ids = []
    for digest in ("a" * 64, "b" * 64):
        (found,) = judged(several(a={"audit_cross_checks": [{**MISMATCH, "declared_file_sha256": digest}]}))[0].to_dict(
            "records"
        )
        ids.append((found["finding_id"], found["fingerprint"]))
    assert ids[0][0] != ids[1][0]
    assert ids[0][1] == ids[1][1]


def test_the_row_says_what_the_document_says():
    tables = several(a={"audit_cross_checks": [MISMATCH], "core_criteria": [{"criterion_id": "C1"}]})
    found, rounds = judged(tables)
    assert validate("verdict_findings", found) is found
    (row,) = validate("verdict_rounds", rounds).to_dict("records")
    document = json.loads(row["document"])
    assert row["status"] == document["status"] == "unknown"
    assert f"sha256:{row['policy_sha256']}" == document["policy"]["digest"]
    assert f"sha256:{row['inputs_sha256']}" == document["inputs_digest"]
    assert json.loads(row["checks_run"]) == document["checks_run"]
    assert json.loads(row["unknown_reasons"]) == ["no_evidence"]
    assert (row["findings_count"], row["new_findings_count"], row["blocking_count"]) == (3, 3, 0)
    assert document["duration_ms"] is None
