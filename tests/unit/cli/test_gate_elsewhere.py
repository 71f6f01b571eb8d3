"""Deciding where the key is: what is exported is signed on another machine, and comes back through the same questions."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from governance_pipeline.cli.main import run
from governance_pipeline.gate.decision import Verb
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.trust import dsse
from governance_pipeline.trust.principals import Key
from governance_pipeline.trust.ssh_signer import read_ssh_public_key

KEYGEN = shutil.which("ssh-keygen")


def _world_module():
    if "gate_world" not in sys.modules:
        path = Path(__file__).parents[1] / "gate" / "gate_world.py"
        spec = importlib.util.spec_from_file_location("gate_world", path)
        sys.modules["gate_world"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["gate_world"])
    return sys.modules["gate_world"]


gate_world = _world_module()


class Two:
    """A machine with ledger and lake, and one with the keys only."""

    def __init__(self, folder, capsys):
        self.world = gate_world.World.create(folder / "world")
        self.world.make_round()
        self.id = self.world.request(now=datetime.now(UTC))
        self.keys, self.capsys, self.out = self.world.write_keys(), capsys, folder / "out"

    def __call__(self, verb, *arguments, here=True, as_json=True):
        where = ["--lake", str(self.world.lake.root), "--config", str(self.world.config_path)] if here else []
        self.capsys.readouterr()
        code = run(["gate", verb, *map(str, arguments), *where, *(["--json"] if as_json else [])])
        printed = self.capsys.readouterr()
        self.err = printed.err
        document = json.loads(printed.out) if as_json and printed.out else printed.out
        if as_json and document:
            schema = document["schema"].removeprefix("govern/").replace("/", "-")
            assert document_fault(schema, document) is None
        return code, document

    def export(self, *arguments):
        code, document = self("export", self.id, "--reason", "read", "--out", self.out, *arguments)
        assert code == 0, self.err
        (path,) = self.out.glob("*.json")
        return path, document

    def sign(self, path, who="ana", digest=None):
        digest = digest or json.loads(path.read_text())["subject_sha256"][:8]
        code, document = self("sign", path, "--key", self.keys / f"{who}.pem", "--digest", digest, here=False)
        if document:
            (self.out / "signed").write_text(document["envelope"])
        return code, document


@pytest.fixture
def two(tmp_path, capsys):
    return Two(tmp_path, capsys)


def test_what_is_exported_signed_and_imported_opens_the_gate(two):
    path, document = two.export()
    assert {p.suffix for p in two.out.iterdir()} == {".json", ".pae", ".txt"}
    assert (two.out / f"{path.stem}.txt").read_text() == document["display"]
    assert two.world.history().decisions == []
    assert two.sign(path)[0] == 0
    code, done = two("import", two.out / "signed")
    assert (code, done["results"][0]["recorded"], done["results"][0]["state"]) == (0, True, "APPROVED")
    two.world.guard(now=datetime.now(UTC))


def test_an_envelope_is_recorded_once(two):
    two.sign(two.export()[0])
    two("import", two.out / "signed")
    code, again = two("import", two.out / "signed")
    assert (code, again["results"][0]["code"]) == (4, "REPLAYED")
    assert len(two.world.history().decisions) == 1


def test_what_an_agent_or_a_stranger_signed_is_not_recorded(two):
    path, _ = two.export()
    for who, code in (("mallory", "UNTRUSTED_KEY"), ("coder-1", "UNTRUSTED_KEY"), ("dot", "UNTRUSTED_KEY")):
        two.sign(path, who)
        exit_code, document = two("import", two.out / "signed")
        assert (exit_code, document["results"][0]["code"]) == (4, code)
    assert two.world.history().decisions == []


def test_a_text_that_was_exchanged_is_not_signed(two):
    path, document = two.export()
    document["display"] = document["display"].replace("declared 10", "declared 11")
    path.write_text(json.dumps(document))
    assert two.sign(path)[0] == 4
    assert "DIGEST_MISMATCH" in two.err


def test_what_is_confirmed_wrongly_is_not_signed(two):
    path, _ = two.export()
    assert two.sign(path, digest="00000000")[0] == 4


def test_work_that_changed_meanwhile_is_not_opened_by_what_was_exported_before(two):
    two.sign(two.export()[0])
    two.world.make_round(surface=4.0)
    code, document = two("import", two.out / "signed")
    assert (code, document["results"][0]["code"]) == (4, "DIGEST_MISMATCH")


def test_a_rejection_signed_elsewhere_closes_and_its_person_takes_it_back(two):
    two.sign(two.export("--decision", "reject")[0])
    code, document = two("import", two.out / "signed")
    assert (code, document["results"][0]["recorded"], document["results"][0]["code"]) == (4, True, "REVOKED")
    for path in two.out.iterdir():
        path.unlink()
    assert two("export", two.id, "--reason", "read", "--out", two.out)[0] == 4
    two.sign(two.export("--as", "ana")[0])
    assert two("import", two.out / "signed")[0] == 0


def test_an_approval_exported_before_a_rejection_does_not_lift_it(two):
    two.sign(two.export()[0])
    two.world.decide(two.id, "ana", Verb.REJECT, datetime.now(UTC))
    code, document = two("import", two.out / "signed")
    assert (code, document["results"][0]["recorded"], document["results"][0]["code"]) == (4, False, "SUPERSEDED")


def test_a_decision_made_before_another_ledger_is_not_recorded(two, tmp_path):
    other = gate_world.World.create(tmp_path / "elsewhere")
    other.make_round()
    foreign = other.request(now=datetime.now(UTC))
    now = datetime.now(UTC)
    statement = replace(other.statement(foreign, now), origin="govern-ledger:elsewhere")
    (tmp_path / "signed").write_bytes(other.sign(statement))
    code, document = two("import", tmp_path / "signed")
    assert (code, document["results"][0]["code"]) == (4, "LOG_INCONSISTENT")


@pytest.mark.parametrize(("data", "code"), [(b"", "MALFORMED"), (b"{}", "MALFORMED"), (b"x" * 60_000, "TOO_LARGE")])
def test_what_is_no_envelope_is_refused(two, tmp_path, data, code):
    (tmp_path / "junk").write_bytes(data)
    assert two("import", tmp_path / "junk")[0] == 4
    assert code in two.err


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "govern/gate-export/v1"}'])
def test_what_is_no_export_is_not_signed(two, tmp_path, text):
    (tmp_path / "junk.json").write_text(text)
    assert two("sign", tmp_path / "junk.json", "--key", two.keys / "ana.pem", "--digest", "00", here=False)[0] == 3


def test_without_a_folder_the_document_is_asked_for_as_json(two):
    assert two("export", two.id, "--reason", "read", as_json=False)[0] == 2
    code, document = two("export", two.id, "--reason", "read")
    assert (code, document["decision"]) == (0, "APPROVE")


def test_an_encrypted_key_file_signs_where_there_is_no_openssh(two, monkeypatch, tmp_path):
    path, _ = two.export()
    encrypted = gate_world.NamedSigner("ana").private_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"word")
    )
    (two.keys / "ana.pem").write_bytes(encrypted)
    (tmp_path / "pass").write_text("word\n")
    (tmp_path / "pass").chmod(0o600)
    monkeypatch.setenv("PATH", str(tmp_path))
    digest = json.loads(path.read_text())["subject_sha256"][:8]
    arguments = ("--key", two.keys / "ana.pem", "--passphrase-file", tmp_path / "pass", "--digest", digest)
    code, document = two("sign", path, *arguments, here=False)
    (two.out / "signed").write_text(document["envelope"])
    assert (code, two("import", two.out / "signed")[0]) == (0, 0)


@pytest.mark.skipif(KEYGEN is None, reason="no ssh-keygen on this machine")
def test_openssh_alone_signs_the_exported_bytes(two, tmp_path):
    key = tmp_path / "id"
    subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    raw, _ = read_ssh_public_key(tmp_path / "id.pub")
    two.world.write_root(gate_world.person("ana", keys=(Key(raw),)), version=2)
    path, _ = two.export()
    pae = two.out / f"{path.stem}.pae"
    subprocess.run([KEYGEN, "-q", "-Y", "sign", "-n", "governance-pipeline", "-f", str(key), str(pae)], check=True)
    code, document = two("import", path, "--signature", f"{pae}.sig")
    assert (code, document["results"][0]["recorded"]) == (0, True)
    (recorded,) = two.world.history().decisions
    assert dsse.parse_envelope(recorded.envelope).signatures[0].sig.startswith(b"-----BEGIN SSH SIGNATURE")
    assert next(e for e in two.world.ledger.events(types={"APPROVED"})).body["assurance"] == "ssh_agent"
