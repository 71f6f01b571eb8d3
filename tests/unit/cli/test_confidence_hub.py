"""`govern confidence hub`: off by default, explicit, and without the key in anything it says."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.confidence
from governance_pipeline.cli.main import run
from governance_pipeline.confidence.hub import courier
from governance_pipeline.confidence.hub.hub_file import HubPlace
from governance_pipeline.confidence.hub.hub_sync import change_sync

SCHEMAS = Path(governance_pipeline.confidence.__file__).parent / "schemas"
RUNTIME = "claude-code/opus-4-6/high"
_HUB = Path(__file__).parents[1] / "confidence" / "hub" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("hub_of_tests", _HUB)
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
hub, KEY = _MODULE.hub, _MODULE.KEY


@pytest.fixture(autouse=True)
def _unexpired(hub):
    hub.expires_at = "2999-01-01T00:00:00.000Z"


@pytest.fixture
def started(monkeypatch):
    """Processes that would have been started; nothing runs beside a test."""
    found = []
    monkeypatch.setattr(courier, "start", lambda *arguments: found.append(arguments))
    return found


@pytest.fixture
def govern(tmp_path, capsys, monkeypatch, started):
    """Run `govern confidence …` on an initialised place; gives exit code, stdout and stderr, and looks for the key."""
    monkeypatch.setenv("GOVERN_CONFIDENCE", str(tmp_path / "confidence"))

    def _govern(*arguments):
        code = run(["confidence", *arguments])
        said = capsys.readouterr()
        assert KEY not in said.out + said.err
        return code, *said

    assert _govern("init", "--agent", "ada", "--runtime", RUNTIME, "--user", "kim")[0] == 0
    return _govern


@pytest.fixture
def document(govern):
    """Run a command with --json and hold its document to its schema."""

    def _document(*arguments, expected=0):
        code, out, _ = govern(*arguments, "--json")
        assert code == expected
        found = json.loads(out)
        name = found["schema"].removeprefix("govern/").replace("/", "-")
        jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text())).validate(found)
        return found

    return _document


@pytest.fixture
def active(govern, hub):
    """The whole way on the command line."""
    assert govern("hub", "register", "--url", hub.url, "--yes")[0] == 0
    assert govern("hub", "verify", "--email", "kim@example.org", "--name", "kim")[0] == 0
    assert govern("hub", "sync")[0] == 0
    hub.requests.clear()


def test_without_a_registration_there_is_no_file_no_process_and_a_plain_status(govern, document, started, tmp_path):
    govern("rate", "correct", "--domain", "TECH")
    govern("brief")
    assert document("hub", "status")["hubSync"]["status"] == "unregistered"
    assert [file.name for file in (tmp_path / "confidence").glob("hub*")] == []
    assert started == []
    code, out, err = govern("hub", "sync")
    assert (code, out, "unregistered" in err) == (2, "", True)


def test_registering_says_public_and_banned_and_asks_first(govern, hub, monkeypatch):
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    code, out, err = govern("hub", "register", "--url", hub.url)
    assert (code, out, hub.requests) == (3, "", [])
    assert "PUBLIC" in err
    assert "leaderboard" in err
    assert "BANNED" in err


def test_every_hub_command_answers_by_its_schema(govern, document, hub):
    found = document("hub", "register", "--url", hub.url, "--yes")
    assert "hub verify" in found["next"]
    assert document("hub", "verify", "--email", "k@example.org", "--name", "k")["status"] == "pending_email"
    document("hub", "resend", "--email", "k@example.org")
    assert document("hub", "sync")["status"] == "active"
    govern("rate", "error", "--pattern", "EXCUSE", "--note", "private", "--trigger", "score")
    (waiting,) = document("hub", "status")["hubSync"]["pendingEvents"]
    assert (waiting["event"]["severity"], "note" in waiting["event"]) == ("severe", False)
    assert document("hub", "sync")["delivered"] == 1
    hub.faults = [500, 500]
    govern("rate", "correct", "--domain", "TECH")
    assert document("hub", "sync", expected=3)["failed"] == 1
    assert [line["code"] for line in document("hub", "status")["log"]][-1] == "no_usable_answer"
    assert govern("hub", "status")[1].startswith("status: active\n")


def test_a_key_comes_from_a_file_or_a_prompt_and_no_argument(govern, document, hub, active, tmp_path, monkeypatch):
    file = tmp_path / "key.txt"
    file.write_text(f"{KEY}\n")
    assert document("hub", "key", "--key-file", str(file))["status"] == "active"
    monkeypatch.setattr("click.termui.hidden_prompt_func", lambda _: KEY)
    assert govern("hub", "key")[0] == 0
    hub.faults = [401]
    assert govern("hub", "key")[0] == 3
    assert govern("hub", "key", KEY.lower())[0] == 2


def test_a_rating_starts_a_process_after_its_answer_and_asks_the_hub_nothing(govern, hub, active, started):
    code, out, err = govern("rate", "correct", "--domain", "TECH", "--session", "s9")
    assert (code, err, hub.requests) == (0, "", [])
    assert "[TECH]" in out
    assert [(session, occasion) for _, session, occasion in started] == [("s9", "event")]


def test_each_command_that_records_or_starts_a_session_tells_the_hub(govern, active, started):
    govern("brief", "--session", "s1")
    govern("bonus", "+1", "TECH", "good")
    govern("diagnose", "caught", "--orchestrator", "ada", "--executor", "ada")
    govern("seal", "--without-ledger")
    assert [occasion for *_, occasion in started] == ["start", "event", "event", "seal"]


def test_a_rating_says_once_per_session_what_is_wrong_and_still_counts(govern, active, tmp_path):
    with HubPlace(tmp_path / "confidence").opened(is_writing=True) as database:
        change_sync(database, status="error", reason="unauthorized")
    code, out, err = govern("rate", "correct", "--domain", "TECH", "--session", "s1", "--lang", "es")
    assert (code, "[TECH]" in out, "la clave ya no es válida" in err) == (0, True, True)
    assert govern("rate", "correct", "--domain", "TECH", "--session", "s1")[2] == ""


def test_a_rating_survives_a_hub_file_that_is_none(govern, active, tmp_path):
    (tmp_path / "confidence" / "hub.sqlite").write_bytes(b"x" * 5000)
    code, out, err = govern("rate", "correct", "--domain", "TECH")
    assert (code, "[TECH]" in out, "hub: skipped" in err) == (0, True, True)


def _rows(text, name):
    return [line for line in text.splitlines() if line.startswith(name)]


def test_the_hubs_scores_are_shown_while_it_answers_and_ours_marked_local_when_not(govern, hub, active):
    shown = [govern("rate", "correct", "--domain", "TECH", "--session", "s9")[1] for _ in range(5)][-1]
    assert _rows(shown, "Agent:")[0].split() == ["Agent:", "57.5", "-", "-", "-", "-", "51.5", "(hub)"]
    assert _rows(shown, "User:")[0].endswith("(local)")
    assert _rows(govern("status")[1], "Agent ada")[0].endswith("(hub)")
    hub.faults = [500] * 9
    govern("hub", "sync")
    assert _rows(govern("status")[1], "Agent ada")[0].split()[2:8] == ["52", "50", "50", "50", "50", "50.4"]
    for line in _rows(govern("status")[1], "Agent ada") + _rows(govern("brief")[1], "User kim"):
        assert line.endswith("(local)")


def test_what_the_hub_says_changes_no_score(govern, document, hub, active):
    before = document("status")["subjects"]
    hub.faults = [(200, {"state": {"agent": {"global": 99, "domains": {"TECH": 99}}}})]
    govern("hub", "sync")
    assert document("status")["subjects"] == before
