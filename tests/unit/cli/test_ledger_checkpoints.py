"""A checkpoint of the log is kept elsewhere, and the ledger is held to it: what was cut off or written anew is found."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.ledger
from governance_pipeline.cli.main import run
from governance_pipeline.ledger.checkpoint import signed_checkpoint
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.remembered import head_path, kept_conflicts
from governance_pipeline.trust.config import load_config, write_config
from governance_pipeline.trust.keys import KeyFileSigner, load_signer

SCHEMAS = Path(governance_pipeline.ledger.__file__).parent / "schemas"


class Place:
    """A throw-away trust root with its ledger, and the commands on it."""

    def __init__(self, folder, capfd):
        self.folder, self.capfd = folder, capfd
        self.config_path = folder / "mine" / "gate.toml"
        self.run("trust", "init", "--dir", str(folder / "trust"), "--throwaway")
        self.ledger = Ledger(self.config.ledger)

    @property
    def config(self):
        return load_config(self.config_path)

    @property
    def log(self) -> KeyFileSigner:
        return load_signer(self.config.log_key, None)

    def run(self, *arguments):
        code = run([*arguments, "--config", str(self.config_path)])
        printed = self.capfd.readouterr()
        self.err = printed.err
        return code, printed.out

    def json(self, *arguments):
        code, out = self.run("ledger", *arguments, "--json")
        document = json.loads(out)
        schema = document["schema"].removeprefix("govern/").replace("/", "-")
        jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{schema}.json").read_text())).validate(document)
        return code, document

    def append(self, number):
        for _ in range(number):
            self.ledger.append("NOTE", "ana", {}, ts=datetime.now(UTC))

    def note(self, name="kept.note"):
        code, text = self.run("ledger", "checkpoint")
        assert code == 0, self.err
        (self.folder / name).write_text(text)
        return self.folder / name

    def forged(self, head, name="forged.note"):
        (self.folder / name).write_text(signed_checkpoint(head, self.config, self.log))
        return self.folder / name


@pytest.fixture
def place(tmp_path, capfd):
    return Place(tmp_path, capfd)


def test_a_checkpoint_is_a_signed_note_that_a_grown_ledger_is_held_to(place):
    kept = place.note()
    assert kept.read_text().startswith(f"govern-ledger:{place.config.root_fingerprint}\n1\n")
    place.append(3)
    assert place.json("verify", "--checkpoint", str(kept))[0] == 0
    code, document = place.json("checkpoint")
    assert (code, document["size"], len(document["verifier_keys"])) == (0, 4, 1)


def test_a_ledger_cut_off_or_put_back_is_found_by_the_memory_beside_the_configuration(place):
    for name in ("", "-wal", "-shm"):
        path = place.ledger.path.with_name(place.ledger.path.name + name)
        if path.exists():
            shutil.copy(path, place.folder / f"copy{name}")
    place.append(3)
    assert place.json("verify")[0] == 0
    for name in ("", "-wal", "-shm"):
        place.ledger.path.with_name(place.ledger.path.name + name).unlink(missing_ok=True)
        if (place.folder / f"copy{name}").exists():
            shutil.copy(place.folder / f"copy{name}", place.ledger.path.with_name(place.ledger.path.name + name))
    code, document = place.json("verify")
    assert (code, [fault["code"] for fault in document["faults"]]) == (1, ["truncated"])
    assert place.run("ledger", "checkpoint")[0] == 1
    assert "nothing is signed: truncated" in place.err
    head_path(place.config).unlink()  # the owner looked, and says that this ledger is the true one
    assert place.json("verify")[0] == 0


@pytest.mark.parametrize(("size", "code"), [(1, "equivocation"), (99, "truncated")])
def test_a_checkpoint_of_another_history_is_kept_as_proof(place, size, code):
    place.append(2)
    forged = place.forged(Head(size, "ab" * 32))
    exit_code, document = place.json("verify", "--checkpoint", str(forged))
    assert (exit_code, [fault["code"] for fault in document["faults"]]) == (1, [code])
    (kept,) = kept_conflicts(place.config)
    assert kept.read_bytes() == forged.read_bytes()
    assert str(kept) in place.err


def test_two_histories_the_log_signed_are_named(place):
    one, two = place.forged(Head(50, "ab" * 32)), place.forged(Head(50, "cd" * 32), "two.note")
    code, document = place.json("verify", "--checkpoint", str(one), "--checkpoint", str(two))
    assert (code, {fault["code"] for fault in document["faults"]}) == (1, {"truncated", "equivocation"})
    assert len(kept_conflicts(place.config)) == 2


def test_a_checkpoint_somebody_else_signed_or_of_another_log_changes_nothing(place):
    (place.folder / "key.pem").write_bytes(b"")
    other = Place(place.folder / "other", place.capfd)
    theirs = other.note()
    assert place.run("ledger", "verify", "--checkpoint", str(theirs))[0] == 4
    assert "WRONG_CHECKPOINT" in place.err
    stranger = place.folder / "stranger.note"
    stranger.write_text(signed_checkpoint(Head(1, "ab" * 32), place.config, other.log))
    assert place.run("ledger", "verify", "--checkpoint", str(stranger))[0] == 4
    assert "BAD_SIGNATURE" in place.err
    stranger.write_text("x")
    assert place.run("ledger", "verify", "--checkpoint", str(stranger))[0] == 3
    assert kept_conflicts(place.config) == []
    assert run(["ledger", "verify", "--ledger", str(place.ledger.path), "--checkpoint", str(theirs)]) == 2


def test_without_a_key_of_the_log_nothing_is_signed(place):
    text = place.config_path.read_text()
    place.config_path.write_text("\n".join(line for line in text.split("\n") if "log_key" not in line))
    assert place.run("ledger", "checkpoint")[0] == 2
    assert "log_key" in place.err
    assert place.json("verify")[0] == 0


def test_proofs_are_held_to_checkpoints_and_the_key_of_the_log(place):
    old = place.note()
    key = place.json("checkpoint")[1]["verifier_keys"][0]
    place.append(4)
    new = place.note("new.note")
    code, proof = place.json("consistency", str(old), str(new))
    assert (code, proof["old_size"], proof["size"]) == (0, 1, 5)
    (place.folder / "p.json").write_text(json.dumps(proof))
    check = ["ledger", "check-proof", str(place.folder / "p.json")]
    assert run([*check, "--checkpoint", str(old), "--checkpoint", str(new), "--log-key", key]) == 0
    forged = place.forged(Head(1, "ab" * 32))
    assert run([*check, "--checkpoint", str(forged), "--log-key", key]) == 1
    assert run([*check, "--checkpoint", str(old), "--log-key", key[:-8] + "AAAAAAA="]) == 3
    assert run([*check, "--checkpoint", str(old)]) == 2
    assert place.run("ledger", "consistency", str(forged))[0] == 1
    assert place.run("ledger", "consistency", "0")[0] != 0


def test_a_version_of_the_root_nobody_signed_is_named(place):
    place.ledger.append("TRUST_ROOT", "forger", {"version": 99, "sha256": "f" * 64}, ts=datetime.now(UTC))
    code, document = place.json("verify")
    assert (code, [(f["seq"], f["code"]) for f in document["faults"]]) == (1, [(2, "unusable")])


def test_a_verifier_elsewhere_finds_what_was_put_back_with_its_memory(place):
    """Tier T3: the copy of a ledger is held to what another account has seen, whatever this one forgot."""
    (there := place.folder / "ci").mkdir(mode=0o700)
    outside = place.config._replace(
        root=there / "root.json", ledger=there / "ledger.sqlite", source=there / "gate.toml", log_key=None
    )
    write_config(outside)

    def looked():
        for source, copy in ((place.config.root, outside.root), (place.ledger.path, outside.ledger)):
            shutil.copy(source, copy)
        return run(["ledger", "verify", "--config", str(outside.source)])

    _closed(place)
    shutil.copytree(place.folder / "trust", place.folder / "old")
    shutil.copytree(place.folder / "mine", place.folder / "old mine")
    place.append(3)
    _closed(place)
    assert looked() == 0
    for name, old in (("trust", "old"), ("mine", "old mine")):
        shutil.rmtree(place.folder / name)
        shutil.copytree(place.folder / old, place.folder / name)
    assert place.run("ledger", "verify")[0] == 0, place.err  # the machine itself cannot know
    assert looked() == 1


def _closed(place):
    """Fold the write-ahead log into the file, so that one file is the whole ledger."""
    with closing(sqlite3.connect(place.ledger.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
