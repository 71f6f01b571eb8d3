"""Signed decisions lie in the folder as the ledger holds them; a file alone grants nothing, and the state follows."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from governance_pipeline.framework.approval_files import (
    Inbox,
    approval_faults,
    approvals,
    follow_inbox,
    inbox_faults,
    inbox_of,
    keep_approvals,
)
from governance_pipeline.framework.folder import CHECKPOINTS
from governance_pipeline.framework.state import StateKeeper, read_state
from governance_pipeline.gate.decision import Verb
from governance_pipeline.trust.reasons import Refusal

if "registry_house" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("registry_house", Path(__file__).with_name("registry_house.py"))
    sys.modules["registry_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["registry_house"])
house_module = sys.modules["registry_house"]
NOON, HOUR = house_module.NOON, house_module.HOUR


@pytest.fixture
def house(tmp_path):
    """A house with one registered asset."""
    made = house_module.House(tmp_path)
    made.add()
    return made


def _files(house):
    place = house.path(CHECKPOINTS)
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


def _follow(house, now=NOON):
    return follow_inbox(house.folder, house.verifier(now), StateKeeper(house.folder, clock=lambda: now), now).members


def test_without_a_request_nothing_waits_and_nothing_is_kept(house):
    assert inbox_of(house.folder, house.verifier(), NOON) == Inbox(None, None)
    assert keep_approvals(house.folder, house.verifier()) == []
    assert inbox_faults(house.folder, house.verifier(), NOON) == []


def test_a_request_that_waits_stands_in_the_state_until_it_is_decided(house):
    request = house.ask(house.wanted())
    assert inbox_faults(house.folder, house.verifier(), NOON) == [
        f"pending_hitl_approval is None, the inbox says '{request}'; `govern state follow` brings it in step"
    ]
    assert _follow(house)["pending_hitl_approval"] == request
    house.world.decide(request, now=NOON)
    members = _follow(house)
    assert members["pending_hitl_approval"] is None
    assert members["last_checkpoint"] == _files(house)[-1]
    assert inbox_faults(house.folder, house.verifier(), NOON) == []
    assert StateKeeper(house.folder).faults() == []


def test_a_request_whose_time_is_over_waits_no_more(house):
    house.ask(house.wanted())
    assert inbox_of(house.folder, house.verifier(), NOON).pending_hitl_approval is not None
    later = NOON + 24 * 30 * HOUR
    assert inbox_of(house.folder, house.verifier(later), later).pending_hitl_approval is None


def test_a_decision_lies_in_the_folder_byte_for_byte_and_is_written_once(house):
    house.approve(house.wanted())
    (name,) = keep_approvals(house.folder, house.verifier())
    (decision,) = approvals(house.folder, house.verifier())
    assert name.startswith("APPROVED-")
    assert (house.path(CHECKPOINTS) / name).read_bytes() == decision.envelope
    assert keep_approvals(house.folder, house.verifier()) == []
    assert approval_faults(house.folder, house.verifier()) == []


def test_a_decision_about_another_folder_is_none_of_this_one(house, tmp_path):
    house.approve(house.wanted())
    other = house_module.conftest.make_folder(tmp_path / "other")
    assert approvals(other, house.verifier()) == []
    assert inbox_of(other, house.verifier(), NOON) == Inbox(None, None)


@pytest.mark.parametrize(
    "name", ["APPROVED.json", "approved-000001-abcdef012345.JSON", "REJECTED-x", "REVOKED-1\n.json"]
)
def test_whatever_looks_like_a_decision_by_its_name_is_held_to_the_ledger(house, name):
    place = house.path(CHECKPOINTS)
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text("{}")
    (place / "STAGE_APPROVED_COMPLETED.json").write_text("{}")
    assert [(f.code, f.name) for f in approval_faults(house.folder, house.verifier())] == [("not_in_ledger", name)]


def test_a_file_the_ledger_does_not_know_is_named_and_grants_nothing(house):
    wanted = house.wanted()
    house.ask(wanted)
    house.world.decide(house.ask(wanted), now=NOON)
    (name,) = keep_approvals(house.folder, house.verifier())
    envelope = (house.path(CHECKPOINTS) / name).read_bytes()
    forged = house_module.House(house.root / "second")
    forged.add()
    forged.ask(forged.wanted())
    place = forged.path(CHECKPOINTS) / "APPROVED-000099-abcdef012345.json"
    place.parent.mkdir(parents=True)
    place.write_bytes(envelope)
    assert [fault.code for fault in approval_faults(forged.folder, forged.verifier())] == ["not_in_ledger"]
    with pytest.raises(Refusal, match="MISSING"):
        forged.supersede(forged.wanted())


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda p: p.write_bytes(p.read_bytes().replace(b"a", b"b", 1)), "differs_from_ledger"),
        (lambda p: p.write_text(json.dumps({})), "differs_from_ledger"),
        (lambda p: p.unlink(), "missing"),
        (lambda p: (p.unlink(), p.symlink_to("/dev/null")), "differs_from_ledger"),
    ],
    ids=["edited", "replaced", "gone", "link"],
)
def test_an_envelope_that_was_touched_is_named_and_left_as_it_is(house, act, code):
    house.approve(house.wanted())
    (name,) = keep_approvals(house.folder, house.verifier())
    act(house.path(CHECKPOINTS) / name)
    before = _files(house)
    (fault,) = approval_faults(house.folder, house.verifier())
    assert (fault.code, fault.name) == (code, name)
    assert _files(house) == before


def test_an_approval_taken_back_is_kept_beside_it(house):
    request = house.approve(house.wanted())
    house.world.decide(request, verb=Verb.REVOKE, now=NOON + HOUR / 60)
    assert [name.partition("-")[0] for name in keep_approvals(house.folder, house.verifier())] == [
        "APPROVED",
        "REVOKED",
    ]
    assert read_state(house.folder).members["last_checkpoint"] is None
    assert _follow(house, NOON + HOUR)["last_checkpoint"].startswith("REVOKED-")
