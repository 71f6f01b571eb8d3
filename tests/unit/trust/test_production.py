"""Whoever made a step or a change is a producer; only a validator's own run, known to change nothing, is not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DIGEST = "ab" * 32


def test_every_run_with_a_step_is_a_producer(honest, checker_root, signer):
    honest.run("scout", "scout", "s-scout", parent_run_id="build")
    honest.step("scout", "scout")
    honest.run("idle", "idle", "s-idle")
    honest.attest(signer("checker"))
    frame = honest.judged(checker_root())
    assert frame["producer_run_id"].tolist() == ["build", "scout"]
    assert frame["is_independent"].all()


def test_an_earlier_check_by_the_validator_is_no_production(honest, checker_root, signer, only):
    honest.run("earlier", "checker", "s-earlier")
    honest.step("earlier", "checker")
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root()))[0] is True


def test_a_run_the_validator_shared_with_another_agent_is_production(honest, checker_root, signer):
    honest.run("earlier", "checker", "s-earlier")
    honest.step("earlier", "scout")
    honest.attest(signer("checker"))
    frame = honest.judged(checker_root()).set_index("producer_run_id")
    assert (frame.loc["earlier", "is_independent"], frame.loc["earlier", "rule"]) == (False, "agent")


def test_a_clean_run_does_not_hide_one_that_the_producer_started(honest, checker_root, signer, only):
    honest.run("earlier", "checker", "s-earlier", parent_run_id="build")
    honest.step("earlier", "checker")
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root()))[:2] == (False, "ancestry")


@pytest.mark.parametrize(
    "work",
    [
        lambda w: w.change("check", "checker"),
        lambda w: w.change(None, "checker"),
        lambda w: w.step("check", "checker", output_path="report.md"),
    ],
)
def test_a_validator_that_changed_something_is_a_producer(honest, checker_root, signer, work):
    work(honest)
    honest.attest(signer("checker"))
    frame = honest.judged(checker_root()).set_index("producer_run_id")
    assert (frame.loc["check", "is_independent"], frame.loc["check", "rule"]) == (False, "agent")


def test_what_a_hidden_step_changed_is_unknown_unless_every_change_is_attributed(honest, checker_root, signer):
    honest.changes.clear()
    honest.attest(signer("checker"))
    frame = honest.judged(checker_root()).set_index("producer_run_id")
    assert (frame.loc["check", "is_independent"] is True, frame.loc["check", "rule"]) == (False, "producer_unknown")
    honest.runs[1]["opaque_step_count"] = 0
    assert honest.judged(checker_root())["producer_run_id"].tolist() == ["build"]


def test_the_only_run_of_a_round_is_its_producer(honest, checker_root, signer, only):
    honest.runs.pop(0)
    honest.steps.pop(0)
    honest.changes.clear()
    honest.attest(signer("checker"))
    assert only(honest.judged(checker_root()))[:2] == (False, "agent")


def test_a_change_by_a_run_without_log_is_by_an_unknown_line(honest, checker_root, signer):
    honest.change("ghost", "phantom")
    honest.attest(signer("checker"))
    frame = honest.judged(checker_root()).set_index("producer_run_id")
    assert frame.loc["ghost", "rule"] == "session"
    assert frame.loc["ghost", "producer_agent_ids"] == '["phantom"]'


def test_a_round_without_a_known_producer_is_undecided(honest, checker_root, signer, only):
    honest.runs.clear()
    honest.steps.clear()
    honest.changes.clear()
    honest.attest(signer("checker"))
    frame = honest.judged(checker_root())
    assert frame["producer_run_id"].isna().all()
    assert only(frame)[:2] == (None, "producer_unknown")


def test_rounds_are_judged_apart_and_each_attestation_has_its_rows(honest, checker_root, signer):
    honest.attest(signer("checker"))
    honest.claim("coder")
    assert honest.judged(checker_root())["is_independent"].tolist() == [True, False, False]
    assert honest.judged(checker_root()).groupby("line").size().tolist() == [1, 2]


def test_the_same_family_is_flagged_and_refused_only_when_policy_says_so(honest, checker_root, signer, only):
    for run, model in zip(honest.runs, ("acme/claude-opus-4", "claude-haiku-3.5"), strict=True):
        run["model_id"] = model
    honest.attest(signer("checker"))
    frame = honest.judged(checker_root())
    assert (frame.iloc[0]["is_same_runtime"], frame.iloc[0]["is_independent"]) == (True, True)
    assert only(honest.judged(checker_root(), refuse_same_runtime=True))[:2] == (False, "runtime")
    honest.runs[1]["model_id"] = "gpt-5"
    assert only(honest.judged(checker_root(), refuse_same_runtime=True))[0] is True
    honest.runs[1]["model_id"] = None
    assert only(honest.judged(checker_root(), refuse_same_runtime=True))[:2] == (None, "runtime")
