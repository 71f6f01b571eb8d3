"""Proofs about a ledger: what a third party checks without it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.ledger
from governance_pipeline.cli.main import run
from governance_pipeline.ledger.ledger import Ledger

SCHEMAS = Path(governance_pipeline.ledger.__file__).parent / "schemas"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    for number in range(7):
        ledger.append("NOTE", "ana", {"text": f"é {number} \x1b[31m"}, ts=NOON)
    return ledger


@pytest.fixture
def proof(ledger, tmp_path, capfd):
    """Write a proof with a command; gives its file and document."""

    def _proof(*arguments):
        assert run(["ledger", *arguments, "--json", "--ledger", str(ledger.path)]) == 0
        text = capfd.readouterr().out
        file = tmp_path / "proof.json"
        file.write_text(text)
        document = json.loads(text)
        jsonschema.Draft202012Validator(json.loads((SCHEMAS / "ledger-proof-v1.json").read_text())).validate(document)
        return file, document

    return _proof


@pytest.fixture
def checked(capfd):
    """Check a proof file; gives exit code and document."""

    def _checked(file, *heads):
        arguments = [part for head in heads for part in ("--head", head)]
        code = run(["ledger", "check-proof", str(file), "--json", *arguments])
        out = capfd.readouterr().out
        document = json.loads(out) if out else None
        if document:
            schema = json.loads((SCHEMAS / "ledger-proof-check-v1.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(document)
        return code, document

    return _checked


def test_every_event_proves_its_place_in_every_size(ledger, proof, checked):
    events = [event.bytes.decode() for event in ledger.events()]
    for size in (1, 4, 7):
        head = ledger.head(size)
        for seq in range(1, size + 1):
            file, _ = proof("prove", str(seq), "--size", str(size))
            assert checked(file, f"{head.size}:{head.root}") == (
                0,
                {
                    "schema": "govern/ledger-proof-check/v1",
                    "is_proof": True,
                    "heads": [{"size": head.size, "root": head.root}],
                    "event": events[seq - 1],
                    "heads_not_in_it": [],
                },
            )


def test_a_grown_ledger_proves_the_state_somebody_kept(ledger, proof, checked):
    file, _ = proof("consistency", "3")
    heads = [f"{head.size}:{head.root}" for head in (ledger.head(3), ledger.head())]
    assert checked(file, *heads)[0] == 0
    code, document = checked(file, f"3:{'0' * 64}")
    assert code == 1
    assert document["heads_not_in_it"] == [{"size": 3, "root": "0" * 64}]


@pytest.mark.parametrize("member", ["event", "root", "path", "seq", "size"])
def test_a_proof_that_was_changed_proves_nothing(member, proof, checked):
    file, document = proof("prove", "2")
    changed = {
        "event": document["event"].replace("é 1", "é 2"),
        "root": "0" * 64,
        "path": document["path"][:-1],
        "seq": 3,
        "size": 9,
    }
    file.write_text(json.dumps({**document, member: changed[member]}))
    code, found = checked(file)
    assert (code, found["is_proof"], found["event"]) == (1, False, None)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "not json",
        '{"schema": "govern/ledger-proof/v1", "kind": "inclusion"}',
        '{"schema": "govern/ledger-proof/v1", "kind": ["x"]}',
        '{"schema": "govern/ledger-proof/v1", "kind": "consistency", "old_size": true, "old_root": "", "size": 1, "root": "", "path": []}',
        '{"schema": "govern/ledger-proof/v1", "kind": "inclusion", "seq": 1, "event": 1, "size": 1, "root": "zz", "path": []}',
    ],
)
def test_what_is_no_proof_is_exit_3_and_prints_nothing(text, tmp_path, checked):
    file = tmp_path / "proof.json"
    file.write_text(text)
    assert checked(file) == (3, None)


@pytest.mark.parametrize(
    "arguments",
    [
        ("prove", "8"),
        ("prove", "3", "--size", "2"),
        ("prove", "1", "--size", "8"),
        ("consistency", "8"),
        ("consistency", "5", "4"),
    ],
)
def test_what_is_not_in_the_ledger_is_exit_2(arguments, ledger, capfd):
    assert run(["ledger", *arguments, "--ledger", str(ledger.path)]) == 2
    assert capfd.readouterr().out == ""


def test_without_json_both_say_what_they_would_prove(ledger, capfd):
    head, old = ledger.head(), ledger.head(2)
    run(["ledger", "prove", "2", "--ledger", str(ledger.path)])
    run(["ledger", "consistency", "2", "--ledger", str(ledger.path)])
    first, second = capfd.readouterr().out.splitlines()
    assert first.startswith(f"event 2 is in the ledger with head {head.size}:{head.root}")
    assert second.startswith(f"2:{old.root} is the beginning of 7:{head.root}")


def test_the_page_obeys_no_event(proof, capfd):
    file, _ = proof("prove", "1")
    assert run(["ledger", "check-proof", str(file)]) == 0
    out = capfd.readouterr().out
    assert "the event is in the ledger with this head" in out
    assert "\x1b" not in out
