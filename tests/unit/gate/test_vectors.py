"""Every forgery of the attack table that concerns key files, through the library and through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.gate import envelope_steps
from governance_pipeline.gate.decision import PREDICATE, decision_of
from governance_pipeline.gate.passage import SignedWith
from governance_pipeline.gate.verify import STEPS, Step
from governance_pipeline.trust import dsse
from governance_pipeline.trust.reasons import ReasonCode
from governance_pipeline.trust.signatures import Proof
from governance_pipeline.trust.statement import parse_statement

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text("utf-8"))
NAMES = [vector["id"] for vector in VECTORS]


FIRST = {(vector["class"], vector["expect_code"]): vector["id"] for vector in reversed(VECTORS)}
BY_COMMAND = [
    pytest.param(v, id=v["id"], marks=[] if v["id"] in FIRST.values() else pytest.mark.long)
    for v in VECTORS
    if not v["input"].get("library_only")
]
"""One vector of each class and code always goes through the command line, all of them in the long run."""


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_the_library_answers_with_the_code_of_the_vector(vector, copies, scenario):
    scene = scenario.scene_of(copies, vector["input"]["steps"])
    checked = scene.ask_library(vector["input"])
    assert (checked.refusal and str(checked.refusal.code)) == vector["expect_code"], checked.refusal
    if checked.refusal is not None:
        assert str(checked.refusal).startswith(f"{vector['expect_code']}: ")


@pytest.mark.parametrize("vector", BY_COMMAND)
def test_the_command_line_answers_with_the_code_of_the_vector(vector, copies, scenario, capsys):
    scene = scenario.scene_of(copies, vector["input"]["steps"])
    capsys.readouterr()
    code = run(scene.command(vector["input"]))
    printed = capsys.readouterr()
    if vector["expect_code"] is None:
        assert (code, json.loads(printed.out)["granted"]) == (0, True), printed.err
    else:
        assert code == 4, printed.err
        said = json.loads(printed.out)["code"] if printed.out else printed.err  # a refused root leaves no document
        assert vector["expect_code"] in said


def test_every_code_is_the_answer_to_some_vector():
    asked_elsewhere = {ReasonCode.INTERNAL}
    assert {vector["expect_code"] for vector in VECTORS} == {None, *map(str, set(ReasonCode) - asked_elsewhere)}


def _lenient_parse(passage):
    """Read envelopes as a careless program does: the last of two members counts."""
    for offer in passage.offers:
        try:
            members = json.loads(offer.data)
            clean = json.dumps({name: members[name] for name in ("payload", "payloadType", "signatures")})
        except (ValueError, KeyError):
            clean = "{}"
        offer.envelope = dsse.parse_envelope(clean.encode())


def _believe_hints(passage):
    """Take the key a signature names for the one that made it."""
    for offer in passage.offers:
        hints = {signature.keyid for signature in offer.read.signatures}
        offer.signers = tuple(
            SignedWith(p, k, Proof.RAW)
            for p in passage.verifier.root.principals
            for k in p.keys
            if k.fingerprint in hints
        )


def _any_predicate(passage):
    """Read whatever is signed as an approval."""
    for offer in passage.offers:
        offer.decision = decision_of(parse_statement(offer.read.payload)._replace(predicate_type=PREDICATE))


CARELESS = {"parse": _lenient_parse, "signature": _believe_hints, "predicate": _any_predicate}
"""Steps that later ones take something from are not left out but done without care; all others are left out."""


def _without(name: str) -> tuple[Step, ...]:
    if name in CARELESS:
        return tuple(Step(step.name, CARELESS[name]) if step.name == name else step for step in STEPS)
    return tuple(step for step in STEPS if step.name != name)


def _classes_of(name: str) -> set[str]:
    return {
        "size": {"size"}, "parse": {"malformed"}, "payload_type": {"type"}, "signature": {"signature"},
        "root": {"root"}, "key": {"key"}, "presence": {"presence"}, "predicate": {"type"}, "checkpoint": {"checkpoint"},
        "authority": {"delegation"}, "freeze": {"freeze"}, "subject": {"digest"}, "policy": {"policy"},
        "time": {"time"},
        "independence": {"independence"}, "undecidable": {"undecidable"}, "threshold": {"threshold"},
        "standing": {"standing"}, "log": {"log"}, "seal": {"seal"}, "head": {"head"},
        "consume": {"replay"},
    }[name]  # fmt: skip


@pytest.mark.parametrize("name", [step.name for step in STEPS])
def test_without_this_step_a_forgery_passes_that_only_this_step_stops(name, scenario, copies):
    wrongly_passed = []
    for vector in VECTORS:
        if vector["expect_code"] is None or vector["class"] not in _classes_of(name):
            continue
        scene = scenario.scene_of(copies, vector["input"]["steps"])
        if scene.ask_library(vector["input"], _without(name)).refusal is None:
            wrongly_passed.append(vector["id"])
            break
    assert wrongly_passed, f"nothing shows that step {name} is needed"


def test_the_order_of_the_steps_is_the_one_of_the_specification():
    assert [step.name for step in STEPS] == [
        "size", "parse", "payload_type", "signature", "root", "key", "presence", "predicate", "authority", "checkpoint",
        "freeze", "subject", "policy", "time", "independence", "undecidable", "threshold", "standing", "log", "seal",
        "head", "consume",
    ]  # fmt: skip
    assert envelope_steps.size.__doc__.startswith("TOO_LARGE")
