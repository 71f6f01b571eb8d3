"""The confidence commands: a rating moves a score at once, a sealed day is closed for ever, and nothing is guessed."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.confidence
from governance_pipeline.cli.main import run
from governance_pipeline.ledger.ledger import Ledger

SCHEMAS = Path(governance_pipeline.confidence.__file__).parent / "schemas"
RUNTIME = "claude-code/opus-4-6/high"


@pytest.fixture
def govern(tmp_path, capsys, monkeypatch):
    """Run `govern confidence …` on an initialised place; gives exit code, stdout and stderr."""
    monkeypatch.setenv("GOVERN_CONFIDENCE", str(tmp_path / "confidence"))

    def _govern(*arguments):
        code = run(["confidence", *arguments])
        return code, *capsys.readouterr()

    assert _govern("init", "--agent", "ada", "--runtime", RUNTIME, "--user", "kim")[0] == 0
    return _govern


@pytest.fixture
def document(govern):
    """Run a command with --json and hold its document to its schema."""

    def _document(*arguments):
        code, out, err = govern(*arguments, "--json")
        assert (code, err) == (0, "")
        found = json.loads(out)
        name = found["schema"].removeprefix("govern/").replace("/", "-")
        jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text())).validate(found)
        return found

    return _document


def test_a_rating_moves_the_score_at_once_and_says_why_it_was_changed(document):
    first = document("rate", "error", "--pattern", "EXCUSE")
    again = document("rate", "error", "--pattern", "EXCUSE", "--note", "blamed the tool")
    assert [row["applied"] for row in first["events"] + again["events"]] == [-5, -10]
    assert again["events"][0]["reasons"] == ["repeat_in_session"]
    assert again["subject"]["tracks"][0]["domains"]["COMMS"]["score"] == 35
    assert again["subject"]["patterns"][0]["escalation"] == "stop_and_root_cause"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rate", "exceptional", "7", "--domain", "TECH"), "streak_below_3"),
        (("rate", "correct"), "missing_field (domain)"),
        (("rate", "error", "--domain", "TECH"), "missing_field (severity)"),
        (("rate", "pro", "SECRETARY"), "pattern_mismatch"),
        (("rate", "correct", "--domain", "TECH", "--agent", "eve"), "unknown_subject"),
        (("rate", "correct", "--domain", "TECH", "--runtime", "x/y/z"), "unknown_pool"),
        (("rate", "correct", "--domain", "TECH", "--day", "2020-01-01"), "day_mismatch"),
        (("rate", "correct", "--domain", "TECH", "--agent", "ada", "--user", "kim"), "two subjects"),
        (("explain", "--agent", "eve"), "is registered"),
        (("explain", "--domain", "LAW"), "the five are"),
        (("register", "pattern", "EXCUSE", "--role", "agent", "--kind", "anti"), "already registered otherwise"),
        (("register", "team", "t", "--agent", "ada", "--user", "nobody"), "whom no registry line registers"),
        (("seal", "--without-ledger", "--self", "TECH"), "DOMAIN=N"),
        (("seal", "--without-ledger", "--self", "TECH=1e400"), "DOMAIN=N"),
        (("seal", "--without-ledger", "--judged", "TECH=" + "9" * 5000), "DOMAIN=N"),
        (("seal", "--without-ledger", "--judged", "TECH=60.00000000000000001"), "DOMAIN=N"),
        (("register", "subject", "agent", "eve", "--weight", "TECH=1e400"), "DOMAIN=N"),
        (("register", "subject", "agent", "eve", "--weight", "TECH=1.00000000000000001"), "DOMAIN=N"),
    ],
)
def test_what_the_rules_refuse_is_exit_2_and_changes_nothing(govern, arguments, said):
    before = govern("status", "--json")
    code, out, err = govern(*arguments)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert govern("status", "--json") == before


def test_four_bonuses_of_a_day_are_one_too_many(govern):
    assert [govern("bonus", "+1", "tech", "good")[0] for _ in range(4)] == [0, 0, 0, 2]


def test_with_two_agents_nothing_is_guessed(govern):
    govern("register", "subject", "agent", "bob", "--weight", "TECH=2")
    code, _, err = govern("rate", "correct", "--domain", "OPS")
    assert (code, "ada, bob" in err) == (2, True)
    assert govern("rate", "correct", "--domain", "OPS", "--agent", "bob")[0] == 0


def test_every_fifth_evaluation_of_a_session_shows_the_whole_table(govern):
    shown = [govern("rate", "correct", "--domain", "OPS", "--session", "s9")[1] for _ in range(5)]
    assert ["Team" in text for text in shown] == [False] * 4 + [True]
    assert "50/50 GOOD" in shown[4]
    assert "floor 50.0%" in shown[4]


def test_display_speaks_spanish_and_does_without_icons(govern):
    _, out, _ = govern("rate", "error", "--pattern", "SELECTIVE", "--no-emoji", "--lang", "es")
    assert out == "[OPS] [-5] | SELECTIVE\n"
    _, out, _ = govern("status", "--lang", "es", "--no-emoji")
    assert "Agente ada" in out
    assert out.isprintable() or all(ord(character) < 0x2000 for character in out)
    assert "¿Actúo sin haber pensado?" in govern("check", "--lang", "es")[1]


def test_every_showing_command_answers_by_its_schema(document):
    for _ in range(3):
        document("rate", "error", "--domain", "TECH", "--severity", "critical")
    document("rate", "error", "--domain", "TECH", "--severity", "mild")
    found = {name: document(name) for name in ("status", "brief", "team", "pool", "recovery", "check", "explain")}
    assert found["brief"]["last"][-1]["score"] == 20
    assert found["recovery"]["domains"] == []
    assert sum(row["applied"] for row in found["explain"]["events"]) == 20 - 50
    assert found["explain"]["events"][-1]["reasons"] == ["day_cap"]


def test_a_team_is_shown_with_its_weights_both_sides_and_every_sub_agent(govern, document):
    govern("register", "subject", "agent", "bob")
    assert document("team")["sub_agents"] == [
        {"subject_id": "bob", "runtime": None, "global": 50, "evaluations": 0, "domains": None}
    ]
    _, out, _ = govern("team", "--no-emoji")
    assert "50.0% (50/50 GOOD), floor 50.0% | ada 50.0, kim 50.0" in out
    assert "Agent bob" in out


def test_where_nothing_recovers_the_command_says_so_and_the_status_is_silent(govern):
    assert govern("recovery")[1] == "no domain is in recovery\n"
    assert "in recovery" not in govern("status")[1]


def test_a_note_obeys_no_terminal(govern):
    _, out, _ = govern("bonus", "+1", "TECH", "a\x1b[31m\u202eb")
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "ledger.sqlite")


def test_a_sealed_day_is_in_the_ledger_and_takes_no_more(govern, document, ledger):
    govern("rate", "correct", "--domain", "TECH")
    sealed = document("seal", "--self", "TECH=60", "--judged", "TECH=50", "--ledger", str(ledger.path))
    assert [row["applied"] for row in sealed["events"]] == [-5]
    (recorded,) = ledger.events()
    assert (recorded.type, recorded.body["digest"]) == ("CONFIDENCE_DAY_SEALED", sealed["seals"][0]["digest"])
    assert govern("rate", "correct", "--domain", "OPS")[0] == 2
    assert document("verify", "--ledger", str(ledger.path))["faults"] == []


def test_without_a_ledger_nothing_is_sealed_unless_said_so(govern, document, ledger, tmp_path):
    assert govern("seal", "--ledger", str(tmp_path / "none.sqlite"))[0] == 3
    assert document("seal", "--without-ledger")["seals"] != []
    code, out, _ = govern("verify", "--ledger", str(ledger.path), "--json")
    assert (code, [fault["code"] for fault in json.loads(out)["faults"]]) == (1, ["not_in_ledger"])
    assert document("verify", "--append-missing", "--ledger", str(ledger.path))["faults"] == []


def test_an_event_changed_after_its_day_was_sealed_is_found_out(govern, ledger, tmp_path):
    govern("rate", "error", "--domain", "TECH", "--severity", "severe")
    govern("seal", "--ledger", str(ledger.path))
    with closing(sqlite3.connect(tmp_path / "confidence" / "confidence.sqlite")) as database, database:
        database.execute("DROP TRIGGER lines_no_update")
        ((seq, line),) = database.execute(
            "SELECT seq, line FROM lines WHERE instr(line, CAST('severe' AS BLOB))"
        ).fetchall()
        changed = bytes(line).replace(b"severe", b"mild")
        digest = hashlib.sha256(changed).hexdigest()
        database.execute("UPDATE lines SET line = ?, sha256 = ? WHERE seq = ?", (changed, digest, seq))
    code, out, _ = govern("verify", "--ledger", str(ledger.path), "--json")
    assert (code, [fault["code"] for fault in json.loads(out)["faults"]]) == (1, ["digest_differs"])


def test_a_failed_delegation_is_recorded_on_both_sides_or_not_at_all(govern, document):
    govern("register", "pool", "openclaw/sonnet-4-5/high")
    govern("register", "subject", "agent", "dev")
    assert govern("diagnose", "unreviewed", "--orchestrator", "ada", "--executor", "dev")[0] == 2
    govern("rate", "continue", "--domain", "TECH", "--agent", "ada", "--runtime", RUNTIME)
    govern("rate", "continue", "--domain", "TECH", "--agent", "dev", "--runtime", "openclaw/sonnet-4-5/high")
    found = document("diagnose", "unreviewed", "--orchestrator", "ada", "--executor", "dev", "--severity", "severe")
    assert [(row["subject_id"], row["domain"], row["applied"]) for row in found["events"]] == [
        ("dev", "TECH", -5),
        ("ada", "ORCH", -5),
    ]
    govern("seal", "--agent", "ada", "--without-ledger")
    before = govern("status", "--json")
    assert govern("diagnose", "unreviewed", "--orchestrator", "ada", "--executor", "dev")[0] == 2
    assert govern("status", "--json") == before


def test_lessons_and_triggers_answer_by_their_schemas(document, tmp_path):
    file = ("--file", str(tmp_path / "LESSONS.md"))
    assert document("lessons", "add", "pin every dependency", "--category", "build", *file)["is_new"]
    assert not document("lessons", "add", "every dependency is pinned", "--category", "x", *file)["is_new"]
    assert document("lessons", "list", *file)["lessons"][0]["times"] == 2
    assert document("lessons", "search", "nothing alike", *file)["lessons"] == []
    assert document("trigger", "puntúa")["triggers"][0]["level"] == 2


def test_the_confirmation_names_file_and_section(govern, tmp_path):
    file = str(tmp_path / "LL.md")
    _, out, _ = govern("lessons", "add", "pin it", "--category", "build", "--file", file, "--lang", "es")
    assert out == "📝 [Nueva] 📍 LL.md §build\n"
