"""Calibrations: a plan is older than its data, evaluated once, and its result is kept whatever it is."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.verdict
from governance_pipeline.cli.main import run
from governance_pipeline.errors import UsageError
from governance_pipeline.gate.calibrating import evaluate_once, list_document, register
from governance_pipeline.ledger.calibrations import CalibrationEvent, in_force, read_calibrations
from governance_pipeline.rounds.contract import Mode
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.verdict.calibration import judged
from governance_pipeline.verdict.calibration_evaluation import evaluate, read_plan
from governance_pipeline.verdict.calibrations import plans_in_force, records_in_force
from governance_pipeline.verdict.decision_table import decide_signal
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.signals import Statistic

SCHEMAS = Path(governance_pipeline.verdict.__file__).parent / "schemas"
PLAN = {
    "schema": "govern/calibration/v1", "calibration_id": "surface-1", "signal": "extreme-surface", "score": "largest_s",
    "hypothesis": "rounds with an extreme surface are reverted within a week",
    "alpha": {"moderate": "0.1", "extreme": "0.01"}, "cohorts": None, "split_at": "2026-11-01T00:00:00Z",
    "minimum_rounds": 20, "minimum_reference": 30, "design": "out_of_sample",
    "success": {"measure": "precision", "level": "moderate", "bound": "0.5", "confidence": "0.95"},
}  # fmt: skip


@pytest.fixture
def noon():
    return sys.modules["gate_world"].NOON


@pytest.fixture
def rows(noon, monkeypatch):
    """Rows of features_conformal: 40 rounds after noon; the ten most extreme are flagged."""
    made = [
        {"round_id": f"r{n}", "feature": "largest_s", "cohort": '["team"]', "ended_at": noon + timedelta(hours=n + 1),
         "known_count": 99, "at_least_count": n, "reason": None}
        for n in range(40)
    ]  # fmt: skip
    monkeypatch.setattr("governance_pipeline.gate.calibrating._rows", lambda _: made)
    return made


def plan(**changes):
    return read_plan(json.dumps(PLAN | changes).encode())


def labels(*defects, rounds=range(40), arm=None, of="surface-1"):
    entries = [{"round_id": f"r{n}", "is_defect": n in defects, **({"arm": arm(n)} if arm else {})} for n in rounds]
    return json.dumps({"schema": "govern/calibration-labels/v1", "calibration_id": of, "rounds": entries}).encode()


def sign(world, who="ana", document=None, now=None):
    module = sys.modules["gate_world"]
    return register(world.verifier(), document or plan(), module.NamedSigner(who), clock=lambda: now or module.NOON)


def judge(world, data, who="ana", now=None, name="surface-1"):
    module = sys.modules["gate_world"]
    now = now or module.NOON + timedelta(days=3)
    return evaluate_once(world.verifier(now), name, data, module.NamedSigner(who), clock=lambda: now).result


@pytest.mark.parametrize("changes", [
    {"alpha": {"moderate": "0.01", "extreme": "0.1"}}, {"alpha": {"moderate": "0.1", "extreme": "0"}},
    {"alpha": {"moderate": 0.1, "extreme": 0.01}}, {"score": "largest_h"}, {"signal": "goal-substitution"},
    {"split_at": "yesterday"}, {"design": "intervention"}, {"minimum_rounds": 0}, {"hypothesis": "x"}, {"more": 1},
    {"success": {**PLAN["success"], "confidence": "1"}}, {"success": {**PLAN["success"], "measure": "effect"}},
    {"calibration_id": "../x"}, {"cohorts": []},
])  # fmt: skip
def test_a_plan_that_says_too_little_or_contradicts_itself_is_refused(changes):
    with pytest.raises(UsageError):
        plan(**changes)


@pytest.mark.parametrize("who", ["mallory", "dot", "coder-1"])
def test_who_is_no_approver_registers_nothing(world, who):
    with pytest.raises(Refusal):
        sign(world, who)
    assert read_calibrations(world.ledger).registered == {}


def test_a_plan_is_registered_once_and_never_changed(world):
    sign(world)
    with pytest.raises(Refusal) as refused:
        sign(world, document=plan(hypothesis="another hypothesis, after a look at the data"))
    assert refused.value.code is ReasonCode.REPLAYED


def test_rounds_that_ended_before_the_registration_are_refused_and_nothing_is_recorded(world, rows, noon):
    sign(world, now=noon + timedelta(hours=2))
    with pytest.raises(UsageError, match=r"round r0 ended at .* older than its data"):
        judge(world, labels(0))
    rows[5]["ended_at"] = None
    with pytest.raises(UsageError, match="unknown time"):
        judge(world, labels(rounds=range(5, 40)))
    assert read_calibrations(world.ledger).evaluated == {}


@pytest.mark.parametrize("changes", [{"rounds": range(3)}, {"rounds": [0, 0]}, {"rounds": [99]}, {"of": "other"}])
def test_labels_that_are_too_few_twice_unknown_or_of_another_plan_are_refused(world, rows, changes):
    sign(world)
    with pytest.raises(UsageError):
        judge(world, labels(**changes))


def test_another_cohort_than_the_plan_names_is_not_evaluated(rows, noon):
    with pytest.raises(UsageError, match="cohort"):
        evaluate(plan(cohorts=[["other"]]), noon, labels(), rows)
    assert evaluate(plan(cohorts=[["team"]]), noon, labels(), rows)["known_rounds"] == 40


def test_a_success_is_in_force_and_a_later_failure_takes_it_back(world, rows):
    sign(world)
    result = judge(world, labels(*range(10)))
    jsonschema.validate(result, json.loads((SCHEMAS / "calibration-result-v1.json").read_text("utf-8")))
    assert (result["is_success"], result["value"], result["hits"], result["of"]) == (True, "1.000000", 10, 10)
    assert 0.5 < float(result["limit"]) < 1
    later = sys.modules["gate_world"].NOON
    root = world.verifier().root
    assert in_force(read_calibrations(world.ledger), root, later)["extreme-surface"].calibration_id == "surface-1"

    sign(world, document=plan(calibration_id="surface-2"))
    failed = judge(world, labels(0, 1, of="surface-2"), name="surface-2")
    assert (failed["is_success"], failed["reason"], failed["value"]) == (False, "bound_not_reached", "0.200000")
    history = read_calibrations(world.ledger)
    assert in_force(history, root, later) == {}
    assert set(history.evaluated) == {"surface-1", "surface-2"}


def test_a_signal_may_warn_only_while_its_calibration_is_in_force(world, rows, noon):
    root = world.verifier().root
    sign(world)
    assert records_in_force(read_calibrations(world.ledger), root, noon) == {}
    judge(world, labels(*range(10)))
    history = read_calibrations(world.ledger)
    record = records_in_force(history, root, noon)["extreme-surface"]
    assert (record.validated, str(record.moderate), record.minimum_reference) == ("out_of_sample", "1/10", 30)
    row = {**rows[3], "is_extreme": None, "level": "0.05", "at_least_count": 3}
    extreme = judged(row, record)
    assert decide_signal(Statistic("x", "extreme-surface", *extreme), Mode.FINAL, shipped_policy()).decision == "warn"
    assert records_in_force(history, None, noon) == records_in_force(None, root, noon) == {}
    assert [one["calibration_id"] for one in plans_in_force(history, root, noon)] == ["surface-1"]


def test_it_is_evaluated_once_also_when_it_failed(world, rows):
    sign(world)
    judge(world, labels())
    with pytest.raises(Refusal) as refused:
        judge(world, labels(*range(10)))
    assert refused.value.code is ReasonCode.REPLAYED


def test_a_flag_at_exactly_alpha_counts_and_what_was_left_out_is_counted(rows, noon):
    result = evaluate(plan(), noon, labels(9, rounds=range(9, 39)), rows)
    # r9 has p = 10/100, which is 0.1 exactly and no double near it
    assert (result["counts"]["moderate"]["flagged_defect"], result["counts"]["extreme"]["flagged_defect"]) == (1, 0)
    assert (result["known_rounds"], result["unlabelled_rounds"]) == (30, 10)
    rows[20]["reason"] = "exchangeability_suspect"
    assert evaluate(plan(), noon, labels(rounds=range(9, 39)), rows)["known_rounds"] == 29


def test_nothing_flagged_is_no_success(rows, noon):
    result = evaluate(plan(), noon, labels(rounds=range(15, 40)), rows)
    assert (result["value"], result["is_success"], result["reason"]) == (None, False, "nothing_to_measure")


@pytest.mark.parametrize(
    ("measure", "bound", "defects", "is_success"),
    [("recall", "0.5", range(10), True), ("recall", "0.5", range(40), False),
     ("false_alarm_share", "0.2", range(9), True), ("false_alarm_share", "0.2", range(30, 40), False)],
)  # fmt: skip
def test_each_measure_has_its_conservative_limit(rows, noon, measure, bound, defects, is_success):
    success = {"measure": measure, "level": "moderate", "bound": bound, "confidence": "0.9"}
    assert evaluate(plan(success=success), noon, labels(*defects), rows)["is_success"] is is_success


def test_an_intervention_is_measured_by_its_effect_between_the_arms(rows, noon):
    success = {"measure": "effect", "level": "moderate", "bound": "0", "confidence": "0.9"}
    document = plan(design="intervention", success=success)
    with pytest.raises(UsageError, match="arm"):
        evaluate(document, noon, labels(), rows)
    treated = lambda n: "treated" if n % 2 else "control"  # noqa: E731 - one short rule
    helped = evaluate(document, noon, labels(0, 2, 4, 6, 8, arm=treated), rows)
    assert (helped["value"], helped["is_success"]) == ("1.000000", True)
    hurt = evaluate(document, noon, labels(1, 3, 5, arm=treated), rows)
    assert (hurt["is_success"], hurt["value"]) == (False, "-0.600000")


def test_a_statement_somebody_forged_is_listed_and_does_not_count(world, noon):
    body = {"calibration_id": "surface-1", "signal": "extreme-surface", "envelope": "{}"}
    world.ledger.append(CalibrationEvent.REGISTERED, "ana", body, ts=noon)
    world.ledger.append(CalibrationEvent.EVALUATED, "ana", {"calibration_id": 7}, ts=noon)
    document = list_document(world.verifier(), noon)
    jsonschema.validate(document, json.loads((SCHEMAS / "calibration-list-v1.json").read_text("utf-8")))
    assert [entry["counts"] for entry in document["calibrations"]] == [False]
    assert document["unusable_events"] == [world.ledger.size()]
    assert in_force(read_calibrations(world.ledger), world.verifier().root, noon) == {}


def test_the_commands_register_evaluate_and_list(world, rows, tmp_path, capsys, monkeypatch, noon):
    module = sys.modules["gate_world"]
    moments = iter([noon, noon, noon + timedelta(days=3), noon + timedelta(days=3)])
    monkeypatch.setattr("governance_pipeline.cli.verdict_calibration.clock", lambda: next(moments))
    keys = world.write_keys()
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "labels.json").write_bytes(labels(0))
    where = ["--lake", str(world.lake.root), "--config", str(world.config_path), "--json"]

    def govern(*arguments):
        code = run(["verdict", "calibration", *map(str, arguments), *where])
        out = capsys.readouterr().out
        document = json.loads(out) if out else None
        if document:
            name = document["schema"].removeprefix("govern/").replace("/", "-")
            jsonschema.validate(document, json.loads((SCHEMAS / f"{name}.json").read_text("utf-8")))
        return code, document

    code, document = govern("register", tmp_path / "plan.json", "--key", keys / "ana.pem")
    assert (code, document["registered_by"]) == (0, "ana")
    code, document = govern("evaluate", "surface-1", tmp_path / "labels.json", "--key", keys / "ana.pem")
    assert (code, document["is_success"]) == (1, False)
    code, document = govern("list", "--at", "2026-12-04T00:00:00Z")
    [entry] = document["calibrations"]
    assert (code, entry["is_in_force"], entry["result"]["value"]) == (0, False, "0.100000")
    assert govern("register", tmp_path / "labels.json", "--key", keys / "ana.pem")[0] == 2
    assert noon == module.NOON


def test_a_calibration_of_the_old_baseline_does_not_carry_over_to_the_new_one(world, rows, noon):
    steps, signer, root = (
        sys.modules["rebaseline_steps"],
        sys.modules["gate_world"].NamedSigner("ana"),
        world.verifier().root,
    )
    sign(world)
    judge(world, labels(*range(10)))
    steps.walk(world.ledger, signer, root, noon, to=steps.Step.RECORD)
    assert records_in_force(read_calibrations(world.ledger), root, noon) != {}
    steps.walk(world.ledger, signer, root, noon, scope_change="another")
    assert records_in_force(read_calibrations(world.ledger), root, noon) == {}
    [entry] = list_document(world.verifier(), noon)["calibrations"]
    assert (entry["counts"], entry["is_in_force"]) == (True, False)
