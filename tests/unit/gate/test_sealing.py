"""A decision of a ledger with a log key is sealed by it, and what a verifier has seen of a ledger it never unsees."""

from __future__ import annotations

import shutil
from datetime import timedelta

import pytest

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.gate.case_deciding import state_case
from governance_pipeline.gate.cases import Cases
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.delegating import Wish, delegate
from governance_pipeline.ledger.checkpoint import log_origin, open_checkpoint, read_checkpoint, signed_checkpoint
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.note import parse_note
from governance_pipeline.ledger.remembered import head_path, keep_conflict, remember_head, remembered_head
from governance_pipeline.trust.case_statement import Outcome
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root import Revocation


def _refused(world, now=None):
    with pytest.raises(Refusal) as refused:
        world.guard(**({} if now is None else {"now": now}))
    return refused.value


@pytest.fixture
def sealed(world, scenario):
    """A world whose log has a key, with an approval that was sealed."""
    world.write_log_key()
    world.id = world.request()
    world.decision = world.decide(world.id)
    return world


def test_an_approval_is_followed_by_a_checkpoint_that_ends_with_it(sealed):
    events = list(sealed.ledger.events())
    assert [event.type for event in events[-2:]] == ["APPROVED", "CHECKPOINT"]
    checkpoint = open_checkpoint(events[-1].body["note"].encode(), sealed.verifier().root)
    assert checkpoint == (log_origin(sealed.config.root_fingerprint), sealed.ledger.head(events[-2].seq))
    sealed.guard()
    assert sealed.ledger.verify() == []


def test_an_approval_around_the_front_door_is_not_sealed(sealed, scenario):
    statement = sealed.statement(sealed.id)
    sealed.forge(sealed.sign(statement, "ben"), statement)
    sealed.decide(sealed.id, verb=Verb.REVOKE, now=scenario.NOON)
    sealed.decide(sealed.id, now=scenario.NOON + timedelta(minutes=1))
    assert sealed.guard()[0].approved_by == ["ana"]


@pytest.mark.parametrize("note", [None, "", "no note", "copied", "other key"])
def test_a_seal_that_is_none_opens_nothing(world, scenario, note):
    world.write_log_key()
    request = world.request()
    statement = world.statement(request)
    old = signed_checkpoint(world.ledger.head(), world.config, scenario.NamedSigner("log"))
    world.forge(world.sign(statement), statement)
    forged = signed_checkpoint(world.ledger.head(), world.config, scenario.NamedSigner("mallory"))
    if note is not None:
        text = {"copied": old, "other key": forged}.get(note, note)
        world.ledger.append("CHECKPOINT", "log", {"note": text}, ts=scenario.NOON)
    refused = _refused(world)
    assert (refused.code, "seals" in str(refused)) == (ReasonCode.LOG_INCONSISTENT, True)


def test_a_key_of_the_log_that_was_revoked_seals_nothing_any_more(world, scenario):
    key = fingerprint(scenario.NamedSigner("log").public_key)
    world.write_log_key(revocations=(Revocation(key, scenario.NOON - timedelta(minutes=30), "stolen"),))
    request = world.request()
    with pytest.raises(UsageError, match="does not count now"):
        world.decide(request)
    statement = world.statement(request)
    world.forge(world.sign(statement), statement)
    note = signed_checkpoint(world.ledger.head(), world.config, scenario.NamedSigner("log"))
    world.ledger.append("CHECKPOINT", "log", {"note": note}, ts=scenario.NOON)
    assert _refused(world).code is ReasonCode.LOG_INCONSISTENT


def test_a_decision_of_before_the_log_had_a_key_still_opens(approved, scenario):
    approved.write_log_key(at=scenario.NOON + timedelta(minutes=30))
    approved.guard()


def test_a_machine_without_the_key_of_the_log_closes_and_does_not_open(world, scenario):
    world.write_log_key()
    request = world.request()
    (world.folder / "trust" / "log.pem").unlink()
    with pytest.raises(UsageError, match="an approval is sealed by the log"):
        world.decide(request)
    world.decide(request, "ben", Verb.REJECT)
    assert _refused(world).code is ReasonCode.REVOKED


def test_an_older_copy_of_the_ledger_put_back_closes_the_gate(approved):
    for end in ("", "-wal"):
        source = approved.ledger.path.with_name(approved.ledger.path.name + end)
        if source.exists():
            shutil.copy(source, approved.folder / f"copy{end}")
    approved.guard()
    _put_back(approved)
    assert approved.ledger.verify() == []
    refused = _refused(approved)
    assert (refused.code, "put back to an older copy" in str(refused)) == (ReasonCode.LOG_INCONSISTENT, True)
    assert approved.events("CONSUMED") == []


def _put_back(world):
    for end in ("", "-wal", "-shm"):
        place, copy = world.ledger.path.with_name(world.ledger.path.name + end), world.folder / f"copy{end}"
        place.unlink(missing_ok=True)
        if copy.exists():
            shutil.copy(copy, place)


def test_another_history_of_the_same_size_closes_the_gate(approved):
    remember_head(approved.config, approved.ledger)
    head = approved.ledger.head()
    path = head_path(approved.config)
    path.write_text(path.read_text().replace(path.read_text().split("\n")[2], "A" * 43 + "="))
    assert remembered_head(approved.config) == Head(head.size, "00" * 32)
    assert _refused(approved).code is ReasonCode.LOG_INCONSISTENT


@pytest.mark.parametrize(
    "text", ["", "x", "o\n1\nAAAA\n", "o\n01\n" + "A" * 43 + "=\n", "o\n1\n" + "A" * 43 + "=\n\nx"]
)
def test_a_memory_that_cannot_be_read_lets_nothing_pass(approved, text):
    head_path(approved.config).write_text(text)
    head_path(approved.config).chmod(0o600)
    assert _refused(approved).code is ReasonCode.LOG_INCONSISTENT


def test_a_memory_others_can_write_lets_nothing_pass(approved):
    remember_head(approved.config, approved.ledger)
    head_path(approved.config).chmod(0o666)
    assert _refused(approved).code is ReasonCode.LOG_INCONSISTENT


def test_what_is_remembered_is_the_longest_and_signed_where_the_key_is(sealed):
    note = parse_note(head_path(sealed.config).read_bytes())
    assert read_checkpoint(note.text).head == sealed.ledger.head()
    assert open_checkpoint(head_path(sealed.config).read_bytes(), sealed.verifier().root).head == sealed.ledger.head()
    path = head_path(sealed.config)
    path.write_text(path.read_text().replace(f"\n{sealed.ledger.size()}\n", "\n999\n"))
    with pytest.raises(StorageError, match="cut off"):
        remember_head(sealed.config, sealed.ledger)


def test_a_checkpoint_of_another_history_that_the_log_signed_closes_every_gate(sealed, scenario):
    other = signed_checkpoint(Head(2, "ab" * 32), sealed.config, scenario.NamedSigner("log"))
    path = keep_conflict(sealed.config, other.encode())
    refused = _refused(sealed)
    assert (refused.code, str(path) in str(refused)) == (ReasonCode.LOG_INCONSISTENT, True)
    path.unlink()
    sealed.guard()


def _resolved(world, scenario, request_id):
    (case,) = Cases(world.verifier(), scenario.NOON).standings()
    signer, clock = scenario.NamedSigner("ben"), lambda: scenario.NOON
    return state_case(
        world.verifier(), case.case.case_id, None, "I looked", signer, Outcome.ACCEPTED, clock=clock
    ).event


def _lent(world, scenario, request_id):
    wish = Wish(request_id, "ben", "away", None)
    return delegate(world.verifier(), wish, scenario.NamedSigner("ana"), now=scenario.NOON, nonce="0" * 32)


@pytest.mark.parametrize("stated", [_resolved, _lent])
def test_a_resolution_and_a_delegation_are_sealed_where_the_key_of_the_log_is_and_recorded_where_it_is_not(
    copies, scenario, stated
):
    for has_key in (True, False):
        world = copies()
        world.write_log_key()
        world.make_round(mismatch=True)
        request_id = world.request()
        if not has_key:
            world.config.log_key.unlink()
        made = stated(world, scenario, request_id)
        behind = list(world.ledger.events(after=made.seq))
        assert [event.type for event in behind] == ["CHECKPOINT"] * has_key
        notes = [open_checkpoint(event.body["note"].encode(), world.verifier().root).head for event in behind]
        assert notes == [world.ledger.head(made.seq)] * has_key
