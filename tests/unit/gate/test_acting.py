"""Acts that need a signature pass the same questions as rounds, once, and only as they were shown."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.acting import acts, ask, check_act, finish_act, pass_act, standing_of_act
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.documents import schema_document
from governance_pipeline.gate.gates import AUTHORITY, REGISTRY
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.proposals import FOLDER, Proposal
from governance_pipeline.gate.states import State
from governance_pipeline.gate.tables import gate_requests
from governance_pipeline.trust.reasons import Refusal

if "gate_world" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("gate_world", Path(__file__).with_name("gate_world.py"))
    sys.modules["gate_world"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["gate_world"])
gate_world = sys.modules["gate_world"]
NOON, HOUR, digest = gate_world.NOON, gate_world.HOUR, gate_world.digest

ACT = Proposal(
    REGISTRY.name,
    "customers",
    ("worker",),
    "1.0.0",
    {"from_sha256": digest("a"), "to_sha256": digest("b"), "reason": "new month", "rows": 3, "lost": ["x", "y"]},
)
OTHER_BYTES = replace(ACT, action={**ACT.action, "to_sha256": digest("c")})


@pytest.fixture
def house(tmp_path):
    """A world without any round."""
    return gate_world.World.create(tmp_path / "house")


def _code(call):
    with pytest.raises(Refusal) as caught:
        call()
    return str(caught.value.code)


def _asked(house, proposal=ACT, now=NOON):
    return ask(proposal, house.verifier(now), now).request_id


def test_nothing_passes_before_anybody_was_asked_or_has_decided(house):
    assert _code(lambda: check_act(ACT, house.verifier(), NOON)) == "MISSING"
    _asked(house)
    assert _code(lambda: pass_act(ACT, house.verifier(), "run", NOON)) == "MISSING"
    assert standing_of_act(ACT, house.verifier(), NOON).state is State.PENDING


def test_other_bytes_than_those_approved_are_refused(house):
    house.decide(_asked(house))
    assert _code(lambda: pass_act(OTHER_BYTES, house.verifier(), "run", NOON + HOUR)) == "DIGEST_MISMATCH"
    assert acts(REGISTRY, house.verifier()) == []
    assert standing_of_act(OTHER_BYTES, house.verifier(), NOON) is None


def test_who_proposes_does_not_approve(house):
    mine = replace(ACT, producers=("ana",))
    assert _code(lambda: house.decide(_asked(house, mine))) == "SELF_APPROVAL"


def test_an_act_is_done_once_and_a_run_that_died_goes_on(house):
    house.decide(_asked(house))
    verifier, later = house.verifier(), NOON + HOUR
    [act] = pass_act(ACT, verifier, "run", later)
    assert (act.approvers, act.action["reason"], act.is_done) == (("ana",), "new month", False)
    assert pass_act(ACT, verifier, "run", later) == [act]
    assert _code(lambda: pass_act(ACT, verifier, "another", later)) == "REPLAYED"
    finish_act(act, verifier, digest("b"), later)
    finish_act(act, verifier, digest("b"), later)
    assert _code(lambda: finish_act(act, verifier, digest("c"), later)) == "REPLAYED"
    assert _code(lambda: pass_act(ACT, verifier, "run", later)) == "REPLAYED"
    assert _code(lambda: check_act(ACT, verifier, later)) == "REPLAYED"
    assert [a.is_done for a in acts(REGISTRY, verifier)] == [True]


def test_the_same_act_again_is_asked_about_anew_and_the_old_approval_does_not_count(house):
    first = _asked(house)
    house.decide(first)
    [act] = pass_act(ACT, house.verifier(), "run", NOON)
    finish_act(act, house.verifier(), digest("b"), NOON)
    assert _asked(house, now=NOON + HOUR) == first
    assert _code(lambda: pass_act(ACT, house.verifier(), "run-2", NOON + HOUR)) == "SUPERSEDED"
    house.decide(first, now=NOON + 2 * HOUR)
    assert pass_act(ACT, house.verifier(), "run-2", NOON + 2 * HOUR)


@pytest.mark.parametrize(("verb", "code"), [(Verb.REJECT, "REVOKED"), (Verb.REVOKE, "REVOKED")])
def test_a_no_beats_an_approval(house, verb, code):
    request = _asked(house)
    if verb is Verb.REVOKE:
        house.decide(request)
    house.decide(request, "ana", verb)
    assert _code(lambda: pass_act(ACT, house.verifier(), "run", NOON + HOUR)) == code


def test_an_approval_runs_out_and_a_freeze_stops_it(house):
    house.decide(_asked(house))
    assert _code(lambda: check_act(ACT, house.verifier(), NOON + timedelta(hours=73))) == "EXPIRED"
    house.ledger.append("FREEZE", "ben", {"reason": "scope changed"}, ts=NOON)
    assert _code(lambda: pass_act(ACT, house.verifier(), "run", NOON + HOUR)) == "FROZEN"


def test_a_forged_use_without_an_approval_is_no_act(house):
    request = house.history().requests or [ask(ACT, house.verifier(), NOON)]
    body = {
        "gate": REGISTRY.name, "round_id": "customers", "asset": "canonical_registry", "decision_id": digest("d"),
        "subject_sha256": request[0].subject_sha256, "run_id": "x", "root_run_id": "x",
    }  # fmt: skip
    house.ledger.append("CONSUMED", "forger", body, ts=NOON)
    assert acts(REGISTRY, house.verifier()) == []


def test_the_person_is_shown_every_member_of_the_act(house):
    shown = gate_world.shown(house.verifier(), _asked(house), NOON)
    assert f'to_sha256  "{digest("b")}"' in shown.text
    assert 'lost       "x"\nlost       "y"\n' in shown.text
    assert "rows       3\n" in shown.text
    assert 'producers  "worker"' in shown.text


def test_the_manifest_keeps_its_shipped_schema(house):
    _asked(house)
    manifest = kept_manifest(house.lake, house.history().requests[0].subject_sha256).document
    Draft202012Validator(schema_document("gate-action-manifest-v1")).validate(json.loads(json.dumps(manifest)))


def test_an_act_about_something_named_like_a_round_is_not_in_the_table_of_that_round(house):
    house.make_round("customers")
    _asked(house)
    assert gate_requests(["customers"], house.verifier(), NOON).empty


@pytest.mark.parametrize("change", [{"subject_id": "../x"}, {"producers": ()}, {"action": {"bad key": "x"}}])
def test_what_cannot_be_shown_or_signed_is_not_proposed(house, change):
    with pytest.raises(UsageError, match="cannot be proposed"):
        _asked(house, replace(ACT, **change))


def test_a_proposal_somebody_wrote_over_is_not_approved(house):
    request = _asked(house)
    place = house.lake.root / FOLDER / REGISTRY.name / "customers.json"
    place.write_bytes(OTHER_BYTES.bytes)
    assert _code(lambda: house.decide(request)) == "DIGEST_MISMATCH"
    place.write_text("{")
    with pytest.raises((Refusal, StorageError)):
        house.decide(request)


def test_a_gate_of_actions_does_not_open_another(house):
    house.decide(_asked(house))
    assert _code(lambda: check_act(replace(ACT, gate=AUTHORITY.name), house.verifier(), NOON)) == "MISSING"
