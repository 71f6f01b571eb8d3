"""The trust commands: one signed root, pinned by a file, grown only by its key."""

from __future__ import annotations

import base64
import json
import os
import pwd
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import governance_pipeline.trust
from governance_pipeline.cli.main import run
from governance_pipeline.cli.trust import trust
from governance_pipeline.errors import StorageError, UnreadableError, UsageError
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.root_keeping import KEY_PROVEN, add_principal
from governance_pipeline.trust.config import load_config
from governance_pipeline.trust.keys import generate_key, load_signer
from governance_pipeline.trust.principals import Key, Kind, Principal, Role
from governance_pipeline.trust.reasons import ReasonCode, Refusal
from governance_pipeline.trust.root_document import load_root, sign_root

SCHEMA = Path(governance_pipeline.trust.__file__).parent / "schemas" / "trust-show-v1.json"


@pytest.fixture
def govern(tmp_path):
    """Run `govern trust …` with a configuration of its own; gives stdout, raises what it raises."""

    def _govern(*arguments, answers: str = "") -> str:
        full = [*arguments, "--config", str(tmp_path / "gate.toml")]
        result = CliRunner().invoke(trust, full, standalone_mode=False, input=answers)
        if result.exception is not None:
            raise result.exception
        return result.stdout

    return _govern


@pytest.fixture
def document(govern):
    """Run a command with --json; gives its document, checked against the shipped schema."""

    def _document(*arguments, **more):
        answer = json.loads(govern(*arguments, "--json", **more))
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(answer)
        return answer

    return _document


@pytest.fixture
def made(document, tmp_path):
    """Make a throw-away root."""
    return document("init", "--dir", str(tmp_path / "trust"), "--throwaway")


def test_a_throw_away_root_is_marked_and_pinned(made, document, govern, tmp_path):
    assert (made["version"], made["is_throwaway"]) == (1, True)
    assert [(p["id"], p["kind"], p["roles"]) for p in made["principals"]] == [
        ("root", "human", ["root"]), ("log", "service", ["log"]),
    ]  # fmt: skip
    assert made["root_fingerprint"] == made["principals"][0]["keys"][0]["fingerprint"]
    assert document("show") == made
    assert "THROW-AWAY" in govern("show")
    assert not load_signer(tmp_path / "trust" / "root-key.pem", None).is_encrypted


def test_a_real_root_asks_for_a_passphrase_twice_and_is_not_marked(document, tmp_path):
    made = document("init", "--dir", str(tmp_path / "trust"), "--owner", "ana", answers="four words\nfour words\n")
    assert (made["is_throwaway"], made["principals"][0]["id"]) == (False, "ana")
    assert load_signer(tmp_path / "trust" / "root-key.pem", b"four words").is_encrypted


def test_nothing_is_overwritten_and_nothing_is_half_made(made, govern, tmp_path):
    before = {p: p.read_bytes() for p in (tmp_path / "trust").iterdir()}
    with pytest.raises(UsageError, match="never overwritten"):
        govern("init", "--dir", str(tmp_path / "other"), "--throwaway")
    assert not (tmp_path / "other").exists()
    (tmp_path / "gate.toml").unlink()
    with pytest.raises(UsageError, match="never overwritten"):
        govern("init", "--dir", str(tmp_path / "trust"), "--throwaway")
    assert {p: p.read_bytes() for p in (tmp_path / "trust").iterdir()} == before


def test_a_place_that_cannot_be_used_leaves_no_configuration(govern, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        govern("init", "--dir", str(tmp_path / "file" / "trust"), "--throwaway")
    assert not (tmp_path / "gate.toml").exists()


def test_an_added_person_can_sign_from_the_next_version_on(made, document, tmp_path):
    key = tmp_path / "ana.pem"
    grown = document("add", "ana", "--kind", "human", "--role", "approver", "--new-key", str(key), "--days", "30")
    ana = grown["principals"][2]
    assert (grown["version"], ana["id"], ana["roles"]) == (2, "ana", ["approver"])
    assert ana["keys"][0]["expires"] > ana["keys"][0]["not_before"]
    assert load_signer(key, None).public_key
    assert document("show") == grown
    assert [e.body["version"] for e in Ledger(Path(grown["ledger"])).events()] == [1, 2]


def test_an_agent_is_added_without_key_and_a_key_may_be_given_as_a_file(made, document, tmp_path):
    generate_key(tmp_path / "k.pem", None)
    encoded = base64.b64encode(load_signer(tmp_path / "k.pem", None).public_key).decode()
    (tmp_path / "k.b64").write_text(f"{encoded}\n")
    document("add", "coder-5", "--kind", "agent", "--controller", "ana", "--alias", "claude")
    grown = document(
        "add", "check", "--kind", "validator", "--role", "validator", "--public-key", str(tmp_path / "k.b64"),
        "--proof", str(_proof(tmp_path, made, "check", "k.pem")),
    )  # fmt: skip
    coder, check = grown["principals"][2:]
    assert (coder["controller"], coder["aliases"], coder["keys"]) == ("ana", ["claude"], [])
    assert check["keys"][0]["public_key"] == encoded
    (kept,) = Ledger(Path(grown["ledger"])).events(types={KEY_PROVEN})
    assert (kept.body["principal"], kept.body["key_fingerprint"]) == ("check", check["keys"][0]["fingerprint"])


def _proof(folder, made, principal, key):
    """Prove a key as its owner does, without any configuration."""
    result = CliRunner().invoke(
        trust, ["prove", principal, "--root", made["root_fingerprint"], "--key", str(folder / key)]
    )
    assert result.exit_code == 0, result.output
    (folder / f"{principal}.proof").write_text(result.stdout)
    return folder / f"{principal}.proof"


def test_a_key_is_not_added_without_proof_or_with_that_of_another_name(made, document, govern, tmp_path):
    generate_key(tmp_path / "ben.pem", None)
    encoded = base64.b64encode(load_signer(tmp_path / "ben.pem", None).public_key).decode()
    (tmp_path / "ben.pub").write_text(encoded)
    added = ("--kind", "human", "--role", "approver", "--public-key", str(tmp_path / "ben.pub"))
    with pytest.raises(click.UsageError, match="govern trust prove"):
        govern("add", "eve", *added)
    with pytest.raises(Refusal, match="govern trust prove eve") as refused:
        govern("add", "eve", *added, "--proof", str(_proof(tmp_path, made, "ben", "ben.pem")))
    assert refused.value.code is ReasonCode.WRONG_CHECKPOINT
    assert document("show") == made
    short = CliRunner().invoke(trust, ["prove", "ben", "--root", "00ff", "--key", str(tmp_path / "ben.pem")])
    assert (short.exit_code, "64 lower-case hex" in short.output) == (2, True)


def test_a_version_nobody_made_keeps_no_owner_from_revoking_a_key(made, document, govern, tmp_path):
    grown = document("add", "ana", "--kind", "human", "--role", "approver", "--new-key", str(tmp_path / "ana.pem"))
    key = grown["principals"][2]["keys"][0]["fingerprint"]
    for body in ({"version": 2**53 - 1, "sha256": "f" * 64}, {"version": 3, "sha256": "f" * 64}):
        unique = f"trust-root:{body['version']}"
        Ledger(Path(made["ledger"])).append("TRUST_ROOT", "forger", body, ts=datetime.now(UTC), unique=unique)
    revoked = document("revoke", key, "--reason", "lost")
    assert (revoked["version"], revoked["principals"][2]["keys"][0]["revoked_at"] is None) == (3, False)
    assert document("show") == revoked


def test_a_ledger_without_a_log_key_gets_one_and_a_ledger_with_one_another(made, document, tmp_path):
    grown = document("log-key", "--new-key", str(tmp_path / "log-2.pem"))
    (log,) = [p for p in grown["principals"] if p["roles"] == ["log"]]
    assert len(log["keys"]) == 2
    assert load_config(tmp_path / "gate.toml").log_key == tmp_path / "log-2.pem"


@pytest.mark.parametrize(
    "arguments",
    [
        ("bot", "--kind", "agent", "--role", "approver"),
        ("ROOT", "--kind", "agent"),
        ("bad\x1b[0m", "--kind", "agent"),
        ("root", "--kind", "human", "--role", "approver"),
        ("root", "--kind", "human"),
        ("ann", "--kind", "human", "--alias", "qq", "--alias", "qq"),
        ("x" * 201, "--kind", "agent"),
        ("ann", "--kind", "human", "--alias", "x" * 201),
        ("ann", "--kind", "agent", "--controller", "x" * 201),
        ("ann", "--kind", "agent", "--controller", "bad\x1b[0m"),
        ("ann", "--kind", "agent", *(word for n in range(101) for word in ("--alias", f"name {n}"))),
    ],
)
def test_a_principal_that_breaks_a_rule_changes_nothing(made, document, govern, tmp_path, arguments):
    key = tmp_path / "new.pem"
    before = {p: p.read_bytes() for p in (tmp_path / "trust").iterdir() if p.suffix != ".lock"}
    with pytest.raises(UsageError):
        govern("add", *arguments, *(() if arguments[0] == "root" else ("--new-key", str(key))))
    assert document("show") == made
    assert {p: p.read_bytes() for p in before} == before
    assert not key.exists()


def test_a_root_that_is_full_takes_no_more_and_stays_in_force(made, document, govern, tmp_path):
    config = load_config(tmp_path / "gate.toml")
    owner, now = load_signer(config.root.parent / "root-key.pem", None), datetime.now(UTC)
    root = load_root(config.root, config.root_fingerprint, now)
    most = tuple(Principal(f"a{n}", Kind.AGENT, f"a{n}") for n in range(499))
    with pytest.raises(UsageError, match="at most"):  # bytes are used up before the 500 principals are
        sign_root(replace(root, principals=(*root.principals, *most)), owner)
    keys = tuple(Key(Ed25519PrivateKey.generate().public_key().public_bytes_raw()) for _ in range(20))
    add_principal(config, Principal("ann", Kind.HUMAN, "ann", frozenset({Role.APPROVER}), keys), owner, now)
    grown = document("show")
    with pytest.raises(UsageError, match="no reader would take"):
        govern("add", "ann", "--kind", "human", "--new-key", str(tmp_path / "one-more.pem"))
    assert document("show") == grown
    assert not (tmp_path / "one-more.pem").exists()


@pytest.mark.parametrize(
    "point",
    [
        "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "7v///////////////////////////////////////38=",
        "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    ],
)
def test_a_key_anybody_could_sign_for_is_not_added(made, document, govern, tmp_path, point):
    (tmp_path / "k.b64").write_text(point)
    with pytest.raises(UnreadableError, match="small order"):
        govern("add", "eve", "--kind", "human", "--role", "approver", "--public-key", str(tmp_path / "k.b64"),
               "--proof", str(tmp_path / "k.b64"))  # fmt: skip
    assert document("show") == made


@pytest.mark.parametrize("owner", ["", "bad\x1b[0m", "x" * 201])
def test_an_owner_that_cannot_be_one_leaves_nothing_behind(document, govern, tmp_path, owner):
    with pytest.raises(UsageError):
        govern("init", "--dir", str(tmp_path / "trust"), "--owner", owner, "--throwaway")
    assert list(tmp_path.iterdir()) == []
    assert document("init", "--dir", str(tmp_path / "trust"), "--throwaway")["version"] == 1


def test_a_configuration_that_cannot_be_written_takes_everything_back(document, govern, tmp_path, monkeypatch):
    def _full(config):
        raise StorageError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("governance_pipeline.ledger.root_keeping.write_config", _full)
        with pytest.raises(StorageError, match="full"):
            govern("init", "--dir", str(tmp_path / "trust"), "--throwaway")
    assert list((tmp_path / "trust").iterdir()) == []
    assert document("init", "--dir", str(tmp_path / "trust"), "--throwaway")["version"] == 1


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_others_can_write_keeps_no_trust_root(govern, tmp_path, mode):
    (tmp_path / "trust").mkdir()
    (tmp_path / "trust").chmod(mode)
    with pytest.raises(UsageError, match="written by others"):
        govern("init", "--dir", str(tmp_path / "trust"), "--throwaway")
    assert list((tmp_path / "trust").iterdir()) == []


def test_two_ways_to_one_key_are_refused(made, govern):
    import click

    with pytest.raises(click.UsageError, match="one of them"):
        govern("add", "ana", "--kind", "human", "--public-key", "a", "--new-key", "b")


def test_another_key_than_the_pinned_one_adds_nobody(made, govern, document, tmp_path):
    document("add", "ana", "--kind", "human", "--role", "approver", "--new-key", str(tmp_path / "ana.pem"))
    with pytest.raises(UsageError, match="not the root key"):
        govern("add", "eve", "--kind", "human", "--role", "approver", "--root-key", str(tmp_path / "ana.pem"))


def test_keys_of_a_real_root_are_asked_for_and_protected(document, tmp_path):
    document("init", "--dir", str(tmp_path / "trust"), answers="root words\nroot words\n")
    key = str(tmp_path / "ana.pem")
    answers = "root words\nana words\nana words\n"
    document("add", "ana", "--kind", "human", "--role", "approver", "--new-key", key, answers=answers)
    assert load_signer(Path(key), b"ana words").is_encrypted
    with pytest.raises(UsageError, match="wrong passphrase"):
        document("add", "ben", "--kind", "human", answers="guess\n")


def test_an_older_root_put_back_is_refused_with_its_code(made, document, govern, tmp_path):
    root = tmp_path / "trust" / "trust-root.json"
    old = root.read_bytes()
    document("add", "coder-5", "--kind", "agent")
    root.write_bytes(old)
    for command in (("show",), ("add", "eve", "--kind", "agent")):
        with pytest.raises(Refusal) as refused:
            govern(*command)
        assert refused.value.code is ReasonCode.ROOT_ROLLBACK


def test_a_version_that_was_not_recorded_before_a_crash_is_recorded_by_the_next_change(made, document, tmp_path):
    ledger = tmp_path / "trust" / "ledger.sqlite"
    before = ledger.read_bytes()
    document("add", "coder-5", "--kind", "agent")
    ledger.write_bytes(before)
    document("add", "coder-6", "--kind", "agent")
    assert [e.body["version"] for e in Ledger(ledger).events()] == [1, 2, 3]


def test_a_refusal_exits_with_4_and_a_missing_configuration_with_2(made, tmp_path, capfd):
    (tmp_path / "trust" / "trust-root.json").write_bytes(b"{}")
    assert run(["trust", "show", "--config", str(tmp_path / "gate.toml")]) == 4
    assert "MALFORMED" in capfd.readouterr().err
    assert run(["trust", "show", "--config", str(tmp_path / "none.toml")]) == 2


def test_the_configuration_of_the_account_is_the_default(tmp_path, monkeypatch, capfd):
    account = pwd.struct_passwd(("x", "x", os.getuid(), 0, "", str(tmp_path / "home"), ""))
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: account)
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    assert run(["trust", "init", "--dir", str(tmp_path / "trust"), "--throwaway"]) == 0
    assert (tmp_path / "home" / ".config" / "governance-pipeline" / "gate.toml").is_file()
    assert run(["trust", "show"]) == 0
    assert "THROW-AWAY" in capfd.readouterr().out


def test_a_revoked_key_is_shown_as_one_and_its_beginning_is_enough(made, document, govern, tmp_path):
    grown = document("add", "ana", "--kind", "human", "--role", "approver", "--new-key", str(tmp_path / "ana.pem"))
    name = grown["principals"][1]["keys"][0]["fingerprint"]
    revoked = document("revoke", name[:8], "--reason", "the laptop was lost")
    assert (revoked["version"], revoked["principals"][1]["keys"][0]["revoked_at"] is not None) == (3, True)
    assert "REVOKED" in govern("show")
    for unknown in ("zz", ""):
        with pytest.raises(click.BadParameter, match=r"keys? of the root begin"):
            govern("revoke", unknown, "--reason", "x")
    with pytest.raises(UsageError, match="govern trust rotate"):
        govern("revoke", made["root_fingerprint"], "--reason", "x")


def test_a_root_is_renewed_before_it_expires(made, document):
    renewed = document("renew", "--days", "700")
    assert (renewed["version"], renewed["expires"] > made["expires"]) == (2, True)
    assert document("show") == renewed


def test_a_rotated_root_key_pins_the_new_one_and_revokes_the_old_for_everybody(made, document, tmp_path):
    old_pin = load_config(tmp_path / "gate.toml")
    rotated = document("rotate", "--new-key", str(tmp_path / "trust" / "root-2.pem"))
    assert rotated["version"] == 3
    assert rotated["root_fingerprint"] != made["root_fingerprint"]
    assert load_config(tmp_path / "gate.toml").root_fingerprint == rotated["root_fingerprint"]
    assert [key["revoked_at"] is not None for key in rotated["principals"][0]["keys"]] == [True, False]
    with pytest.raises(Refusal) as refused:
        load_root(old_pin.root, old_pin.root_fingerprint, datetime.now(UTC))
    assert refused.value.code in (ReasonCode.BAD_SIGNATURE, ReasonCode.REVOKED_KEY)
    with pytest.raises(UsageError, match="not the root key"):
        document("renew")
    assert document("renew", "--root-key", str(tmp_path / "trust" / "root-2.pem"))["version"] == 4


def test_a_rotation_that_cannot_write_its_key_changes_nothing(made, document, govern, tmp_path):
    before = (tmp_path / "gate.toml").read_bytes(), (tmp_path / "trust" / "trust-root.json").read_bytes()
    with pytest.raises(StorageError):
        govern("rotate", "--new-key", str(tmp_path / "nowhere" / "key.pem"))
    assert before == ((tmp_path / "gate.toml").read_bytes(), (tmp_path / "trust" / "trust-root.json").read_bytes())
    assert document("show") == made
