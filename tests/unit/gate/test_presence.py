"""Ways of signing at the gate: OpenSSH keys and authenticators open it, and one nobody touched never does."""

from __future__ import annotations

import base64
import shutil
import subprocess
from dataclasses import dataclass
from datetime import timedelta

import pytest

from governance_pipeline.gate.deciding import decide
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.publication import published_round_report
from governance_pipeline.trust import sshsig
from governance_pipeline.trust.principals import Key
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.ssh_signer import ssh_signer
from governance_pipeline.trust.sshsig import SshSignature, signed_data

KEYGEN = shutil.which("ssh-keygen")
APPLICATION = "ssh:govern"


@dataclass(frozen=True)
class Authenticator:
    """A FIDO authenticator in software: signs with the flags it is told to set."""

    named: object
    flags: int
    assurance: str = "presence"

    @property
    def public_key(self) -> bytes:
        return self.named.public_key

    def sign(self, message: bytes) -> bytes:
        string = sshsig._string
        read = SshSignature(self.public_key, APPLICATION, sshsig.NAMESPACE, "sha512", bytes(64), self.flags, bytes(4))
        raw = self.named.sign(sshsig._authenticator_data(read, APPLICATION, signed_data(read, message)))
        kind = string(sshsig.AUTHENTICATOR.encode())
        key = kind + string(self.public_key) + string(APPLICATION.encode())
        signature = kind + string(raw) + bytes((self.flags,)) + bytes(4)
        parts = (key, sshsig.NAMESPACE.encode(), b"", b"sha512", signature)
        blob = b"SSHSIG\0\0\0\1" + b"".join(map(string, parts))
        return b"-----BEGIN SSH SIGNATURE-----\n" + base64.b64encode(blob) + b"\n-----END SSH SIGNATURE-----\n"


@pytest.fixture
def gate(world, scenario):
    """A world in which ana's key is in an authenticator, and a request is asked."""
    ana = scenario.person("ana", keys=(Key(scenario.NamedSigner("ana").public_key, application=APPLICATION),))
    world.write_root(ana, scenario.person("ben"), version=2)
    return world


def _approve(world, scenario, signer, now):
    request_id = world.request()
    return decide(world.verifier(now), request_id, Verb.APPROVE, "read", signer, now=now, nonce="0" * 32)


@pytest.mark.parametrize("minimum", ["key_file", "ssh_agent", "presence"])
def test_a_touch_of_a_verified_person_opens_the_gate_under_every_policy(gate, scenario, minimum):
    gate.write_policy(minimum_assurance=minimum)
    _approve(gate, scenario, Authenticator(scenario.NamedSigner("ana"), 0x05), scenario.NOON)
    gate.guard()


def test_the_published_report_says_how_it_was_signed(gate, scenario):
    _approve(gate, scenario, Authenticator(scenario.NamedSigner("ana"), 0x05), scenario.NOON)
    (release,) = gate.guard("published_round_report")
    html = published_round_report(release).html.decode()
    assert "presence" in html
    assert "key_file" not in html


@pytest.mark.parametrize("flags", [0x00, 0x01, 0x04])
def test_an_authenticator_without_touch_or_verification_opens_nothing_under_any_policy(gate, scenario, flags):
    with pytest.raises(Refusal) as refused:
        _approve(gate, scenario, Authenticator(scenario.NamedSigner("ana"), flags), scenario.NOON)
    assert refused.value.code is ReasonCode.NO_USER_PRESENCE


def test_a_raw_signature_of_an_authenticators_key_is_none(gate, scenario):
    with pytest.raises(Refusal) as refused:
        _approve(gate, scenario, scenario.NamedSigner("ana"), scenario.NOON)
    assert refused.value.code is ReasonCode.BAD_SIGNATURE


def test_a_key_file_is_not_enough_where_a_policy_asks_for_presence(gate, scenario):
    gate.write_policy(minimum_assurance="presence")
    with pytest.raises(Refusal) as refused:
        _approve(gate, scenario, scenario.NamedSigner("ben"), scenario.NOON)
    assert refused.value.code is ReasonCode.NO_USER_PRESENCE


@pytest.mark.skipif(KEYGEN is None, reason="no ssh-keygen on this machine")
@pytest.mark.parametrize("minimum", ["key_file", "ssh_agent"])
def test_a_key_of_openssh_signs_through_ssh_keygen_and_opens_the_gate(world, scenario, tmp_path, minimum):
    path = tmp_path / "id_ed25519"
    subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    signer = ssh_signer(path)
    world.write_root(scenario.person("ana", keys=(Key(signer.public_key),)), version=2)
    world.write_policy(minimum_assurance=minimum)
    _approve(world, scenario, signer, scenario.NOON)
    world.guard(now=scenario.NOON + timedelta(hours=1))
