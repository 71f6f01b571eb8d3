"""Nobody has to remember: each trigger of the protocol is noticed, once, and counts as declared while one is open."""

from __future__ import annotations

import json
from datetime import timedelta

import pandas as pd
import pytest

from governance_pipeline.contracts.audit_rebaseline import AuditRebaseline
from governance_pipeline.contracts.registry import empty_frame, frame_of
from governance_pipeline.framework.folder import POLICIES, REQUIREMENTS, STATE
from governance_pipeline.framework.rebaseline.assumptions import note, noted_of
from governance_pipeline.framework.rebaseline.due import Due, Trigger, due
from governance_pipeline.framework.rebaseline.table import rows
from governance_pipeline.ledger.rebaselines import Step

PLACE = {"file_sha256": "a" * 64, "line": 3, "pointer": "/cost"}


def tables(*rounds):
    """Give the tables of rounds: (id, format, field, data type, column, baseline)."""
    made = {name: [] for name in ("core_rounds", "raw_log_files", "core_declared", "core_components")}
    for round_id, log_format, field, data_type, column, baseline in rounds:
        at = {"round_id": round_id, "path": "logs/a.jsonl", **PLACE}
        made["core_rounds"].append(
            {"round_id": round_id, "contract_state": "valid", "baseline_version": baseline, "runs_count": 1}
        )
        made["raw_log_files"].append(
            {"round_id": round_id, "path": "logs/a.jsonl", "file_sha256": "a" * 64, "format": log_format,
             "record_unit": "line", "bytes": 1, "lines_in": 1, "accepted": 1, "quarantined": 0, "blank": 0,
             "duplicates": 0}
        )  # fmt: skip
        made["core_declared"].append(
            {**at, "subject_id": "s", "field": field, "value_raw": "1", "value_kind": "number", "data_type": data_type,
             "format": log_format, "component_paths": "{}"}
        )  # fmt: skip
        made["core_components"].append(
            {**at, "subject_id": "s", "source": "calls", "row_index": 1, "column": column, "value_raw": "1",
             "value_kind": "number", "format": log_format}
        )  # fmt: skip
    return {name: frame_of(name, found) if found else empty_frame(name) for name, found in made.items()}


KNOWN = ("r1", "codex", "cost", "currency", "usd", "1.0.0")


@pytest.fixture
def noted(house):
    note(house.folder, house.world.ledger, "1.0.0", tables(KNOWN), house.tick())
    return house


def found(house, *rounds):
    return due(house.project, tables(KNOWN, *rounds))


def test_a_baseline_nobody_noted_is_due_until_the_table_is_made(house):
    assert [each.trigger for each in found(house)] == [Trigger.NOT_NOTED]
    made = rows(house.project, tables(KNOWN))
    assert len(made) == 0
    assert found(house) == []


def test_what_was_noted_is_no_reason(noted):
    assert found(noted) == []


@pytest.mark.parametrize(
    ("other", "trigger", "subject"),
    [
        (("r2", "atif", "cost", "currency", "usd", "1.0.0"), Trigger.NEW_FORMAT, "atif"),
        (("r2", "codex", "price", "currency", "usd", "1.0.0"), Trigger.NEW_COLUMN, "codex: price"),
        (("r2", "codex", "cost", "currency", "eur", "1.0.0"), Trigger.NEW_COLUMN, "codex: calls.eur"),
        (("r2", "codex", "cost", "integer", "usd", "1.0.0"), Trigger.NEW_DATA_TYPE, "codex: cost: integer"),
        (("r2", "codex", "cost", "integer", "usd", None), Trigger.NEW_DATA_TYPE, "codex: cost: integer"),
    ],
)
def test_a_new_format_column_or_type_of_data_is_due_once_with_its_place(noted, other, trigger, subject):
    [each] = found(noted, other)
    assert each[:2] == (trigger, subject)
    assert each.round_id == "r2"
    assert each.pointer.startswith("r2/logs/a.jsonl")


def test_a_round_of_another_baseline_is_not_judged_by_this_one(noted):
    assert found(noted, ("r2", "atif", "price", "integer", "eur", "0.9.0")) == []


@pytest.mark.parametrize(("path", "name"), [(POLICIES, "policies"), (REQUIREMENTS, "requirements")])
def test_a_changed_document_is_due_and_one_that_is_gone_too(noted, path, name):
    text = noted.folder.path(path).read_text()
    noted.folder.path(path).write_text(text + "\none more rule\n")
    assert found(noted) == [Due(Trigger.DOCUMENT_CHANGED, name, path, None)]
    noted.folder.path(path).unlink()
    assert Due(Trigger.DOCUMENT_CHANGED, name, path, None) in found(noted)


def test_a_phase_that_the_requirements_do_not_name_is_due(noted):
    path = noted.folder.path(STATE)
    path.write_text(json.dumps({**json.loads(path.read_text()), "current_phase": "migration"}))
    assert [each[:2] for each in found(noted)] == [(Trigger.PHASE, "migration")]
    requirements = noted.folder.path(REQUIREMENTS)
    requirements.write_text(requirements.read_text().replace("| setup |", "| migrations |"))
    assert (Trigger.PHASE, "migration") in [each[:2] for each in found(noted)]


def test_a_case_in_which_our_computation_was_wrong_contradicts_a_coded_rule(noted):
    body = {"case_id": "case-1", "resolution": "source_wrong", "reason": "r", "envelope": "e"}
    noted.world.ledger.append("CASE_RESOLVED", "ana", body, ts=noted.tick())
    assert found(noted) == []
    event = noted.world.ledger.append(
        "CASE_RESOLVED", "ana", {**body, "resolution": "computation_wrong"}, ts=noted.tick()
    )
    assert found(noted) == [Due(Trigger.RULE_CONTRADICTED, "case-1", f"ledger event {event.seq}", None)]


def test_noting_again_hides_nothing(noted):
    other = ("r2", "atif", "cost", "currency", "usd", "1.0.0")
    assert not note(noted.folder, noted.world.ledger, "1.0.0", tables(KNOWN, other), noted.tick())
    noted.world.ledger.append(
        "BASELINE_NOTED", "forger", {"baseline_version": "1.0.0", "formats": ["codex", "atif"]}, ts=noted.tick()
    )
    assert [each.trigger for each in found(noted, other)] == [Trigger.NEW_FORMAT]
    assert noted_of(noted.folder, noted.world.ledger, "1.0.0").known["formats"] == {"codex"}


def test_while_a_rebaseline_is_open_what_is_due_counts_as_declared_and_afterwards_it_is_over(noted):
    noted.folder.path(POLICIES).write_text(noted.folder.path(POLICIES).read_text() + "\n")
    made = rows(noted.project, tables(KNOWN))
    assert list(made["state"]) == ["due"]
    noted.take(Step.DECLARE)
    made = rows(noted.project, tables(KNOWN))
    assert list(zip(made["trigger"], made["state"], made["next_step"], strict=True)) == [
        ("document_changed", "declared", "freeze"),
        ("declaration", "open", "freeze"),
    ]
    for step in list(Step)[1:]:
        noted.take(step)
    made = rows(noted.project, tables(KNOWN))
    assert list(zip(made["trigger"], made["state"], made["baseline_version"], strict=True)) == [
        ("declaration", "resumed", "2.0.0"),
    ]


def test_the_table_keeps_its_contract(noted):
    noted.take(Step.DECLARE)
    made = rows(noted.project, tables(KNOWN, ("r2", "atif", "price", "integer", "eur", "1.0.0")))
    AuditRebaseline.to_schema().validate(made)
    assert isinstance(made, pd.DataFrame)
    assert set(made["state"]) == {"declared", "open"}


@pytest.mark.parametrize(
    ("version", "days", "is_late"),
    [("1.0.0", 1, True), ("1.0.0", -400, False), ("1.0.0", None, False), ("2.0.0", 1, False)],
)
def test_a_round_after_a_rebaseline_that_names_the_version_before_it_is_late(staged, version, days, is_late):
    house = staged(Step.RESUME)
    made = tables(("r9", "codex", "cost", "currency", "usd", version))
    ended = None if days is None else house.now + timedelta(days=days)
    row = {"round_id": "r9", "contract_state": "valid", "baseline_version": version, "runs_count": 1, "ended_at": ended}
    made["core_rounds"] = frame_of("core_rounds", [row])
    note(house.folder, house.world.ledger, "2.0.0", made, house.tick())
    found = [each for each in due(house.project, made) if each.trigger is Trigger.OLD_BASELINE]
    assert found == [Due(Trigger.OLD_BASELINE, "1.0.0", "r9/round.toml", "r9")] * is_late
    assert list(rows(house.project, made)["state"]) == ["due"] * is_late + ["resumed"]
