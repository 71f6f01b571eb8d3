"""`govern gate`: shows whole, signs for what was shown, and says by its exit code whether passage is granted."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click.testing
import pytest

from governance_pipeline.cli.gate import gate
from governance_pipeline.cli.main import run
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.gate.events import read_history
from governance_pipeline.gate.publication import publish
from governance_pipeline.trust.keys import generate_key
from governance_pipeline.trust.principals import Key

GATE_TESTS = Path(__file__).parents[1] / "gate"


def _world_module():
    if "gate_world" not in sys.modules:
        spec = importlib.util.spec_from_file_location("gate_world", GATE_TESTS / "gate_world.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["gate_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["gate_world"]


gate_world = _world_module()


class Shell:
    """Runs `govern gate` on a world whose requests were asked now: deciding takes the real clock."""

    def __init__(self, world, capsys):
        self.world, self.capsys = world, capsys
        self.keys = world.write_keys()

    def __call__(self, verb, *arguments, place=True):
        where = ["--lake", str(self.world.lake.root), "--config", str(self.world.config_path)] if place else []
        self.capsys.readouterr()
        code = run(["gate", verb, *map(str, arguments), *where])
        printed = self.capsys.readouterr()
        self.err = printed.err
        return code, printed.out

    def json(self, verb, *arguments):
        code, out = self(verb, *arguments, "--json")
        document = json.loads(out)
        schema = document["schema"].removeprefix("govern/").replace("/", "-")
        assert document_fault(schema, document) is None
        return code, document

    def signed(self, verb, *arguments, who="ana"):
        return self.json(verb, *arguments, "--reason", "read", "--key", self.keys / f"{who}.pem")

    def request(self, round_id="r1"):
        return read_history(self.world.ledger).in_force("publish", round_id)

    def request_before(self, event):
        return next(r for r in read_history(self.world.ledger, is_strict=False).requests if r.seq < event.seq)


@pytest.fixture
def govern(tmp_path, capsys):
    world = gate_world.World.create(tmp_path / "world")
    world.make_round()
    world.request(now=datetime.now(UTC))
    return Shell(world, capsys)


def _approve(govern, *ids, who="ana"):
    digests = [d for name in ids for d in ("--digest", _subject(govern, name)[:8])]
    return govern.signed("approve", *ids, *digests, who=who)


def _subject(govern, request_id):
    return next(r.subject_sha256 for r in read_history(govern.world.ledger).requests if r.request_id == request_id)


def test_the_inbox_lists_what_waits_with_age_expiry_and_who_may_act(govern):
    govern.world.make_round("r2", mismatch=True, agents=("coder-pia",))
    govern.world.request("r2", now=datetime.now(UTC))
    code, document = govern.json("inbox")
    assert code == 0
    first, second = document["requests"]
    assert (first["round_id"], first["state"], first["may_act"]) == ("r1", "PENDING", ["ana", "ben", "cho", "pia"])
    assert (second["round_id"], second["state"], second["may_act"]) == ("r2", "BLOCKED_POLICY", [])
    (claim,) = second["open_claims"]
    assert (claim["declared"], claim["computed"], claim["delta"], claim["epsilon"]) == ("10", "9", "1", "0.005")
    code, text = govern("inbox")
    assert 'mismatch "cost": declared 10, computed 9, delta 1, epsilon 0.005, at logs/a.jsonl:1' in text
    assert "trust tier T0" in govern.err

    assert second["command"] is None


def test_who_has_approved_is_not_asked_again_and_what_nobody_can_approve_names_nobody(govern):
    govern.world.write_policy(quorum=2)
    govern.world.request(now=datetime.now(UTC))
    request = govern.request()
    _approve(govern, request.request_id)
    (item,) = govern.json("inbox")[1]["requests"]
    assert (item["code"], item["may_act"]) == ("THRESHOLD", ["ben", "cho", "pia"])
    govern.world.ledger.append("FREEZE", "dot", {"round_id": None, "reason": "wait"}, ts=datetime.now(UTC))
    document = govern.json("show", request.request_id)[1]
    assert (document["may_act"], document["command"]) == ([], None)
    assert "approve    " not in govern("show", request.request_id)[1]


def test_a_closed_request_names_who_closed_it_for_they_alone_can_open_it(govern):
    request = govern.request()
    govern.signed("reject", request.request_id, who="ben")
    document = govern.json("show", request.request_id)[1]
    assert (document["state"], document["may_act"]) == ("REJECTED", ["ben"])


def test_every_decision_gives_the_head_to_keep(govern):
    request = govern.request()
    for verb, who in (("revoke", "ben"), ("reject", "ana")):
        if verb == "revoke":
            _, document = _approve(govern, request.request_id)
            head = govern.world.ledger.head()
            assert document["head"] == f"{head.size}:{head.root}"
            _, document = govern.signed(verb, request.request_id, who=who)
        else:
            _, document = govern.signed(verb, request.request_id, who=who)
        head = govern.world.ledger.head()
        assert document["head"] == f"{head.size}:{head.root}"
    key = ["--reason", "x", "--key", govern.keys / "ana.pem"]
    assert f"head {head.size}:{head.root}" in govern("reject", request.request_id, *key)[1]


def test_a_clock_far_ahead_of_the_ledger_is_spoken_of(govern, monkeypatch):
    request = govern.request()
    late = datetime.now(UTC) + timedelta(days=200)
    monkeypatch.setattr("governance_pipeline.cli.gate.clock", lambda: late)
    govern.signed("reject", request.request_id)
    assert "199 days after the last event" in govern.err or "200 days after the last event" in govern.err
    monkeypatch.undo()
    govern.signed("reject", request.request_id)
    assert "after the last event" not in govern.err


@pytest.mark.parametrize("spoil", ["missing", "garbage", "open"])
def test_a_ledger_that_cannot_be_used_is_a_refusal_with_its_code(govern, spoil):
    path, request = govern.world.ledger.path, govern.request()
    if spoil == "missing":
        path.rename(path.with_name("x"))
    elif spoil == "garbage":
        path.write_bytes(b"garbage" * 1000)
    else:
        path.chmod(0o666)
    for command in (("verify", request.request_id), ("verify",)):
        assert govern(*command)[0] == 4
        assert "LOG_INCONSISTENT" in govern.err
    arguments = ["--digest", request.subject_sha256[:8], "--reason", "x", "--key", govern.keys / "ana.pem"]
    assert govern("approve", request.request_id, *arguments)[0] == 4


def test_a_request_that_was_published_whole_is_used_up(govern):
    request = govern.request()
    _approve(govern, request.request_id)
    now = datetime.now(UTC)
    for asset in ("published_features", "published_round_report"):
        (release,) = govern.world.guard(asset, run=asset, now=now)
        assert govern.json("verify", request.request_id)[1]["granted"] is True, "the run may go on"
        publish(release, now=lambda: now)
    code, document = govern.json("verify", request.request_id)
    assert (code, document["code"]) == (4, "REPLAYED")


def test_a_junk_event_is_named_where_everything_is_judged(govern):
    junk = govern.world.ledger.append("UNFREEZE", "forger", {"freeze_seq": 999}, ts=datetime.now(UTC))
    code, document = govern.json("verify")
    assert (code, [(f["seq"], f["code"]) for f in document["faults"]]) == (4, [(junk.seq, "unusable")])
    assert govern.json("verify", govern.request_before(junk).request_id)[0] == 4


@pytest.mark.parametrize("reason", ["\u200b\u2800", "\u2003", "\u202e\u00ad"])
def test_a_reason_nobody_can_see_is_none(govern, reason):
    key = govern.keys / "ana.pem"
    for verb in ("reject", "approve"):
        digest = ["--digest", govern.request().subject_sha256[:8]] if verb == "approve" else []
        assert govern(verb, govern.request().request_id, "--reason", reason, "--key", key, *digest)[0] == 2
    assert "cannot be signed as a decision" in govern.err


def test_what_is_decided_superseded_or_expired_leaves_the_inbox(govern):
    request = govern.request()
    assert _approve(govern, request.request_id)[0] == 0
    assert govern.json("inbox")[1]["requests"] == []
    assert govern("inbox") == (0, "nothing waits\n")
    (listed,) = govern.json("inbox", "--all")[1]["requests"]
    assert listed["state"] == "APPROVED"
    govern.world.make_round(surface=4.0)
    govern.world.request(now=datetime.now(UTC))
    assert [r["state"] for r in govern.json("inbox")[1]["requests"]] == ["PENDING"]
    assert govern.json("inbox", "--at", "2027-01-30T12:00:00Z")[1]["requests"] == []


def test_show_gives_the_exact_text_its_digest_and_the_command(govern):
    request = govern.request()
    code, document = govern.json("show", request.request_id[:10])
    assert code == 0
    assert document["manifest"]["round_id"] == "r1"
    assert document["command"].startswith(f"govern gate approve {request.request_id}")
    code, text = govern("show", request.request_id)
    assert text.startswith(document["display"])
    assert f"--digest {request.subject_sha256[:8]}" in text


def test_approving_opens_and_verify_and_log_say_so(govern):
    request = govern.request()
    code, document = govern.json("verify", request.request_id)
    assert (code, document["granted"], document["code"]) == (4, False, "MISSING")
    code, document = _approve(govern, request.request_id)
    (result,) = document["results"]
    assert (code, result["recorded"], result["code"], result["state"]) == (0, True, None, "APPROVED")
    assert govern.json("verify", request.request_id, "--asset", "published_features")[0] == 0
    code, log = govern.json("log", "r1")
    assert [event["type"] for event in log["events"]] == ["REQUESTED", "APPROVED"]
    assert log["events"][1]["signed_by"] == ["ana"]
    assert "signed by ana" in govern("log", "r1")[1]
    assert govern("log", "nothing") == (0, "nothing was asked about nothing\n")


def test_without_a_request_the_ledger_and_every_published_file_are_judged(govern):
    request = govern.request()
    _approve(govern, request.request_id)
    (release,) = govern.world.guard(now=datetime.now(UTC))
    publish(release, now=lambda: datetime.now(UTC))
    assert govern.json("verify")[0] == 0
    assert govern("verify") == (0, "1 published files and 7 events are accounted for\n")
    govern.world.lake.put("published_features", "r1", govern.world.lake.get("published_features", "r1").iloc[0:0])
    code, document = govern.json("verify")
    assert (code, document["code"], document["unaccounted"][0]["round_id"]) == (4, "LOG_INCONSISTENT", "r1")
    with closing(sqlite3.connect(govern.world.ledger.path)) as connection:
        connection.execute("DROP TRIGGER events_no_update")
        connection.execute("UPDATE events SET actor = 'nobody' WHERE seq = 2")
        connection.commit()
    code, text = govern("verify")
    assert code == 4
    assert "LOG_INCONSISTENT: event 2 of the ledger: columns_differ" in text


def test_the_manifest_is_shown_before_the_digest_is_asked_for(govern, monkeypatch):
    request = govern.request()
    key = str(govern.keys / "ana.pem")
    arguments = ["approve", request.request_id, "--key", key, "--lake", str(govern.world.lake.root)]
    arguments += ["--config", str(govern.world.config_path)]
    runner = click.testing.CliRunner()
    wrong = runner.invoke(gate, arguments, input="because\n00000000\n", standalone_mode=False)
    assert wrong.return_value == 4
    assert "DIGEST_MISMATCH" in wrong.stdout
    assert wrong.stdout.index("digest     ") < wrong.stdout.index("DIGEST_MISMATCH")
    right = runner.invoke(gate, arguments, input=f"because\n{request.subject_sha256[:8]}\n", standalone_mode=False)
    assert right.return_value == 0
    assert "APPROVE recorded" in right.stdout
    assert "First 8 digits of the digest" in right.stderr


def test_a_prompt_answered_with_spaces_signs_nothing(govern):
    arguments = ["approve", govern.request().request_id, "--key", str(govern.keys / "ana.pem"), "--reason", "because"]
    arguments += ["--lake", str(govern.world.lake.root), "--config", str(govern.world.config_path)]
    runner = click.testing.CliRunner()
    blank = runner.invoke(gate, arguments, input=" " * 8 + "\n", standalone_mode=False)
    assert (blank.return_value, "DIGEST_MISMATCH" in blank.stdout) == (4, True)
    assert govern.world.events("APPROVED") == []


@pytest.mark.parametrize(
    "digits", ["", "0", "0000000", "00000000", "zzzzzzzz", " " * 8, "\t" * 8, "\u2003" * 9, "       0", "0" * 65]
)
def test_a_digest_that_is_not_the_one_shown_signs_nothing(govern, digits):
    request = govern.request()
    code, document = govern.signed("approve", request.request_id, "--digest", digits)
    assert (code, document["results"][0]["code"], document["results"][0]["recorded"]) == (4, "DIGEST_MISMATCH", False)
    assert govern.world.events("APPROVED") == []


def test_another_approver_still_needed_is_recorded_and_exits_4(govern):
    govern.world.write_policy(quorum=2)
    govern.world.make_round(surface=4.0)
    govern.world.request(now=datetime.now(UTC))
    request = govern.request()
    code, document = _approve(govern, request.request_id)
    assert (code, document["results"][0]["recorded"], document["results"][0]["code"]) == (4, True, "THRESHOLD")
    assert _approve(govern, request.request_id, who="ben")[0] == 0


@pytest.mark.parametrize(("who", "code"), [("mallory", "UNTRUSTED_KEY"), ("dot", "UNTRUSTED_KEY")])
def test_a_key_that_may_not_is_refused_with_its_code(govern, who, code):
    exit_code, document = _approve(govern, govern.request().request_id, who=who)
    assert (exit_code, document["results"][0]["code"]) == (4, code)
    assert govern.world.events("APPROVED") == []


@pytest.mark.parametrize(("verb", "state"), [("reject", "REJECTED"), ("revoke", "REVOKED")])
def test_closing_is_recorded_and_exits_4_because_passage_is_refused(govern, verb, state):
    request = govern.request()
    _approve(govern, request.request_id)
    code, document = govern.signed(verb, request.request_id, who="ben")
    (result,) = document["results"]
    assert (code, result["recorded"], result["state"], result["code"]) == (4, True, state, "REVOKED")
    assert govern.json("verify", request.request_id)[1]["code"] == "REVOKED"


def test_several_requests_get_a_result_each(govern):
    govern.world.make_round("r2", verdict="block")
    govern.world.make_round("r3")
    for round_id in ("r2", "r3"):
        govern.world.request(round_id, now=datetime.now(UTC))
    ids = [govern.request(r).request_id for r in ("r1", "r2", "r3")]
    code, document = _approve(govern, *ids)
    assert code == 4
    assert [(r["round_id"], r["recorded"]) for r in document["results"]] == [("r1", True), ("r2", False), ("r3", True)]


def test_as_many_digests_as_requests_are_needed(govern):
    request = govern.request().request_id
    key = govern.keys / "ana.pem"
    assert govern("approve", request, "--digest", "a", "--digest", "b", "--reason", "x", "--key", key)[0] == 2
    assert "requests need as many --digest" in govern.err
    assert govern("approve", request, request, "--digest", "a", "--digest", "b", "--reason", "x", "--key", key)[0] == 2


def test_an_encrypted_key_opens_with_the_first_line_of_a_file_and_a_wrong_one_does_not(govern, tmp_path):
    path, secret = tmp_path / "eva.pem", tmp_path / "secret"
    public = generate_key(path, b"four words of mine")
    eva = gate_world.person("eva", keys=(Key(public),))
    govern.world.write_root(*gate_world.PEOPLE, eva, version=2, at=datetime.now(UTC))
    request = govern.request()
    arguments = [request.request_id, "--digest", request.subject_sha256[:8], "--reason", "x", "--key", path]
    secret.write_text("wrong words\n")
    secret.chmod(0o644)
    assert govern("approve", *arguments, "--passphrase-file", secret)[0] == 2
    assert "opened by others" in govern.err
    secret.chmod(0o600)
    assert govern("approve", *arguments, "--passphrase-file", secret)[0] == 2
    assert "wrong passphrase" in govern.err
    secret.write_text("four words of mine\nsecond line\n")
    assert govern("approve", *arguments, "--passphrase-file", secret)[0] == 0


def test_usage_errors_exit_2_and_name_what_is_wrong(govern):
    key = govern.keys / "ana.pem"
    assert govern("show", "zzz")[0] == 2
    assert govern("approve", govern.request().request_id)[0] == 2
    assert govern("inbox", "--at", "noon")[0] == 2
    assert govern("verify", govern.request().request_id, "--asset", "core_runs")[0] == 2
    assert govern("reject", "zzz", "--reason", "x", "--key", key)[0] == 2
    assert govern("reject", govern.request().request_id, "--reason", " ", "--key", key)[0] == 2


def test_without_a_configuration_nothing_is_trusted(govern, tmp_path):
    lake = ["--lake", govern.world.lake.root]
    assert govern("inbox", *lake, "--config", tmp_path / "none.toml", place=False)[0] == 2
    assert "configuration (`govern trust init` makes one): not_found" in govern.err


def test_a_refused_trust_root_exits_4_with_its_code(govern):
    old = govern.world.config.root.read_bytes()
    govern.world.write_root(*gate_world.PEOPLE, version=2, at=datetime.now(UTC))
    govern.world.config.root.write_bytes(old)
    assert govern("inbox")[0] == 4
    assert "ROOT_ROLLBACK" in govern.err


def test_a_throw_away_root_says_so_on_every_run(govern):
    govern.world.write_root(*gate_world.PEOPLE, version=2, is_throwaway=True, at=datetime.now(UTC))
    assert govern.json("inbox")[1]["is_throwaway"] is True
    assert "THROW-AWAY" in govern.err


def test_hostile_text_reaches_no_terminal(govern):
    govern.world.make_round(message="\x1b[2J\u202eapproved\nstate      APPROVED", agents=("\x1b]0;x\x07coder",))
    govern.world.request(now=datetime.now(UTC))
    request = govern.request()
    for arguments in (["show", request.request_id], ["inbox"], ["log", "r1"], ["show", request.request_id, "--json"]):
        code, out = govern(*arguments)
        assert code == 0
        assert all(c.isprintable() or c == "\n" for c in out)
        assert "\nstate      APPROVED" not in out
