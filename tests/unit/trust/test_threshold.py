"""A threshold is met by different hands only."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from governance_pipeline.trust import dsse
from governance_pipeline.trust.principals import Key, Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.threshold import distinct_signers, require_threshold

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def root(make_principal, make_root, signer):
    two = (Key(signer("ana").public_key), Key(signer("ana second").public_key))
    return make_root(
        make_principal("ana", Role.APPROVER, keys=two),
        make_principal("ben", Role.APPROVER, controller="acme"),
        make_principal("cho", Role.APPROVER, controller="Acme"),
        thresholds={Role.APPROVER: 2},
    )


def _signed(signer, root, *names):
    envelope = dsse.parse_envelope(dsse.sign(b"{}", "t", signer(names[0])))
    for name in names[1:]:
        envelope = dsse.add_signature(envelope, signer(name))
    return dsse.verify_signatures(envelope, root, NOON, role=Role.APPROVER)


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (("ana",), 1),
        (("ana", "ana"), 1),
        (("ana", "ana second"), 1),
        (("ben", "cho"), 1),
        (("ana", "ben"), 2),
        (("ana", "ana second", "ben", "cho"), 2),
    ],
)
def test_keys_and_controllers_are_counted_once(signer, root, names, count):
    signed = _signed(signer, root, *names)
    assert distinct_signers(signed, root) == count
    if count < 2:
        with pytest.raises(Refusal) as refused:
            require_threshold(signed, root, Role.APPROVER)
        assert refused.value.code is ReasonCode.THRESHOLD
    else:
        assert require_threshold(signed, root, Role.APPROVER) == count


@pytest.mark.parametrize("quorum", [-1, 0, 1])
def test_no_quorum_lets_nobody_pass_or_goes_below_the_root(signer, root, quorum):
    for signed in ([], _signed(signer, root, "ana")):
        with pytest.raises(Refusal, match="THRESHOLD"):
            require_threshold(signed, root, Role.APPROVER, quorum=quorum)
    with pytest.raises(Refusal, match="THRESHOLD"):
        require_threshold([], root, Role.VALIDATOR, quorum=quorum)


def test_a_gate_may_want_more_than_the_root(signer, root):
    signed = _signed(signer, root, "ana", "ben")
    assert require_threshold(signed, root, Role.APPROVER, quorum=2) == 2
    with pytest.raises(Refusal, match="2 of 3"):
        require_threshold(signed, root, Role.APPROVER, quorum=3)
