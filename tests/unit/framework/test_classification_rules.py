"""A classification rule without an audit that counts is refused; an audit is about one version and one baseline."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.framework.classification_rules import audit_rule, audits, contradicted, require_validated
from governance_pipeline.framework.documents import schema_document
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.rule_audit_statement import stated_audit

GATE = Path(__file__).parents[1] / "gate"


def load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, GATE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


gate_world, steps = load("gate_world"), load("rebaseline_steps")
NOON, HOUR, signer = gate_world.NOON, gate_world.HOUR, gate_world.NamedSigner


@pytest.fixture
def world(tmp_path):
    return gate_world.World.create(tmp_path / "gate")


@pytest.fixture
def rule(tmp_path):
    path = tmp_path / "catalogue.json"
    path.write_text('{"bus": ["express"]}')
    return path


def sample(tmp_path, wrong=2, of=60, name="sample"):
    path = tmp_path / f"{name}.csv"
    rows = "".join(f"i{n},a,{'b' if n < wrong else 'a'}\n" for n in range(of))
    path.write_text("item,given,audited\n" + rows)
    return path


def audit(world, rule, path, who="ben", author="coder-1", rule_id="bus-types", now=NOON):
    root = world.verifier(now).root
    return audit_rule(world.ledger, root, rule_id, rule, path, author, signer(who), now)


def require(world, rule, now=NOON):
    return require_validated(world.ledger, world.verifier(now).root, "bus-types", rule, now)


def test_a_rule_nobody_audited_is_refused(world, rule):
    with pytest.raises(FrameworkRefused, match="RULE_NOT_VALIDATED"):
        require(world, rule)


def test_an_audited_rule_names_sample_size_auditor_and_error_rate(world, rule, tmp_path):
    audit(world, rule, sample(tmp_path))
    found = require(world, rule)
    assert (found.sample_size, found.errors, found.auditors) == (60, 2, ("ben",))
    assert (found.error_rate, found.error_low, found.error_high) == ("0.033333", "0.009189", "0.113638")
    assert len(found.sample_sha256) == 64
    [event] = world.ledger.events(types={"CLASSIFICATION_RULE_AUDITED"})
    said = stated_audit(event.body["envelope"].encode(), world.verifier().root, NOON, NOON)
    jsonschema.validate(dict(said.document), schema_document("classification-rule-audit-v1"))


def test_another_version_of_the_rule_needs_another_audit(world, rule, tmp_path):
    audit(world, rule, sample(tmp_path))
    rule.write_text('{"bus": ["express", "night"]}')
    with pytest.raises(FrameworkRefused, match="RULE_OTHER_VERSION"):
        require(world, rule)


def test_another_baseline_needs_another_audit(world, rule, tmp_path):
    audit(world, rule, sample(tmp_path))
    steps.walk(world.ledger, signer("ana"), world.verifier().root, NOON)
    with pytest.raises(FrameworkRefused, match="RULE_STALE"):
        require(world, rule)
    audit(world, rule, sample(tmp_path, name="again", of=61), now=NOON + HOUR)
    require(world, rule, NOON + HOUR)


@pytest.mark.parametrize(("who", "author"), [("pia", "coder-pia"), ("cho", "ben"), ("ben", "cho")])
def test_who_wrote_the_rule_or_controls_the_author_does_not_audit_it(world, rule, tmp_path, who, author):
    with pytest.raises(Refusal) as refused:
        audit(world, rule, sample(tmp_path), who=who, author=author)
    assert refused.value.code is ReasonCode.SELF_APPROVAL
    assert world.events("CLASSIFICATION_RULE_AUDITED") == []


@pytest.mark.parametrize("who", ["mallory", "dot"])
def test_who_is_neither_validator_nor_approver_audits_nothing(world, rule, tmp_path, who):
    with pytest.raises(Refusal):
        audit(world, rule, sample(tmp_path), who=who)


def test_a_validator_may_audit(world, rule, tmp_path):
    assert audit(world, rule, sample(tmp_path), who="coder-1", author="somebody").auditors == ("coder-1",)


def test_one_sample_is_recorded_once_and_an_id_is_checked(world, rule, tmp_path):
    audit(world, rule, sample(tmp_path))
    with pytest.raises(FrameworkRefused, match="RULE_AUDIT_RECORDED_BEFORE"):
        audit(world, rule, sample(tmp_path))
    with pytest.raises(UsageError):
        audit(world, rule, sample(tmp_path), rule_id="../x")


def test_an_audit_put_into_the_ledger_without_a_signature_that_counts_validates_nothing(world, rule, tmp_path):
    audit(world, rule, sample(tmp_path))
    body = dict(next(world.ledger.events(types={"CLASSIFICATION_RULE_AUDITED"})).body)
    body.pop("unique")
    for envelope in (body["envelope"].replace("A", "B"), "", "{}"):
        world.ledger.append("CLASSIFICATION_RULE_AUDITED", "x", body | {"envelope": envelope}, ts=NOON)
    world.ledger.append("CLASSIFICATION_RULE_AUDITED", "x", {}, ts=NOON)
    assert len(audits(world.ledger, world.verifier().root, NOON)) == 1


def test_a_later_audit_that_is_clearly_worse_contradicts_the_rule(world, rule, tmp_path):
    first = audit(world, rule, sample(tmp_path))
    audit(world, rule, sample(tmp_path, wrong=4, name="similar"))
    assert list(contradicted(audits(world.ledger, world.verifier().root, NOON), first.seq)) == []
    worse = audit(world, rule, sample(tmp_path, wrong=30, name="worse"))
    found = list(contradicted(audits(world.ledger, world.verifier().root, NOON), first.seq))
    assert found == [("bus-types", f"ledger event {worse.seq}")]
