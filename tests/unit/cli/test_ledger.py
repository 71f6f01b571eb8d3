"""The ledger commands: what was recorded, and whether it was touched."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.ledger
from governance_pipeline.cli.main import run
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.merkle import merkle_root

SCHEMAS = Path(governance_pipeline.ledger.__file__).parent / "schemas"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    for text in ("a", "é\x1b[31m"):
        ledger.append("NOTE", "ana", {"text": text}, ts=NOON)
    return ledger


@pytest.fixture
def govern(ledger, capfd):
    """Run `govern ledger …` on the ledger; gives exit code and stdout."""

    def _govern(command, *arguments):
        code = run(["ledger", command, "--ledger", str(ledger.path), *arguments])
        return code, capfd.readouterr().out

    return _govern


def _document(answer):
    code, stdout = answer
    document = json.loads(stdout)
    schema = json.loads((SCHEMAS / f"{document['schema'].split('/')[1]}-v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return code, document


def _touch(ledger):
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER events_no_update")
        connection.execute("UPDATE events SET actor = 'eve' WHERE seq = 2")


def test_a_sound_ledger_says_so_with_its_head(govern, ledger):
    code, document = _document(govern("verify", "--json"))
    assert (code, document["is_sound"], document["size"], document["root"]) == (0, True, 2, ledger.head().root)
    code, text = govern("verify", "--head", f"1:{ledger.head(1).root}")
    assert (code, "sound, 2 events" in text) == (0, True)


def test_a_touched_ledger_exits_with_1_and_names_the_event(govern, ledger):
    _touch(ledger)
    code, document = _document(govern("verify", "--json"))
    assert (code, document["is_sound"]) == (1, False)
    assert (2, "columns_differ") in [(fault["seq"], fault["code"]) for fault in document["faults"]]
    code, text = govern("verify")
    assert "touched" in text
    assert "event 2: columns_differ" in text


def test_a_head_kept_elsewhere_is_held_against_it(govern):
    assert govern("verify", "--head", "2:" + "00" * 32)[0] == 1
    assert govern("verify", "--head", "3:" + "00" * 32)[0] == 1
    assert govern("verify", "--head", "2")[0] == 2


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("UNFREEZE", {"freeze_seq": 999}),
        ("APPROVED", {}),
        ("REQUESTED", {}),
        ("FREEZE", {}),
        ("TRUST_ROOT", {"version": "2"}),
    ],
)
def test_an_event_the_gate_cannot_use_is_named(govern, ledger, kind, body):
    junk = ledger.append(kind, "forger", body, ts=NOON)
    code, document = _document(govern("verify", "--json"))
    assert (code, document["is_sound"], document["unaccounted"]) == (1, False, None)
    assert [(fault["seq"], fault["code"]) for fault in document["faults"]] == [(junk.seq, "unusable")]
    assert f"event {junk.seq}: unusable" in govern("verify")[1]


def test_a_published_file_without_its_events_is_named(govern, ledger, tmp_path):
    folder = tmp_path / "lake" / "published_features" / "round=r1"
    folder.mkdir(parents=True)
    (folder / ("0" * 64 + ".parquet")).write_bytes(b"PAR1")
    code, document = _document(govern("verify", "--json", "--lake", str(tmp_path / "lake")))
    assert (code, document["is_sound"], document["faults"]) == (1, False, [])
    assert [(f["asset"], f["round_id"]) for f in document["unaccounted"]] == [("published_features", "r1")]
    assert "sound, the lake is not" in govern("verify", "--lake", str(tmp_path / "lake"))[1]
    assert _document(govern("verify", "--json", "--lake", str(tmp_path / "none")))[1]["unaccounted"] == []


def test_a_screen_is_shown_what_it_would_obey_and_a_file_gets_the_bytes(ledger, capfd, monkeypatch):
    ledger.append("NOTE", "ana", {"text": "a\x9b31m\u202eb\u200b\U000e0041é"}, ts=NOON)
    arguments = ["ledger", "export", "--ledger", str(ledger.path), "--after", "2"]
    assert run(arguments) == 0
    assert "\u202e" in (exact := capfd.readouterr().out)
    monkeypatch.setattr("governance_pipeline.cli.ledger._is_screen", lambda: True)
    assert run(arguments) == 0
    shown = capfd.readouterr()
    assert all(c.isprintable() for c in shown.out.rstrip("\n"))
    assert json.loads(shown.out) == json.loads(exact)
    assert "redirect it" in shown.err


def test_the_exported_lines_are_the_bytes_under_the_root(govern, ledger):
    for form in ((), ("--jsonl",)):
        code, text = govern("export", *form)
        lines = text.encode().split(b"\n")[:-1]
        assert code == 0
        assert merkle_root(lines).hex() == ledger.head().root
    assert govern("export", "--after", "1")[1].count("\n") == 1


def test_the_exported_document_holds_the_events(govern):
    code, document = _document(govern("export", "--json"))
    assert (code, [event["seq"] for event in document["events"]]) == (0, [1, 2])
    assert document["events"][1]["body"] == {"text": "é\x1b[31m"}


def test_hostile_text_of_an_event_is_escaped_on_its_way_out(govern):
    for form in ("--json", "--jsonl"):
        assert "\x1b" not in govern("export", form)[1]
    assert govern("export", "--json")[1].isascii()


def test_two_ways_to_say_one_thing_are_refused(govern, tmp_path):
    assert govern("export", "--json", "--jsonl")[0] == 2
    assert govern("verify", "--config", str(tmp_path / "gate.toml"))[0] == 2


def test_a_ledger_that_is_not_there_cannot_be_read(tmp_path):
    assert run(["ledger", "verify", "--ledger", str(tmp_path / "none")]) == 3


def test_the_ledger_is_found_through_the_configuration(tmp_path, capfd):
    config = str(tmp_path / "gate.toml")
    assert run(["trust", "init", "--dir", str(tmp_path / "trust"), "--throwaway", "--config", config]) == 0
    capfd.readouterr()
    assert run(["ledger", "export", "--config", config]) == 0
    assert json.loads(capfd.readouterr().out)["type"] == "TRUST_ROOT"


def test_a_file_called_like_a_secret_keeps_its_name_and_the_advice_in_messages(tmp_path, capfd):
    path = tmp_path / "passwd"
    path.write_text("root:x:0:0")
    path.chmod(0o600)
    for arguments in (("--ledger", str(path)), ("--config", str(path)), ("--config", str(tmp_path / "credentials"))):
        assert run(["ledger", "verify", *arguments]) in (2, 3)
        said = capfd.readouterr().err
        assert "[masked" not in said
        assert arguments[1] in said
