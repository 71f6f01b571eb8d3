"""The doctor tells what is out of order, by files alone: nothing is started, nothing is written."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from datetime import timedelta
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.doctor import examination, storage_checks
from governance_pipeline.doctor.examination import doctor_document, examine, exit_code
from governance_pipeline.doctor.finding import Health
from governance_pipeline.doctor.sensors import LATE, SENSORS
from governance_pipeline.framework import folder as places
from governance_pipeline.gate.retrying import note_failure
from governance_pipeline.notify.outbox import Attempt, Message, begin, end
from governance_pipeline.storage.heartbeat import beat
from governance_pipeline.strict.json_text import parse_json

SCHEMA = json.loads((resources.files("governance_pipeline.doctor") / "schemas" / "doctor-v1.json").read_text())


def _world_module():
    if "gate_world" not in sys.modules:
        path = Path(__file__).parents[1] / "gate" / "gate_world.py"
        spec = importlib.util.spec_from_file_location("gate_world", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["gate_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["gate_world"]


gate_world = _world_module()
NOON, HOUR = gate_world.NOON, gate_world.HOUR


@pytest.fixture(scope="module")
def made_world(tmp_path_factory):
    """The folder of such a world, made once because copying costs less."""
    world = gate_world.World.create(tmp_path_factory.mktemp("made") / "world")
    world.make_round()
    world.request()
    for name in SENSORS:
        beat(world.lake, name, NOON)
    return world.folder


@pytest.fixture
def world(made_world, tmp_path):
    """A world in which every sensor has just ticked and somebody was asked about r1."""
    folder = tmp_path / "world"
    shutil.copytree(made_world, folder)
    config = folder / "trust" / "gate.toml"
    config.write_text(config.read_text().replace(str(made_world), str(folder)))
    world = gate_world.World(folder)
    world.id = world.history().requests[0].request_id
    return world


def look(world, now=NOON, **more):
    findings = examine(world.lake.root, now, config_path=world.config_path, **more)
    document = doctor_document(findings, now)
    jsonschema.validate(parse_json(json.dumps(document).encode()), SCHEMA)
    return findings


def bad(findings):
    return {(f.check, f.subject): f for f in findings if f.health.is_worse(Health.OFF)}


def checks(findings, health=None):
    return [f.check for f in findings if health is None or f.health is health]


def test_a_set_up_in_order_has_nothing_to_say_against_it(world):
    found = look(world)
    assert bad(found) == {}
    organs = {"versions", "disk", "gate", "policy", "trust_root", "approvers", "ledger", "sensors", "requests"}
    assert organs <= set(checks(found))
    [ledger] = [f for f in found if f.check == "ledger"]
    head = world.ledger.head()
    assert f"{head.size}:{head.root}" in ledger.message


def test_a_sensor_that_stopped_is_told_by_its_last_heartbeat(world):
    late = NOON + LATE + timedelta(seconds=1)
    for name in SENSORS:
        if name != "decisions":
            beat(world.lake, name, late)
    [(key, finding)] = bad(look(world, late)).items()
    assert key == ("sensors", "decisions")
    assert finding.health is Health.FAIL
    assert finding.message == "its last tick was 5 min ago: what people approve is not published"


def test_all_sensors_late_mean_that_the_daemon_is_down(world):
    [finding] = bad(look(world, NOON + 3 * HOUR)).values()
    assert (finding.check, finding.subject, finding.health) == ("sensors", "daemon", Health.FAIL)
    assert "3 h ago" in finding.message


def test_a_sensor_that_never_ticked_among_others_fails_and_none_at_all_is_a_warning(world):
    folder = world.lake.root / "heartbeats"
    (folder / "notifications").unlink()
    assert bad(look(world))["sensors", "notifications"].health is Health.FAIL
    for file in folder.iterdir():
        file.unlink()
    assert bad(look(world))["sensors", "daemon"].health is Health.WARN


def test_a_root_near_its_end_warns_and_one_past_it_fails(world):
    soon = NOON + timedelta(days=340)
    assert bad(look(world, soon))["trust_root", str(world.config.root)].health is Health.WARN
    past = bad(look(world, NOON + timedelta(days=366)))["trust_root", str(world.config.root)]
    assert (past.health, "EXPIRED" in past.message) == (Health.FAIL, True)


def test_a_policy_nobody_can_satisfy_is_named(world):
    world.write_policy(approvers=["ana"], quorum=2)
    assert "1 people can approve now, 2 are needed" in bad(look(world))["approvers", str(world.config.root)].message


def test_a_throw_away_root_is_named(tmp_path):
    world = gate_world.World.create(tmp_path / "world", is_throwaway=True)
    assert "throw-away" in bad(look(world))["trust_root", str(world.config.root)].message


def test_files_others_may_write_are_named(world):
    world.config.policy.chmod(0o666)
    world.lake.root.chmod(0o777)
    found = bad(look(world))
    assert found["policy", str(world.config.policy)].health is Health.FAIL
    assert found["permissions", f"lake {world.lake.root}"].health is Health.WARN
    world.config_path.chmod(0o666)
    assert bad(look(world))["gate", str(world.config_path)].health is Health.FAIL


def test_a_ledger_that_was_touched_is_named_with_the_event(world):
    world.ledger.append("RETRY", "forger", {}, ts=NOON)
    finding = bad(look(world))["ledger", str(world.ledger.path)]
    assert finding.message.startswith("event 3: unusable")


def test_a_clock_behind_the_ledger_is_named(world):
    assert bad(look(world, NOON - HOUR))["clock", str(world.ledger.path)].health is Health.FAIL


def test_what_was_approved_and_failed_is_named_with_the_way_out(world):
    world.decide(world.id)
    note_failure(world.verifier(), "r1", "run-1", "run-1", NOON)
    assert bad(look(world))["requests", "r1"].remedy == "govern gate retry r1"


def test_messages_nobody_took_are_named(world):
    file = world.folder / "trust" / "notifications.toml"
    file.write_text(
        'schema = "govern/notifications/v1"\n[[target]]\nname = "ops"\nurl = "json://topsecret@localhost"\n'
    )
    file.chmod(0o600)
    with world.config_path.open("a") as config:
        config.write(f'notifications = "{file}"\n')
    assert bad(look(world)) == {}
    message = Message("ops", ("k",), "t", ("l",))
    for number in range(12):
        begin(world.ledger, message, NOON, after=world.ledger.size())
        end(world.ledger, message, [Attempt("x", False, 503, 1)], NOON)
        if number == 0:
            beat_all = {name: beat(world.lake, name, NOON + 0.1 * HOUR) for name in SENSORS}
            assert beat_all
            assert bad(look(world, NOON + 0.1 * HOUR))["outbox", "ops"].health is Health.WARN
    found = look(world, NOON + 0.1 * HOUR)
    assert bad(found)["outbox", "ops"].health is Health.FAIL
    assert "topsecret" not in str(found)


def test_little_room_warns_and_none_fails(world, monkeypatch):
    usage = type(storage_checks.shutil.disk_usage("/"))
    for free, health in ((storage_checks.FEW_BYTES - 1, Health.WARN), (storage_checks.LEAST_BYTES - 1, Health.FAIL)):
        monkeypatch.setattr(storage_checks.shutil, "disk_usage", lambda _, free=free: usage(0, 0, free))
        assert bad(look(world))["disk", f"lake {world.lake.root}"].health is health


def test_a_network_file_system_fails(world, monkeypatch):
    def refuse(folder):
        raise storage_checks.StorageError(f"{folder} is on a network file system (nfs)")

    monkeypatch.setattr(storage_checks, "refuse_network", refuse)
    assert bad(look(world))["disk", f"lake {world.lake.root}"].health is Health.FAIL


def test_a_lock_left_behind_is_named(world, tmp_path):
    project = tmp_path / "project"
    (project / "03_state" / "locks").mkdir(parents=True)
    (project / places.STATE).write_text("{}")
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    (project / places.LOCKS / "db.lock").write_text(f"{pid}\n")
    finding = bad(look(world, project=project))["locks", "db.lock"]
    assert (finding.health, finding.remedy) == (Health.FAIL, "govern lock release db")


def test_a_folder_that_is_no_project_is_unknown_and_stops_nothing(world, tmp_path):
    found = bad(look(world, project=tmp_path))
    assert [f.health for f in found.values()] == [Health.UNKNOWN]


def test_a_check_that_breaks_is_unknown_and_keeps_no_other_from_being_asked(world, monkeypatch):
    def broken(_):
        raise RuntimeError("secret detail")
        yield

    monkeypatch.setattr(examination, "CHECKS", (broken, *examination.CHECKS))
    found = look(world)
    assert (found[0].health, "secret" in found[0].message) == (Health.UNKNOWN, False)
    assert len(found) > 5


def test_without_a_gate_the_rest_is_looked_at(tmp_path):
    found = examine(tmp_path / "lake", NOON, config_path=tmp_path / "gate.toml")
    assert "gate" in checks(found, Health.FAIL)
    assert "versions" in checks(found, Health.OK)


@pytest.mark.parametrize(
    ("counts", "fail_on", "code"),
    [
        ({"fail": 1, "unknown": 1}, "fail", 1),
        ({"warn": 1}, "fail", 0),
        ({"warn": 1}, "warn", 1),
        ({"unknown": 1, "warn": 1}, "fail", 3),
        ({"fail": 1, "unknown": 1}, "never", 0),
        ({}, "warn", 0),
    ],
)
def test_the_exit_code_follows_the_worst_that_counts(counts, fail_on, code):
    document = {"counts": {str(health): counts.get(str(health), 0) for health in Health}}
    assert exit_code(document, fail_on) == code


def test_the_command_prints_a_document_or_lines(world, capsys):
    where = ["--lake", str(world.lake.root), "--config", str(world.config_path), "--at", "2026-11-30T12:00:00Z"]
    assert run(["doctor", "--json", *where]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["health"]) == ("govern/doctor/v1", "ok")
    (world.lake.root / "heartbeats" / "decisions").unlink()
    assert run(["doctor", *where]) == 1
    assert "-> start Dagster" in capsys.readouterr().out
    assert run(["doctor", "--fail-on", "never", *where]) == 0


def test_looking_writes_nothing(world):
    before = {path: path.stat().st_mtime_ns for path in world.lake.root.rglob("*")}
    size = world.ledger.size()
    look(world)
    assert {path: path.stat().st_mtime_ns for path in world.lake.root.rglob("*")} == before
    assert world.ledger.size() == size
