"""The audit trail: every output hash is computed anew, no line is lost, and no entry verifies itself."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts.audit_incidents import AuditIncidents
from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.errors import UsageError
from governance_pipeline.framework.audit_trail import HashState, read_trail
from governance_pipeline.framework.folder import AUDIT_TRAIL, INCIDENT_LOG
from governance_pipeline.framework.incident_duties import about, duties, missing_rows, rows
from governance_pipeline.framework.incident_log import IncidentRow, heading
from governance_pipeline.framework.incidents import add_incident, standings
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.trail_checks import check_trail, confirm
from governance_pipeline.trust.reasons import ReasonCode, Refusal

GATE = Path(__file__).parents[1] / "gate"


def load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, GATE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


gate_world = load("gate_world")
NOON = gate_world.NOON


def sha(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()


def entry(**changes):
    members = {
        "timestamp": "2026-11-30T12:00:00Z", "agent_id": "coder-7", "run_id": "run-1", "input_hash": sha("in"),
        "tool_called": "write", "output_result": "done: 3 rows", "output_hash": sha("done: 3 rows"), "token_cost": 12,
        "self_reported_status": "completed", "independently_verified": False, "verification_method": None,
    }  # fmt: skip
    return json.dumps({**members, **changes})


@pytest.fixture
def house(folder, tmp_path):
    """Give a folder with an empty incident log, and a world of people who sign."""
    (folder.root / INCIDENT_LOG).parent.mkdir(parents=True)
    folder.path(INCIDENT_LOG).write_text(heading("en"))
    return folder, gate_world.World.create(tmp_path / "gate")


def write(folder, *lines):
    folder.path(AUDIT_TRAIL).write_bytes(b"".join(line.encode() + b"\n" for line in lines))


def checked(house):
    folder, world = house
    return check_trail(folder, world.ledger, world.verifier().root, NOON)[1]


def confirmed(house, who, name, method="hash recomputed"):
    folder, world = house
    root = world.verifier().root
    return confirm(folder, world.ledger, root, name, method, gate_world.NamedSigner(who), NOON)


def test_a_trail_that_is_not_there_has_no_line(house):
    assert read_trail(house[0]) == (0, [], [], 0)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", "malformed_json"), ("[]", "not_an_object"), ('{"timestamp": "x"}', "not_an_entry"),
        (entry(independently_verified="no"), "not_an_entry"), (entry(independently_verified=None), "not_an_entry"),
        (entry(timestamp="yesterday"), "not_an_entry"), (entry(token_cost="12"), "not_an_entry"),
        (entry(token_cost=True), "not_an_entry"), (entry(agent_id=""), "not_an_entry"),
        (entry(output_hash=7), "not_an_entry"), (entry()[:-1] + ', "agent_id": "x"}', None),
    ],
)  # fmt: skip
def test_a_line_that_is_no_entry_is_kept_with_its_reason(house, line, code):
    write(house[0], entry(), line, "", entry(run_id="run-2"))
    trail = read_trail(house[0])
    assert trail.lines == len(trail.entries) + len(trail.broken) + trail.blank == 4
    assert [each.line for each in trail.broken] == [2]
    assert code is None or trail.broken[0].code == code


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({}, HashState.MATCH, None),
        ({"output_hash": sha("done: 3 rows").upper()}, HashState.MATCH, None),
        ({"output_hash": f"sha256:{sha('done: 3 rows')}"}, HashState.MATCH, None),
        ({"output_hash": sha("done: 4 rows")}, HashState.MISMATCH, None),
        ({"output_hash": None}, HashState.UNVERIFIABLE, "no_hash"),
        ({"output_hash": "abc"}, HashState.UNVERIFIABLE, "not_a_sha256"),
        ({"output_result": None}, HashState.UNVERIFIABLE, "no_output"),
        ({"output_result": "out/none.csv"}, HashState.UNVERIFIABLE, "output_not_there"),
        ({"output_result": "out/there.csv", "output_hash": sha("a,b\n")}, HashState.MATCH, None),
        ({"output_result": "out/there.csv"}, HashState.MISMATCH, None),
        ({"output_result": "../outside.csv"}, HashState.MISMATCH, None),
        ({"output_result": "\\xff\\xfe", "output_hash": sha(b"\xff\xfe")}, HashState.MATCH, None),
    ],
)
def test_an_output_hash_is_computed_anew_or_said_to_be_beyond_that(house, changes, state, reason):
    (house[0].root / "out").mkdir()
    (house[0].root / "out" / "there.csv").write_text("a,b\n")
    (house[0].root.parent / "outside.csv").write_text("done: 3 rows")
    write(house[0], entry(**changes))
    [found] = read_trail(house[0]).entries
    assert (found.state, found.reason) == (state, reason)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=40), st.just(b"{}"), st.just(entry().encode())), max_size=6))
def test_whatever_the_file_holds_every_line_is_accounted_for(house, lines):
    house[0].path(AUDIT_TRAIL).write_bytes(data := b"\n".join(lines))
    trail = read_trail(house[0])
    assert trail.lines == len(trail.entries) + len(trail.broken) + trail.blank
    assert trail.lines == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def test_an_entry_that_calls_itself_verified_is_a_claim(house):
    write(house[0], entry(independently_verified=True, verification_method="hash recomputed"))
    [found] = checked(house)
    assert found.is_claim_only
    assert found.confirmed is None


def test_a_validator_or_a_person_who_did_other_work_verifies_an_entry(house):
    write(house[0], entry(), entry(run_id="run-2"))
    first, second = read_trail(house[0]).entries
    confirmed(house, "ana", first.name)
    confirmed(house, "coder-1", second.sha256, "count recomputed")
    assert [each.confirmed.people for each in checked(house)] == [("ana",), ("coder-1",)]
    with pytest.raises(FrameworkRefused, match="ENTRY_CONFIRMED_BEFORE"):
        confirmed(house, "ana", first.name)


@pytest.mark.parametrize(
    ("who", "agent", "code"),
    [
        ("coder-1", "coder-1", ReasonCode.SELF_APPROVAL), ("pia", "coder-pia", ReasonCode.SELF_APPROVAL),
        ("ben", "cho", ReasonCode.SELF_APPROVAL), ("dot", "coder-7", None), ("mallory", "coder-7", None),
    ],
)  # fmt: skip
def test_nobody_verifies_their_own_work_or_without_the_role(house, who, agent, code):
    write(house[0], entry(agent_id=agent))
    with pytest.raises(Refusal) as refused:
        confirmed(house, who, read_trail(house[0]).entries[0].name)
    assert code in (None, refused.value.code)
    assert checked(house)[0].confirmed is None


def test_a_hash_that_is_false_cannot_be_confirmed_as_recomputed(house):
    write(house[0], entry(output_hash=sha("other")))
    with pytest.raises(FrameworkRefused, match="ENTRY_NOT_REPRODUCED"):
        confirmed(house, "ana", read_trail(house[0]).entries[0].name)
    with pytest.raises(UsageError):
        confirmed(house, "ana", "ffff")
    with pytest.raises(Refusal, match="derives nothing again"):
        confirmed(house, "ana", read_trail(house[0]).entries[0].name, "trust me")


def test_an_entry_edited_after_it_was_confirmed_is_another_one(house):
    write(house[0], entry())
    confirmed(house, "ana", read_trail(house[0]).entries[0].name)
    write(house[0], entry(self_reported_status="all good"))
    assert checked(house)[0].confirmed is None


# ---------------------------------------------------------------- an unverified item that became a problem has a row
def wanted(house, lake=None):
    folder, world = house
    found = duties(folder, world.ledger, world.verifier().root, NOON, lake)
    return [duty.reference for duty in missing_rows(found, standings(folder, world.ledger))]


def table(house, lake=None):
    folder, world = house
    made = rows(folder, world.ledger, world.verifier().root, NOON, lake)
    AuditIncidents.to_schema().validate(made)
    return made


def test_a_false_hash_nobody_verified_needs_a_row_until_there_is_one(house):
    folder, world = house
    write(folder, entry(), entry(output_hash=sha("other")))
    [reference] = wanted(house)
    assert reference == f"trail:{read_trail(folder).entries[1].name}"
    assert list(table(house)["state"]) == ["missing_row"]
    row = IncidentRow("2026-11-30", f"a false hash {about(reference)}", "the agent made it up", "hashes are ours")
    add_incident(folder, world.ledger, row, "ana", NOON)
    assert wanted(house) == []
    assert list(table(house)["state"]) == ["in_step"]


def test_a_false_hash_that_was_verified_otherwise_needs_no_row(house):
    write(house[0], entry(output_hash=sha("other")))
    confirmed(house, "ana", read_trail(house[0]).entries[0].name, "render inspected")
    assert wanted(house) == []


@pytest.mark.parametrize(
    ("verified", "status", "count"), [(False, "mismatch", 1), (True, "mismatch", 0), (False, "match", 0)]
)
def test_an_unverified_step_of_a_stored_round_with_a_false_hash_needs_a_row(house, verified, status, count):
    lake, at = house[1].lake, {"path": "logs/a.jsonl", "file_sha256": "a" * 64, "line": 1, "pointer": ""}
    step = {"round_id": "r1", "run_id": "run-1", "step_index": 1, **at}
    lake.put("core_steps", "r1", frame_of("core_steps", [{**step, "is_independently_verified": verified}]))
    integrity = {**step, "hashed": "output_result", "declared_hash": "b", "status": status}
    lake.put("audit_integrity", "r1", frame_of("audit_integrity", [integrity]))
    assert wanted(house, lake) == ["step:r1/run-1/1"] * count


def test_rows_written_by_hand_stand_in_the_table_line_by_line(house):
    path = house[0].path(INCIDENT_LOG)
    path.write_text(heading("en") + "| 2026-11-29 | same | a | b |\n" * 2)
    made = table(house)
    assert list(made["state"]) == ["not_in_ledger"] * 2
    assert list(made["item"]) == ["line-3", "line-4"]
