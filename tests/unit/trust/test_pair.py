"""Nothing may tie a validator to a producer: not a name, a key, a controller, a session or an ancestor."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from governance_pipeline.trust.pair import approver_conflict
from governance_pipeline.trust.principals import Kind, Role

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DIGEST = "ab" * 32


@pytest.mark.parametrize("root_given", [True, False])
def test_a_producer_never_certifies_its_own_work(honest, checker_root, make_principal, signer, root_given, only):
    honest.attest(signer("coder"), verifier_id="coder", run_id="build", session_id="s-build")
    root = checker_root(make_principal("coder", Role.VALIDATOR, kind=Kind.AGENT)) if root_given else None
    frame = honest.judged(root)
    own = frame[frame["producer_run_id"] == "build"]
    assert only(own) == (False, "agent", "SELF_APPROVAL")
    assert own.iloc[0]["shared_value"] == "coder"


@pytest.mark.parametrize("name", ["CODER", "c\u043eder", "cod\u200ber", "c0der"])
def test_a_name_that_looks_like_the_producer_is_the_producer(honest, make_principal, make_root, signer, name, only):
    honest.runs[1]["agent_id"] = honest.steps[1]["agent_id"] = name
    honest.attest(signer("checker"), verifier_id=name)
    assert only(honest.judged(None)) == (False, "agent", "SELF_APPROVAL")


def test_an_alias_of_the_producer_is_the_producer(honest, make_principal, make_root, signer, only):
    root = make_root(make_principal("checker", Role.VALIDATOR, kind=Kind.VALIDATOR, aliases=("coder",)))
    honest.attest(signer("checker"))
    assert only(honest.judged(root))[:2] == (False, "key")
    assert only(honest.judged(root, envelope_of=None))[:2] == (False, "principal")


def test_a_validator_under_the_producers_controller_is_not_independent(
    honest, checker_root, make_principal, signer, only
):
    honest.attest(signer("checker"))
    coder = make_principal("coder", kind=Kind.AGENT, controller="acme", keys=())
    assert only(honest.judged(checker_root(coder, controller="Acme"))) == (False, "controller", "SELF_APPROVAL")


def test_another_agent_in_the_producing_run_counts_as_a_producer(honest, checker_root, signer, only):
    honest.step("build", "checker")
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root()))[:2] == (False, "agent")


def test_an_unknown_producer_leaves_it_undecided(honest, checker_root, signer, only):
    honest.runs[0]["agent_id"] = honest.steps[0]["agent_id"] = honest.changes[0]["agent_id"] = None
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root())) == (None, "producer_unknown", "NOT_INDEPENDENT")


def test_a_shared_session_is_not_independent(honest, checker_root, signer, only):
    honest.runs[1]["session_id"] = "S-BUILD"
    honest.attest(signer("checker"), session_id=None)
    assert only(honest.judged(checker_root())) == (False, "session", "NOT_INDEPENDENT")


def test_a_validator_the_producer_started_is_not_independent(honest, checker_root, signer, only):
    honest.runs[1]["parent_run_id"] = "build"
    honest.attest(signer("checker"))
    frame = honest.judged(checker_root())
    assert only(frame) == (False, "ancestry", "NOT_INDEPENDENT")
    assert frame.iloc[0]["lineage_path"] == "check ← build"


def test_a_producer_the_validator_started_is_not_independent(honest, checker_root, signer, only):
    honest.runs[0]["parent_run_id"] = "check"
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root()))[:2] == (False, "ancestry")


def test_two_children_of_one_run_are_not_independent(honest, checker_root, signer, only):
    honest.run("lead", "boss", "s-lead")
    for run in honest.runs[:2]:
        run["parent_run_id"] = "lead"
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root()))[:2] == (False, "ancestry")


def test_two_lines_of_one_ancestor_agent_are_not_independent(honest, checker_root, signer, only):
    honest.run("lead-1", "boss", "s-1")
    honest.run("lead-2", "BOSS", "s-2")
    honest.runs[0]["parent_run_id"], honest.runs[1]["parent_run_id"] = "lead-1", "lead-2"
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root()))[:2] == (False, "ancestry")


@pytest.mark.parametrize(
    ("gap", "rule"),
    [
        (lambda w: w.runs[1].update(session_id=None), "session"),
        (lambda w: w.runs[0].update(session_id=None), "session"),
        (lambda w: w.runs[1].update(parent_run_id="gone"), "ancestry"),
        (lambda w: w.runs[0].update(parent_run_id="gone"), "ancestry"),
        (lambda w: w.runs.pop(0), "session"),
        (lambda w: w.runs[1].update(agent_id=None) or w.steps[1].update(agent_id=None), "run"),
    ],
)
def test_a_gap_in_the_lineage_leaves_it_undecided(honest, checker_root, signer, gap, rule, only):
    gap(honest)
    honest.attest(signer("checker"), session_id=None)
    verdicts = [only(part) for _, part in honest.judged(checker_root()).groupby("producer_run_id")]
    assert all(is_independent is not True for is_independent, _, _ in verdicts)
    assert rule in {rule for _, rule, _ in verdicts}


def test_a_validator_whose_run_is_not_in_the_round_is_unknown(honest, checker_root, signer, only, recounted):
    honest.runs.pop()
    honest.steps.pop()
    for named in ("check", None):
        honest.attestations.clear()
        honest.attest(signer("checker"), run_id=named, rederived=recounted("12"))
        assert only(honest.judged(checker_root()))[:2] == (None, "run")


def test_a_validator_cannot_name_the_run_of_somebody_else(honest, checker_root, signer, only):
    honest.run("third", "scout", "s-3")
    honest.attest(signer("checker"), run_id="third", session_id="s-3")
    assert {only(part)[1] for _, part in honest.judged(checker_root()).groupby("producer_run_id")} >= {"run"}
    assert not honest.judged(checker_root())["is_independent"].fillna(False).any()


def test_a_verdict_that_names_another_session_than_its_run_is_refused(honest, checker_root, signer, only):
    honest.attest(signer("checker"), session_id="s-other")
    assert only(honest.judged(checker_root()))[:2] == (False, "session")


def test_a_run_that_is_not_named_is_found_when_it_is_the_only_one(honest, checker_root, signer, only, recounted):
    honest.attest(signer("checker"), run_id=None, session_id=None)
    assert only(honest.judged(checker_root()))[0] is True
    honest.run("check-2", "checker", "s-check-2")
    honest.attestations.clear()
    honest.attest(signer("checker"), run_id=None, session_id=None, rederived=recounted("12"))
    assert only(honest.judged(checker_root()))[:2] == (None, "run")


def test_a_person_needs_no_run_but_an_agent_does(honest, checker_root, make_principal, signer, only, recounted):
    honest.runs.pop()
    honest.steps.pop()
    honest.attest(signer("ana"), verifier_id="ana", run_id=None, session_id=None, rederived=recounted("12"))
    root = checker_root(make_principal("ana", Role.VALIDATOR))
    assert only(honest.judged(root))[0] is True
    honest.changes[0]["agent_id"] = "Ana"
    assert only(honest.judged(root))[0] is False


@pytest.mark.parametrize("name", ["ANA", "\u0430na", "\ua4ee\ua4e0\ua4ee", "an\u200ba"])
def test_what_keeps_a_person_from_approving_is_named_as_the_log_writes_it(make_principal, make_root, name):
    conflict = approver_conflict("ana", {"coder", name}, make_root(make_principal("ana", Role.APPROVER)))
    assert (conflict.rule, conflict.shared) == ("agent", name)


def test_an_alias_that_keeps_a_person_from_approving_is_named_as_the_log_writes_it(make_principal, make_root):
    root = make_root(make_principal("ana", Role.APPROVER, aliases=("coder-ana",)))
    assert approver_conflict("ana", {"Coder-Ana"}, root).shared == "Coder-Ana"
    assert approver_conflict("ana", {"coder"}, root) is None
