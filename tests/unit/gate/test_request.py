"""Unchanged work makes no second request, changed work a new one; a timeout is a no that can be asked again."""

from __future__ import annotations

import pytest
from gate_world import HOUR, NOON

from governance_pipeline.errors import StorageError
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.manifest import kept_manifest
from governance_pipeline.gate.parties import REQUESTER
from governance_pipeline.gate.request import register_requests, request_id
from governance_pipeline.strict.canonical import canonical_json, sha256_hex

AFTER = NOON + 73 * HOUR


def test_the_id_is_the_digest_of_gate_round_and_subject(asked):
    (made,) = asked.history().requests
    assert made.request_id == sha256_hex(canonical_json(["publish", "r1", made.subject_sha256]))
    assert request_id("publish", "r2", made.subject_sha256) != made.request_id


def test_the_requester_is_the_service_and_every_actor_is_named(world):
    world.make_round(agents=("coder-1", "coder-2"), validator="checker", independent=False)
    world.request()
    (made,) = world.history().requests
    assert made.requester == REQUESTER
    assert made.actors == ("checker", "coder-1", "coder-2", REQUESTER)
    assert made.failed_independence == 1
    assert len(made.verdicts) == 1


def test_a_run_without_an_agent_is_a_producer_by_its_own_name(world):
    world.make_round(agents=("coder-1", ""))
    world.request()
    (made,) = world.history().requests
    assert made.actors == ("coder-1", "run:run-", REQUESTER)
    assert made.producers_count == 2


def test_unchanged_work_makes_no_second_request(asked):
    size = asked.ledger.size()
    for hours in (0, 1, 71):
        assert asked.request(now=NOON + hours * HOUR) == asked.id
    assert asked.ledger.size() == size


@pytest.mark.parametrize("verb", [Verb.APPROVE, Verb.REJECT])
def test_a_decided_request_is_not_asked_again_even_when_it_ran_out(asked, verb):
    asked.decide(asked.id, verb=verb)
    size = asked.ledger.size()
    asked.request(now=NOON + 71 * HOUR)
    if verb is Verb.REJECT:
        asked.request(now=AFTER)
    assert asked.ledger.size() == size


def test_a_request_nobody_decided_is_asked_again_under_its_id_in_a_new_window(asked):
    assert asked.request(now=AFTER) == asked.id
    first, second = asked.history().requests
    assert (first.window, second.window) == (0, 1)
    assert second.supersedes is None
    assert second.expires - second.created == 72 * HOUR


def test_an_approval_nobody_used_in_time_is_asked_again_and_does_not_count_any_more(approved):
    approved.request(now=AFTER)
    with pytest.raises(Exception, match=r"SUPERSEDED|EXPIRED"):
        approved.guard(now=AFTER)


def test_changed_work_supersedes_and_going_back_asks_again_about_the_old(asked):
    asked.make_round(surface=4.0)
    other = asked.request()
    asked.make_round()
    assert asked.request() == asked.id
    windows = [(r.request_id, r.window, r.supersedes) for r in asked.history().requests]
    assert windows == [(asked.id, 0, None), (other, 0, asked.id), (asked.id, 1, other)]


def test_a_round_that_is_not_whole_is_not_asked_about_and_stops_the_others_before_anything_is_recorded(world):
    size = world.ledger.size()
    with pytest.raises(StorageError, match="table raw_log_files of round r9 is not in the lake"):
        register_requests(PUBLISH, ["r1", "r9"], world.verifier(), NOON)
    assert world.ledger.size() == size


def test_two_processes_that_ask_at_once_make_one_request(world, monkeypatch):
    from governance_pipeline.gate import request

    history = world.history()
    monkeypatch.setattr(request, "read_history", lambda _: history)  # both have looked before the other asked
    for _ in range(2):
        register_requests(PUBLISH, ["r1"], world.verifier(), NOON)
    assert world.events("REQUESTED") == ["REQUESTED"]


def test_what_was_asked_about_can_be_shown_for_ever(asked):
    subject = asked.history().requests[0].subject_sha256
    asked.make_round(surface=4.0)
    assert kept_manifest(asked.lake, subject).sha256 == subject
    path = asked.lake.root / "manifests" / f"{subject}.json"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(StorageError, match="is damaged"):
        kept_manifest(asked.lake, subject)
    path.unlink()
    with pytest.raises(StorageError, match="make gate_requests again"):
        kept_manifest(asked.lake, subject)
