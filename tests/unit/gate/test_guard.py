"""The guard lets pass what was approved, once, for every round or for none."""

from __future__ import annotations

import os
from datetime import timedelta
from types import SimpleNamespace

import pytest
from gate_world import FEATURES, HOUR, NOON, PEOPLE, REPORT, NamedSigner

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.errors import PolicyError, StorageError, UsageError
from governance_pipeline.gate import guard, inputs
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.publication import publish, write
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage.content import ContentStore
from governance_pipeline.trust.reasons import ReasonCode, Refusal

PASSAGE = ["INTENT", "CONSUMED", "RELEASED", "DONE"]
LATER = NOON + 2 * HOUR


def _published(world, asset=FEATURES):
    return world.lake.rounds(asset)


def test_nothing_decided_nothing_passes_and_nothing_is_written(asked):
    before = asked.ledger.size()
    with pytest.raises(Refusal) as refused:
        asked.guard()
    assert refused.value.code is ReasonCode.MISSING
    assert asked.ledger.size() == before
    assert _published(asked) == []


def test_a_round_nobody_asked_about_does_not_pass(world):
    with pytest.raises(Refusal, match="MISSING: nobody was asked about round r1"):
        world.guard()


def test_one_closed_round_closes_all_rounds_of_the_run_before_anything_is_used(approved):
    approved.make_round("r2")
    approved.request("r2")
    before = approved.ledger.size()
    with pytest.raises(Refusal, match="round r2 awaits a decision"):
        approved.guard(FEATURES, "r1", "r2")
    assert approved.ledger.size() == before


def test_every_approved_round_of_a_run_passes_in_the_order_given(approved):
    approved.make_round("r0")
    approved.decide(approved.request("r0"))
    releases = approved.guard(FEATURES, "r1", "r0", "r1")
    assert [release.round_id for release in releases] == ["r1", "r0"]
    assert approved.events(*PASSAGE) == ["INTENT", "INTENT", "CONSUMED", "CONSUMED"]
    for release in releases:
        publish(release, now=lambda: LATER)
    assert _published(approved) == ["r0", "r1"]


def test_each_asset_the_gate_releases_uses_the_decision_for_itself(approved):
    for asset, run in ((FEATURES, "run-1"), (REPORT, "run-2")):
        (release,) = approved.guard(asset, run=run)
        publish(release, now=lambda: NOON + HOUR)
    assert approved.events(*PASSAGE) == PASSAGE * 2
    for asset in (FEATURES, REPORT):
        with pytest.raises(Refusal, match="REPLAYED"):
            approved.guard(asset, run="run-3")


def test_an_asset_no_gate_releases_and_a_run_without_rounds_are_usage_errors(approved):
    with pytest.raises(UsageError, match="releases published_round_report, published_features"):
        approved.guard("verdict_rounds")
    root = approved.verifier().root
    arguments = ("publish", FEATURES, [], approved.lake, approved.ledger, root, approved.config, "run", "run", LATER)
    with pytest.raises(UsageError, match="at least one round"):
        guard.require_open_gate(*arguments)
    with pytest.raises(UsageError, match="there is no gate 'deploy'"):
        guard.require_open_gate("deploy", *arguments[1:])


def test_without_a_policy_that_can_be_read_nothing_passes(approved):
    approved.config.policy.write_text("{}")
    with pytest.raises(PolicyError):
        approved.guard()
    approved.config.policy.unlink()
    with pytest.raises(Exception, match="not_found"):
        approved.guard()


@pytest.mark.parametrize("at", [NOON + timedelta(hours=72), NOON + timedelta(days=30)])
def test_a_queued_run_refuses_once_the_approval_has_run_out(approved, at):
    with pytest.raises(Refusal, match="EXPIRED"):
        approved.guard(now=at)


@pytest.mark.parametrize("verb", [Verb.REVOKE, Verb.REJECT])
def test_a_queued_run_refuses_after_a_revocation_or_rejection(approved, verb):
    approved.decide(approved.id, "ben", verb)
    with pytest.raises(Refusal, match="REVOKED"):
        approved.guard()


def test_a_queued_run_refuses_when_the_approver_is_no_longer_named(approved):
    approved.write_policy(approvers=["ben"])
    with pytest.raises(Refusal, match=r"POLICY_MISMATCH|UNTRUSTED_KEY"):
        approved.guard()
    approved.write_policy()
    approved.write_root(*(p for p in PEOPLE if p.id != "ana"), version=2)
    with pytest.raises(Refusal, match=r"UNTRUSTED_KEY|BAD_SIGNATURE"):
        approved.guard()


def test_a_queued_run_refuses_when_a_validator_turns_out_not_to_be_independent(approved):
    approved.make_round(validator="checker", independent=False)
    with pytest.raises(Refusal, match="DIGEST_MISMATCH"):
        approved.guard()
    approved.request()
    with pytest.raises(Refusal, match=r"MISSING|DIGEST_MISMATCH"):
        approved.guard()


@pytest.mark.parametrize(
    "table", ["raw_log_files", "core_runs", "features_step_surface", "verdict_findings", "core_declared"]
)
def test_one_changed_byte_upstream_is_refused_and_asked_about_anew(approved, table):
    path = approved.lake.path(table, "r1")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)
    with pytest.raises(Refusal) as refused:
        approved.guard()
    assert refused.value.code is ReasonCode.DIGEST_MISMATCH
    assert "is damaged" in str(refused.value)


def test_changed_work_makes_a_new_request_that_supersedes_and_the_old_approval_opens_nothing(approved):
    approved.make_round(surface=4.0)
    with pytest.raises(Refusal, match="DIGEST_MISMATCH"):
        approved.guard()
    newer = approved.request(now=NOON + HOUR)
    assert newer != approved.id
    assert approved.history().in_force("publish", "r1").supersedes == approved.id
    with pytest.raises(Refusal, match="DIGEST_MISMATCH"):
        approved.guard()
    approved.decide(newer, now=NOON + HOUR)
    (release,) = approved.guard(now=LATER)
    assert release.frame("features_step_surface")["surface_sum"].tolist() == [4.0]


def test_what_is_used_are_the_bytes_that_were_verified_whatever_happens_to_the_file(approved, monkeypatch):
    read = inputs.read_inputs

    def read_then_swap(*arguments):
        inputs = read(*arguments)
        approved.make_round(surface=99.0)  # between the check and the use
        return inputs

    monkeypatch.setattr(inputs, "read_inputs", read_then_swap)
    (release,) = approved.guard()
    assert release.frame("features_step_surface")["surface_sum"].tolist() == [3.0]
    monkeypatch.undo()
    with pytest.raises(Refusal, match="DIGEST_MISMATCH"):
        approved.guard(run="run-2")


@pytest.mark.parametrize("kind", ["INTENT", "CONSUMED"])
def test_a_revocation_that_comes_in_between_check_and_use_is_seen(approved, monkeypatch, kind):
    append_all, done = Ledger.append_all, []

    def revoked_first(self, entries, *, after=None, seal=None):
        if not done and entries[0].type == kind:
            done.append(kind)
            approved.decide(approved.id, "ben", Verb.REVOKE)
        return append_all(self, entries, after=after, seal=seal)

    monkeypatch.setattr(Ledger, "append_all", revoked_first)
    with pytest.raises(Refusal, match="REVOKED"):
        approved.guard()
    assert done == [kind]
    assert approved.events("CONSUMED") == []


def test_other_events_in_between_make_it_look_again_and_go_on(approved, monkeypatch):
    append_all, left = Ledger.append_all, [3]

    def disturbed(self, entries, *, after=None):
        if left[0] and entries[0].type in PASSAGE:
            left[0] -= 1
            append_all(self, [entries[0]._replace(type="NOTE", unique=None)])
        return append_all(self, entries, after=after)

    monkeypatch.setattr(Ledger, "append_all", disturbed)
    assert len(approved.guard()) == 1
    assert approved.events(*PASSAGE) == ["INTENT", "CONSUMED"]


def test_a_ledger_that_never_rests_is_given_up_without_using_anything(approved, monkeypatch):
    append_all = Ledger.append_all

    def disturbed(self, entries, *, after=None):
        append_all(self, [entries[0]._replace(type="NOTE", unique=None)])
        return append_all(self, entries, after=after)

    monkeypatch.setattr(Ledger, "append_all", disturbed)
    monkeypatch.setattr(guard, "TRIES", 3)
    with pytest.raises(StorageError, match="too busy"):
        approved.guard()
    assert approved.events(*PASSAGE) == []


def test_a_decision_recorded_twice_is_used_once(approved, scenario):
    scenario.Scene(approved).record_again()
    (release,) = approved.guard()
    assert release.decision_ids == [approved.decision]
    publish(release, now=lambda: LATER)
    assert approved.events(*PASSAGE) == PASSAGE


def test_the_same_root_run_goes_on_and_another_is_a_replay(approved):
    approved.guard(run="run-1")
    approved.guard(run="run-1-again", root_run="run-1")
    assert approved.events(*PASSAGE) == ["INTENT", "CONSUMED"]
    with pytest.raises(Refusal, match="was used for published_features by run run-1"):
        approved.guard(run="run-2")
    with pytest.raises(Refusal, match="REPLAYED"):
        approved.guard(run="run-1-again")


def test_an_approval_made_after_the_use_lets_another_run_publish(approved):
    approved.guard(run="run-1")
    approved.decide(approved.id, "ana", Verb.REVOKE, now=LATER)
    approved.decide(approved.id, "ana", now=LATER)
    (release,) = approved.guard(run="run-2", now=LATER)
    assert len(release.decision_ids) == 1
    assert release.decision_ids != [approved.decision]


def test_all_approvals_that_count_are_used_together(asked):
    asked.write_policy(quorum=2)
    request = asked.request(now=NOON)
    asked.decide(request, "ana")
    with pytest.raises(Refusal, match="THRESHOLD"):
        asked.guard()
    asked.decide(request, "ben")
    (release,) = asked.guard()
    assert release.approved_by == ["ana", "ben"]
    publish(release, now=lambda: LATER)
    assert asked.events(*PASSAGE) == ["INTENT"] * 2 + ["CONSUMED"] * 2 + ["RELEASED"] * 2 + ["DONE"] * 2


def test_done_once_more_changes_nothing_and_with_other_bytes_is_a_replay(approved):
    (release,) = approved.guard()
    stored = publish(release, now=lambda: LATER)
    publish(release, now=lambda: LATER)
    assert approved.events(*PASSAGE) == PASSAGE
    other = approved.lake.put(FEATURES, "r1", frame_of(FEATURES, []))
    with pytest.raises(Refusal, match="REPLAYED: other bytes were released"):
        release.done(other, now=LATER)
    with pytest.raises(StorageError, match="somebody else wrote it meanwhile"):
        release.done(stored, now=LATER)


def test_a_run_whose_write_failed_stays_approved_and_its_retry_finishes(approved, monkeypatch):
    (release,) = approved.guard()
    monkeypatch.setattr(type(approved.lake), "put", lambda *_, **__: (_ for _ in ()).throw(StorageError("disk full")))
    with pytest.raises(StorageError, match="disk full"):
        write(release)
    monkeypatch.undo()
    assert _published(approved) == []
    (again,) = approved.guard(run="retry", root_run="run-1")
    publish(again, now=lambda: LATER)
    assert approved.events(*PASSAGE) == PASSAGE


def test_a_root_older_than_the_ledger_has_seen_opens_nothing(approved):
    old = approved.verifier().root
    approved.write_root(*PEOPLE, version=2)
    arguments = (approved.lake, approved.ledger, old, approved.config, "run", "run", LATER)
    with pytest.raises(Refusal, match="ROOT_ROLLBACK"):
        guard.require_open_gate("publish", FEATURES, ["r1"], *arguments)


def test_a_run_that_read_the_ledger_before_another_published_is_a_replay_and_no_forgery(approved, monkeypatch):
    read, done = guard.read_history, []

    def another_publishes_then(ledger):
        history = read(ledger)
        if not done:
            done.append(True)
            (release,) = approved.guard(run="faster")
            publish(release, now=lambda: NOON + HOUR)
        return history

    monkeypatch.setattr(guard, "read_history", another_publishes_then)
    with pytest.raises(Refusal, match="REPLAYED"):
        approved.guard(run="slower")


def test_a_file_published_around_the_gate_is_found_before_anything_else_passes(approved):
    approved.lake.put(FEATURES, "r1", frame_of(FEATURES, []))
    with pytest.raises(
        Refusal, match="LOG_INCONSISTENT: published_features of round r1 is no file the gate let through"
    ):
        approved.guard()


def test_an_older_copy_of_the_ledger_put_back_does_not_publish_twice(approved):
    path = approved.ledger.path
    older = {p.name: p.read_bytes() for p in path.parent.glob("ledger.sqlite*")}
    (release,) = approved.guard()
    publish(release, now=lambda: LATER)
    for file in path.parent.glob("ledger.sqlite*"):
        file.unlink()
    for name, data in older.items():
        (path.parent / name).write_bytes(data)
    with pytest.raises(Refusal, match=r"LOG_INCONSISTENT.*the ledger is an older copy"):
        approved.guard(run="run-2")


def test_the_source_files_are_found_where_the_lake_keeps_them(approved, tmp_path):
    (tmp_path / "a").write_text("x")
    kept = ContentStore(approved.lake.root).keep(tmp_path / "a")
    assert ContentStore(approved.verifier().lake.root).has(kept.sha256)
    assert NamedSigner("ana").assurance == "key_file"


def test_a_disk_without_room_refuses_before_anything_is_used(approved, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=1, f_frsize=1))
    with pytest.raises(StorageError, match="Make room"):
        approved.guard()
    assert approved.events(*PASSAGE) == []
    monkeypatch.undo()
    approved.guard()


def test_without_the_atomic_use_two_runs_pass_that_asked_at_the_same_time(approved, monkeypatch):
    """Non-vacuity of the last step: what is appended must be unique, and onto the ledger that was verified."""
    seen = approved.history()
    append_all = Ledger.append_all
    approved.guard(run="run-1")
    monkeypatch.setattr(guard, "read_history", lambda _: seen)
    with pytest.raises((StorageError, Refusal)):
        approved.guard(run="run-2")

    def careless(self, entries, *, after=None, seal=None):
        return append_all(self, [entry._replace(unique=None) for entry in entries])

    monkeypatch.setattr(Ledger, "append_all", careless)
    assert len(approved.guard(run="run-2")) == 1
