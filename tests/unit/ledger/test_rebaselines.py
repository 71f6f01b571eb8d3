"""The fold of a re-baseline believes nothing: whatever order events come in, no step is skipped and no signature spared."""

from __future__ import annotations

import importlib.util
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.rebaselines import (
    Step,
    baseline_in_force,
    every_progress,
    open_rebaseline,
    progress_of,
    read_rebaselines,
)
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.rebaseline_statement import (
    rebaseline_id,
    sign_declaration,
    sign_resumption,
    stated_declaration,
    stated_resumption,
)
from governance_pipeline.trust.root import Revocation, TrustRoot, first_root

GATE = Path(__file__).parents[1] / "gate"


def load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, GATE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


gate_world, steps = load("gate_world"), load("rebaseline_steps")
NOON, HOUR, ANA = gate_world.NOON, gate_world.HOUR, gate_world.NamedSigner("ana")
_FIRST = first_root("owner", gate_world.NamedSigner("owner").public_key, NOON + timedelta(days=365))
ROOT = TrustRoot(1, _FIRST.expires, False, (*_FIRST.principals, *gate_world.PEOPLE))
MIDDLE = [step for step in Step if step not in (Step.DECLARE, Step.RESUME)]


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    return Ledger.create(tmp_path / "ledger.sqlite")


def test_events_that_do_not_hold_what_they_need_are_named_and_count_for_nothing(ledger):
    for kind, body in (
        ("REBASELINE_DECLARED", {}), ("REBASELINE_DECLARED", {"rebaseline_id": 7}),
        ("REBASELINE_RESUMED", {"rebaseline_id": "rebaseline-x"}), ("REBASELINE_REDERIVED", {}),
    ):  # fmt: skip
        ledger.append(kind, "x", body, ts=NOON)
    ledger.append("FREEZE", "x", {"reason": "of nobody's re-baseline"}, ts=NOON)
    history = read_rebaselines(ledger)
    assert [fault.seq for fault in history.unusable] == [1, 2, 3, 4]
    assert every_progress(history, ROOT, NOON) == []


def test_a_resumption_dated_before_the_step_it_follows_is_none(ledger):
    name = steps.walk(ledger, ANA, ROOT, NOON, to=Step.RECORD)
    steps.resume(ledger, name, "2.0.0", ANA, ROOT, NOON - HOUR)
    assert baseline_in_force(read_rebaselines(ledger), ROOT, NOON) is None
    steps.resume(ledger, name, "2.0.0", ANA, ROOT, NOON + HOUR)
    assert baseline_in_force(read_rebaselines(ledger), ROOT, NOON).version == "2.0.0"


def test_a_declaration_nobody_may_make_does_not_stand_before_a_real_one(ledger):
    forged = steps.declare(ledger, gate_world.NamedSigner("mallory"), NOON, "forged")
    assert open_rebaseline(read_rebaselines(ledger), ROOT, NOON) is None
    name = steps.declare(ledger, ANA, NOON)
    assert open_rebaseline(read_rebaselines(ledger), ROOT, NOON).rebaseline_id == name != forged


def test_what_came_later_than_the_size_asked_for_is_not_folded(ledger):
    name = steps.walk(ledger, ANA, ROOT, NOON)
    assert progress_of(read_rebaselines(ledger, 3), name, ROOT, NOON).last is Step.REDERIVE


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(list(Step)), max_size=14))
def test_no_order_of_events_skips_a_step(tmp_path_factory, monkeypatch, order):
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    ledger = Ledger.create(tmp_path_factory.mktemp("ledger") / "ledger.sqlite")
    said = steps.declaration(NOON)
    name, expected, ended = rebaseline_id(said), [], False
    for step in order:
        if step is Step.DECLARE:
            steps.take(ledger, name, step, NOON, envelope=sign_declaration(said, ANA).decode())
            expected = expected or [step]
        elif step is Step.RESUME:
            progress = progress_of(read_rebaselines(ledger), name, ROOT, NOON)
            chain = "0" * 64 if progress is None else progress.chain_sha256
            envelope = sign_resumption(name, chain, "2.0.0", ANA, NOON)
            steps.take(ledger, name, step, NOON, envelope=envelope.decode())
            ended = ended or expected == [s for s in Step if s is not Step.RESUME]
        else:
            steps.take(ledger, name, step, NOON)
            at = list(Step).index(step)
            if not ended and expected[at - 1 : at] and not (step is Step.FREEZE and step in expected):
                expected = [*expected[:at], step]
    progress = progress_of(read_rebaselines(ledger), name, ROOT, NOON)
    assert (progress is None) is (expected == [])
    if progress is not None:
        assert [step for step in progress.taken if step is not Step.RESUME] == expected
        assert (progress.resumed is not None) is ended


@pytest.mark.parametrize("member", ["declared_on", "scope_change", "from_baseline", "signed_at"])
def test_a_declaration_with_a_blank_member_counts_for_nothing(member):
    said = {**steps.declaration(NOON), member: " "}
    with pytest.raises(Refusal) as refused:
        stated_declaration(sign_declaration(said, ANA), rebaseline_id(said), ROOT, NOON, NOON)
    assert refused.value.code is ReasonCode.MALFORMED


def test_statements_are_not_taken_for_each_other_and_a_revoked_key_signs_nothing():
    said = steps.declaration(NOON)
    name, declaration = rebaseline_id(said), sign_declaration(said, ANA)
    resumption = sign_resumption(name, "a" * 64, "2.0.0", ANA, NOON)
    with pytest.raises(Refusal, match="WRONG_TYPE"):
        stated_declaration(resumption, name, ROOT, NOON, NOON)
    with pytest.raises(Refusal, match="WRONG_TYPE"):
        stated_resumption(declaration, name, "a" * 64, ROOT, NOON, NOON)
    key = ROOT.principal("ana").keys[0].fingerprint
    revoked = ROOT.with_revocation(Revocation(key, NOON + HOUR, "lost"))
    assert stated_declaration(declaration, name, revoked, NOON, NOON).people == ("ana",)
    with pytest.raises(Refusal, match="REVOKED_KEY"):
        stated_declaration(declaration, name, revoked, NOON, NOON + HOUR)
