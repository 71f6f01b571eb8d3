"""`kill -9` at each thing that deciding, delegating and retrying make durable: the old state or the new one, never half."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections import Counter

import pytest
from gate_world import FEATURES, HOUR, NOON, NamedSigner

from governance_pipeline.gate import delegating
from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.delegating import Wish
from governance_pipeline.gate.retrying import ask_again, note_failure
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage import atomic
from governance_pipeline.trust.reasons import Refusal

LATER = NOON + HOUR
MOST_POINTS = 20
"""More things than any of these makes durable."""


def approve(world, place=None, who="ana", verb=Verb.APPROVE):
    signer = NamedSigner(who)
    decide(world.verifier(LATER), world.id, verb, "read", signer, now=LATER, nonce="1" * 32, on_behalf_of=place)


def delegate(world, *, back=False):
    act = delegating.withdraw if back else delegating.delegate
    act(world.verifier(LATER), Wish(world.id, "ben", "away"), NamedSigner("ana"), now=LATER, nonce="2" * 32)


def retry(world):
    ask_again(world.verifier(LATER), "r1", LATER)


def fail(world):
    note_failure(world.verifier(LATER), "r1", "run-1", "run-1", LATER)


ACTIONS = {
    "approve": (lambda _: None, approve, "APPROVED"),
    "reject": (lambda _: None, lambda w: approve(w, verb=Verb.REJECT), "REJECTED"),
    "revoke": (approve, lambda w: approve(w, who="ben", verb=Verb.REVOKE), "REVOKED"),
    "delegate": (lambda _: None, delegate, "DELEGATED"),
    "withdraw": (delegate, lambda w: delegate(w, back=True), "UNDELEGATED"),
    "approve-on-behalf": (delegate, lambda w: approve(w, "ana", "ben"), "APPROVED"),
    "fail": (approve, fail, "RUN_FAILED"),
    "retry": (approve, retry, "RETRY"),
}
"""Name -> what comes before, what is killed, and the event it makes."""
FAST = ("retry", "delegate")
CASES = [pytest.param(name, marks=[] if name in FAST else pytest.mark.long) for name in ACTIONS]


def killed(act, when: str, nth: int) -> bool:
    """Run something in a process that kills itself at the nth commit or rename; tell whether it came to that."""
    pid = os.fork()
    if pid == 0:
        calls = itertools.count(1)

        def wrapped(call):
            def counted(*args, **kwargs):
                is_it = next(calls) == nth
                if is_it and when == "before":
                    os.kill(os.getpid(), signal.SIGKILL)
                result = call(*args, **kwargs)
                if is_it:
                    os.kill(os.getpid(), signal.SIGKILL)
                return result

            return counted

        Ledger._commit = wrapped(Ledger._commit)
        atomic.os.replace = wrapped(os.replace)
        try:
            act()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("name", CASES)
def test_a_person_who_is_cut_off_finds_the_old_state_or_the_new_one_and_can_do_it_again(name, copies):
    before, act, kind = ACTIONS[name]
    points = 0
    for nth, when in ((number, side) for number in range(1, MOST_POINTS) for side in ("before", "after")):
        world = copies("asked")
        world.id = world.history().requests[0].request_id
        before(world)
        count = Counter(world.events())[kind]
        if not killed(lambda world=world: act(world), when, nth):
            break
        points += 1
        assert world.ledger.verify() == []
        assert world.history().unusable == []
        is_done = Counter(world.events())[kind] > count
        assert is_done or when == "before" or nth > 1, "what was committed is there"
        if is_done and name not in ("retry", "fail"):  # which are asked again, or change nothing
            with pytest.raises(Refusal):
                act(world)
        else:
            act(world)
        assert Counter(world.events())[kind] == count + (2 if is_done and name == "retry" else 1)
        assert world.ledger.verify() == []
    sys.stdout.write(f"{name}: killed at {points} points{os.linesep}")
    assert points >= 2


def test_a_use_that_was_cut_off_goes_on_after_a_retry_that_was_cut_off(copies):
    world = copies("approved")
    world.id = world.history().requests[0].request_id
    assert killed(lambda: world.guard(FEATURES, run="run-1", now=LATER), "after", 2)
    assert world.events("CONSUMED") == ["CONSUMED"]
    assert killed(lambda: retry(world), "after", 1)
    [asked] = world.history().retries
    assert asked.root_runs == {FEATURES: "run-1"}
    world.guard(FEATURES, run="run-2", root_run="run-1", now=LATER)
    with pytest.raises(Refusal, match=r"^REPLAYED"):
        world.guard(FEATURES, run="run-2", now=LATER)
