"""`govern gate retry`, `delegate` and `notify`: what they print, and their exit codes."""

from __future__ import annotations

import importlib.util
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.gate.documents import document_fault
from governance_pipeline.gate.retrying import note_failure
from governance_pipeline.notify.documents import document_fault as notify_fault

GATE_TESTS = Path(__file__).parents[1] / "gate"


def _world_module():
    if "gate_world" not in sys.modules:
        spec = importlib.util.spec_from_file_location("gate_world", GATE_TESTS / "gate_world.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["gate_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["gate_world"]


gate_world = _world_module()


@pytest.fixture
def govern(tmp_path, capsys):
    """Give a function that runs `govern gate …` on a world whose request was made now."""
    world = gate_world.World.create(tmp_path / "world")
    world.make_round()
    world.write_policy(approvers=["ana"])
    request = world.request(now=datetime.now(UTC))
    keys = world.write_keys()

    def call(verb, *arguments, who=None):
        where = ["--lake", str(world.lake.root), "--config", str(world.config_path)]
        signed = ["--reason", "read", "--key", str(keys / f"{who}.pem")] if who else []
        capsys.readouterr()
        code = run(["gate", verb, *map(str, arguments), *where, *signed])
        call.err = capsys.readouterr()
        return code, call.err.out

    def as_json(verb, *arguments, who=None):
        code, out = call(verb, *arguments, "--json", who=who)
        document = json.loads(out)
        schema = document["schema"].removeprefix("govern/").replace("/", "-")
        assert (notify_fault if schema == "gate-notify-v1" else document_fault)(schema, document) is None
        return code, document

    call.world, call.id, call.json = world, request, as_json
    call.digest = world.history().requests[-1].subject_sha256
    return call


def test_what_failed_is_in_the_inbox_until_it_is_tried_again(govern):
    assert govern("approve", govern.id, "--digest", govern.digest[:8], who="ana")[0] == 0
    note_failure(govern.world.verifier(datetime.now(UTC)), "r1", "run-1", "run-1", datetime.now(UTC))
    [item] = govern.json("inbox")[1]["requests"]
    assert (item["state"], item["command"]) == ("APPROVED_FAILED", f"govern gate retry {govern.id}")
    assert "retry      govern gate retry" in govern("show", govern.id)[1]
    code, text = govern("retry", "r1")
    assert (code, "attempt 2 is recorded" in text) == (0, True)
    assert govern.json("inbox")[1]["requests"] == []
    code, document = govern.json("retry", govern.id[:10])
    assert (code, document["results"][0]["attempt"]) == (0, 3)
    log = govern.json("log", "r1")[1]["events"]
    assert [event["type"] for event in log][-3:] == ["RUN_FAILED", "RETRY", "RETRY"]
    assert "attempt 3 on" in govern("log", "r1")[1]


def test_what_nobody_approved_is_not_tried_again(govern):
    code, text = govern("retry", "r1")
    assert (code, "not tried again, MISSING" in text) == (4, True)
    assert govern("retry", "nowhere")[0] == 2


def test_a_delegate_approves_in_the_place_of_the_delegator_and_the_log_names_both(govern):
    digits = govern.digest[:8]
    assert govern("approve", govern.id, "--digest", digits, "--on-behalf-of", "ana", who="ben")[0] == 4
    code, document = govern.json("delegate", govern.id, "--to", "ben", "--hours", 5, who="ana")
    assert (code, document["delegator"], document["delegate"]) == (0, "ana", "ben")
    [item] = govern.json("inbox")[1]["requests"]
    assert (item["may_act"], item["delegations"][0]["delegate"]) == (["ana", "ben"], "ben")
    assert govern("approve", govern.id, "--digest", digits, "--on-behalf-of", "ana", who="ben")[0] == 0
    assert "signed by ben on behalf of ana" in govern("log", "r1")[1]
    assert "ana lets ben decide in their place" in govern("log", "r1")[1]
    code, text = govern("delegate", govern.id, "--to", "ben", "--withdraw", who="ana")
    assert (code, "what ben decided is void" in text) == (0, True)
    assert govern("verify", govern.id)[0] == 4


def test_a_delegation_that_would_not_count_is_refused_with_its_code(govern):
    assert govern("delegate", govern.id, "--to", "dot", who="ana")[0] == 4
    assert "UNTRUSTED_KEY" in govern.err.err
    assert govern("delegate", govern.id, "--to", "ana", who="ana")[0] == 4


def test_who_is_told_is_shown_without_an_address(govern):
    assert "nobody is told" in govern("notify")[1]
    file = govern.world.folder / "trust" / "notifications.toml"
    file.write_text('schema = "govern/notifications/v1"\n[[target]]\nname = "ops"\nurl = "nonsense://topsecret@x"\n')
    file.chmod(0o600)
    with govern.world.config_path.open("a") as config:
        config.write(f'notifications = "{file}"\n')
    code, document = govern.json("notify")
    assert (code, document["targets"][0]["due_messages"]) == (0, 1)
    code, document = govern.json("notify", "--send")
    assert (code, document["sent"][0]["is_sent"]) == (3, False)
    assert "topsecret" not in json.dumps(document)
    assert "topsecret" not in govern("notify")[1]
    assert govern("notify", "--send", "--test", "ops")[0] == 2
    assert govern("notify", "--test", "nobody")[0] == 2
