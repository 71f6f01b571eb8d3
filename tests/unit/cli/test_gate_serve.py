"""`govern gate serve` and `govern trust add --passkey`: what is said before anything is served, and how they end."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.gate.inbox import enrolment, serving
from governance_pipeline.ledger.root_keeping import make_root
from governance_pipeline.trust.dsse import Envelope, Signature, envelope_bytes, pae
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.possession import POSSESSION_PAYLOAD_TYPE, possession_statement


@pytest.fixture
def config(tmp_path):
    folder = tmp_path / "trust"
    folder.mkdir(mode=0o700)
    now = datetime.now(UTC) - timedelta(minutes=1)
    return make_root(folder, folder / "gate.toml", "root", now, days=9, passphrase=None).config


@pytest.fixture
def served(monkeypatch):
    """What would have been served; it ends at once."""
    found = []

    def serve(server, sockets):
        found.append([each.getsockname()[0] for each in sockets])
        for each in sockets:
            each.close()

    monkeypatch.setattr(serving, "serve", serve)
    return found


def _free_port():
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return taken.getsockname()[1]


def test_it_prints_its_link_serves_loopback_only_and_ends_clean(config, served, tmp_path, capsys):
    port = _free_port()
    code = run(
        ["gate", "serve", "--port", str(port), "--lake", str(tmp_path), "--config", str(config.source), "--json"]
    )
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert (code, document_fault("gate-serve-v1", document)) == (0, None)
    assert document["url"].startswith(f"http://localhost:{port}/enter#")
    assert set(served[0]) <= {"127.0.0.1", "::1"}
    assert "trust tier" in printed.err


def test_a_port_that_is_taken_is_a_usage_error(config, served, tmp_path, capsys):
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = str(other.getsockname()[1])
        code = run(["gate", "serve", "--port", port, "--lake", str(tmp_path), "--config", str(config.source)])
    assert (code, served) == (2, [])
    assert "is taken" in capsys.readouterr().err


def test_what_cannot_be_trusted_is_said_before_anything_is_served(config, served, tmp_path, capsys):
    config.root.write_bytes(b"{}")
    code = run(["gate", "serve", "--lake", str(tmp_path), "--config", str(config.source)])
    assert (code, served) == (4, [])
    assert "MALFORMED" in capsys.readouterr().err


def _add(config, *more):
    return run(["trust", "add", "ana", "--kind", "human", "--role", "approver", "--port", str(_free_port()),
                "--config", str(config.source), "--json", *more])  # fmt: skip


def test_a_passkey_that_was_made_is_in_the_root_with_its_page(config, served, monkeypatch, capsys, software_passkey):
    ana = software_passkey.SoftwarePasskey("ana")
    statement = possession_statement("ana", config.root_fingerprint, ana.public_key)
    signature = Signature(fingerprint(ana.public_key), ana.sign(pae(POSSESSION_PAYLOAD_TYPE, statement)))
    proof = envelope_bytes(Envelope(POSSESSION_PAYLOAD_TYPE, statement, (signature,)))
    made = enrolment.Enrolled(ana.public_key, ana.passkey, proof)
    page = SimpleNamespace(enrolled=made, application=lambda: None)
    monkeypatch.setattr(enrolment, "Enrolment", lambda *_: page)
    assert _add(config, "--passkey") == 0
    (key,) = json.loads(capsys.readouterr().out)["principals"][-1]["keys"]
    assert key["passkey"] == {"rp_id": "localhost", "origin": ana.origin}
    assert run(["trust", "show", "--config", str(config.source)]) == 0
    assert f"passkey of {ana.origin}" in capsys.readouterr().out


def test_a_page_that_was_given_up_changes_nothing(config, served, capsys):
    pytest.importorskip("webauthn", reason="the extra webauthn is not installed")
    before = config.root.read_bytes()
    assert _add(config, "--passkey") == 3
    assert config.root.read_bytes() == before


def test_a_passkey_and_a_key_file_are_two_ways(config, served, tmp_path, capsys):
    assert _add(config, "--passkey", "--new-key", str(tmp_path / "key.pem")) == 2
    assert "give one of them" in capsys.readouterr().err
