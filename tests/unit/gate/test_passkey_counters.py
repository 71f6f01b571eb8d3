"""A passkey that counts must count on; one that does not, or that signs for the first time, is not asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.gates import PUBLISH
from governance_pipeline.gate.verify import passage_of, verify
from governance_pipeline.trust.reasons import ReasonCode, Refusal


@pytest.fixture
def ana(software_passkey):
    return software_passkey.SoftwarePasskey("ana", counter=6)


@pytest.fixture
def counted(asked, scenario, ana):
    """A world in which ana's passkey, which had counted to 7, has rejected the request."""
    asked.write_root(scenario.person("ana", keys=(ana.key(),)), version=2)
    _decide(asked, scenario, ana, Verb.REJECT)
    return asked


def _decide(world, scenario, signer, verb=Verb.APPROVE, nonce="1"):
    now = scenario.NOON + scenario.HOUR
    return decide(world.verifier(now), world.id, verb, "read", signer, now=now, nonce=nonce * 32)


@pytest.mark.parametrize("counter", [0, 3, 6])
def test_a_counter_that_does_not_grow_is_refused(counted, scenario, ana, counter):
    stuck = replace(ana, counter=counter)  # the software counts one on, but not from zero
    with pytest.raises(Refusal, match="two may hold one key") as refused:
        _decide(counted, scenario, stuck)
    assert refused.value.code is ReasonCode.BAD_SIGNATURE
    assert counted.events("APPROVED") == []


def test_a_counter_that_grows_is_taken_and_its_decision_can_be_used_again_and_again(counted, scenario, ana):
    _decide(counted, scenario, ana)
    now = scenario.NOON + scenario.HOUR
    for _ in range(2):
        verify(passage_of(counted.verifier(now), PUBLISH, "r1", now))


def test_a_passkey_that_keeps_no_counter_signs_as_often_as_it_likes(asked, scenario, ana):
    synced = replace(ana, counter=0)
    asked.write_root(scenario.person("ana", keys=(synced.key(),)), version=2)
    _decide(asked, scenario, synced, Verb.REJECT)
    _decide(asked, scenario, synced, nonce="2")
    assert len(asked.events("APPROVED", "REJECTED")) == 2
