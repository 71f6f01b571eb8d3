"""The doctor names what makes a re-baseline due, and one that was left open."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from governance_pipeline.doctor.finding import Health, Patient
from governance_pipeline.doctor.rebaseline_checks import baseline_fits
from governance_pipeline.framework.folder import POLICIES, GovernedFolder
from governance_pipeline.framework.rebaseline.assumptions import note, tables_of
from governance_pipeline.framework.rebaseline.declaring import declare
from governance_pipeline.framework.rebaseline.protocol import Project
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.plan import plan_of

GATE = Path(__file__).parents[1] / "gate"


def load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, GATE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


gate_world = load("gate_world")
NOON = gate_world.NOON


@pytest.fixture
def world(tmp_path):
    lay_out(tmp_path / "project", plan_of("en"))
    return gate_world.World.create(tmp_path / "gate")


def found(world, tmp_path, **changes):
    patient = Patient(world.config_path, True, world.verifier(), world.lake, tmp_path / "project", NOON)
    return [(each.health, each.message) for each in baseline_fits(patient._replace(**changes))]


def test_without_project_or_ledger_there_is_nothing_to_ask(world, tmp_path):
    assert found(world, tmp_path, project=None) == found(world, tmp_path, verifier=None) == []


def test_what_is_due_and_what_was_left_open_is_named_with_what_to_do(world, tmp_path):
    folder = GovernedFolder(tmp_path / "project")
    assert found(world, tmp_path) == [(Health.WARN, "baseline_not_noted: baseline 1.0.0")]
    note(folder, world.ledger, "1.0.0", tables_of(world.lake), NOON)
    assert found(world, tmp_path) == [(Health.OK, "every assumption of the baseline holds")]
    folder.path(POLICIES).write_text("other rules")
    assert found(world, tmp_path) == [(Health.WARN, "document_changed: policies")]
    project = Project(folder, world.ledger, world.verifier().root, lambda: NOON)
    declare(project, "other rules", gate_world.NamedSigner("ana"))
    assert found(world, tmp_path) == [(Health.WARN, "open since 2026-11-30, next is freeze")]
