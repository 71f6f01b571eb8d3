"""`govern incident`, `govern audit-trail` and `govern classification`: answers, schemas and exit codes."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.framework.documents import schema_document
from governance_pipeline.framework.folder import AUDIT_TRAIL, INCIDENT_LOG
from governance_pipeline.framework.scaffold.laying_out import lay_out
from governance_pipeline.framework.scaffold.plan import plan_of

UNIT = Path(__file__).parents[1]
ADD = ("incident", "add", "--incident", "totals were false", "--cause", "no check", "--lesson", "a check")


def load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, UNIT / "gate" / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


gate_world = load("gate_world")


class Desk:
    def __init__(self, root, capsys):
        self.root, self.capsys = root, capsys
        self.world = gate_world.World.create(root / "gate")
        self.keys = self.world.write_keys()
        lay_out(root / "project", plan_of("en"))
        self.log, self.trail = root / "project" / INCIDENT_LOG, root / "project" / AUDIT_TRAIL

    def __call__(self, group, *arguments, signs=None):
        given = [group, *arguments, "--config", str(self.world.config_path)]
        given += [] if group == "classification" else ["--project", str(self.root / "project")]
        given += ["--key", str(self.keys / f"{signs}.pem")] if signs else []
        self.capsys.readouterr()
        return run(given)

    def answer(self, schema, *arguments, code=0, **how):
        assert self(*arguments, "--json", **how) == code
        document = json.loads(self.capsys.readouterr().out)
        jsonschema.validate(document, schema_document(schema))
        return document


@pytest.fixture
def desk(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    for module in ("incident", "audit_trail", "classification"):
        monkeypatch.setattr(f"governance_pipeline.cli.{module}.clock", lambda: gate_world.NOON)
    return Desk(tmp_path, capsys)


def entry(output="done", declared=None, **changes):
    members = {
        "timestamp": "2026-11-30T12:00:00Z", "agent_id": "coder-7", "run_id": "run-1", "input_hash": None,
        "tool_called": "write", "output_result": output, "token_cost": 1.5, "self_reported_status": "completed",
        "output_hash": declared or hashlib.sha256(output.encode()).hexdigest(), "independently_verified": False,
        "verification_method": None, **changes,
    }  # fmt: skip
    return json.dumps(members) + "\n"


def test_an_incident_is_recorded_listed_and_held_to_the_log(desk):
    [each] = desk.answer("incidents-v1", *ADD)["incidents"]
    assert (each["state"], each["date"], each["recorded_by"]) == ("in_step", "2026-11-30", "operator")
    assert desk("incident", "check", "--lake", str(desk.root / "lake")) == 0
    assert desk(*ADD) == 4
    assert "INCIDENT_RECORDED_BEFORE" in desk.capsys.readouterr().err
    desk.log.write_text(desk.log.read_text().replace("no check", "bad luck"))
    [each] = desk.answer("incidents-v1", "incident", "check", "--lake", str(desk.root / "lake"), code=1)["incidents"]
    assert each["state"] == "edited"
    assert desk("incident", "list") == 0
    assert "edited: 2026-11-30 totals were false" in desk.capsys.readouterr().out


def test_a_row_of_the_log_is_taken_over_only_when_asked(desk):
    desk.log.write_text(desk.log.read_text() + "| 2026-11-29 | a full disk | no alarm | an alarm |\n")
    assert desk("incident", "check", "--lake", str(desk.root / "lake")) == 1
    assert desk("incident", "add", "--from-log", "--cause", "x") == 2
    assert desk("incident", "add", "--incident", "x") == 2
    [each] = desk.answer("incidents-v1", "incident", "add", "--from-log", "--by", "ana")["incidents"]
    assert (each["state"], each["recorded_by"]) == ("in_step", "ana")


def test_a_false_hash_of_the_trail_needs_an_incident(desk):
    desk.trail.write_text(entry() + entry("other", "a" * 64))
    said = desk.answer("incidents-v1", "incident", "check", "--lake", str(desk.root / "lake"), code=1)
    [missing] = said["incidents"]
    assert missing["state"] == "missing_row"
    desk(*ADD, "--about", missing["item"])
    assert desk("incident", "check", "--lake", str(desk.root / "lake")) == 0


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (entry(), 0), (entry() + "{\n", 1), (entry("x", "a" * 64), 1), (entry(independently_verified=True), 1),
        (entry("out/none.csv"), 0), (entry("out/none.csv", "a" * 64), 3), ("", 0),
    ],
)  # fmt: skip
def test_verifying_the_trail_exits_as_it_found(desk, lines, code):
    desk.trail.write_text(lines)
    document = desk.answer("audit-trail-check-v1", "audit-trail", "verify", code=code)
    assert document["lines"] == len(document["entries"]) + len(document["broken"]) + document["blank"]


def test_an_entry_is_confirmed_by_somebody_else(desk):
    desk.trail.write_text(entry())
    [each] = desk.answer("audit-trail-check-v1", "audit-trail", "verify")["entries"]
    confirm = ("audit-trail", "confirm", each["entry"], "--method", "hash recomputed")
    assert desk(*confirm, signs="dot") == 4
    assert desk.answer("audit-trail-confirmation-v1", *confirm, signs="ana")["verified_by"] == ["ana"]
    assert desk("audit-trail", "verify") == 0
    assert "verified by ana" in desk.capsys.readouterr().out
    assert desk(*confirm, signs="ana") == 4


def test_a_rule_is_audited_checked_and_listed(desk):
    rule, sample = desk.root / "rule.json", desk.root / "sample.csv"
    rule.write_text("{}")
    sample.write_text("item,given,audited\n" + "".join(f"i{n},a,{'b' if n < 2 else 'a'}\n" for n in range(40)))
    check = ("classification", "check", "bus-types", str(rule))
    assert desk(*check) == 4
    assert "RULE_NOT_VALIDATED" in desk.capsys.readouterr().err
    audit = ("classification", "audit", "bus-types", str(rule), "--sample", str(sample), "--author", "coder-3")
    assert desk(*audit, signs="mallory") == 4
    [each] = desk.answer("classification-rules-v1", *audit, signs="ben")["rules"]
    assert (each["sample_size"], each["errors"], each["auditors"]) == (40, 2, ["ben"])
    assert desk(*check) == 0
    assert desk.answer("classification-rules-v1", "classification", "list")["rules"] == [each]
    sample.write_text("item\n")
    assert desk(*audit, signs="ben") == 2
