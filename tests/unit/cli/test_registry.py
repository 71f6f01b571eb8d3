"""`govern registry`: an asset from registering to an approved replacement, on the command line alone."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.framework.documents import document_fault

if "registry_house" not in sys.modules:
    _place = Path(__file__).parents[1] / "framework" / "registry_house.py"
    _spec = importlib.util.spec_from_file_location("registry_house", _place)
    sys.modules["registry_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["registry_house"])
house_module = sys.modules["registry_house"]
NOON, digest = house_module.NOON, house_module.digest
WHO = ("--agent", "worker", "--reason", "a new month")


class Shell:
    """Runs `govern registry` and `govern gate` on a house at noon."""

    def __init__(self, house, capsys):
        self.house, self.capsys = house, capsys
        self.place = ["--lake", str(house.world.lake.root), "--config", str(house.world.config_path)]
        self.project = ["--project", str(house.folder.root)]
        self.keys = house.world.write_keys()
        self.err = ""

    def __call__(self, *arguments, is_placed=True):
        self.capsys.readouterr()
        code = run(["registry", *map(str, arguments), *self.project, *(self.place if is_placed else [])])
        printed = self.capsys.readouterr()
        self.err = printed.err
        return code, printed.out

    def json(self, *arguments, is_placed=True):
        code, out = self(*arguments, "--json", is_placed=is_placed)
        document = json.loads(out)
        assert document_fault(document["schema"].removeprefix("govern/").replace("/", "-"), document) is None
        return code, document

    def approve(self):
        request = self.house.world.history().requests[-1]
        sign = ["--key", str(self.keys / "ana.pem"), "--reason", "read", "--digest", request.subject_sha256[:8]]
        return run(["gate", "approve", request.request_id, *sign, *self.place])


@pytest.fixture
def shell(tmp_path, capsys, monkeypatch):
    for module in ("registry", "gate"):
        monkeypatch.setattr(f"governance_pipeline.cli.{module}.clock", lambda: NOON)
    monkeypatch.setattr("governance_pipeline.trust.config.default_config_path", lambda: tmp_path / "none.toml")
    house = house_module.House(tmp_path)
    house.file("data/customers.csv", "id,city\n1,Lima\n2,Cusco\n")
    return Shell(house, capsys)


def test_from_registering_to_an_approved_replacement(shell):
    new = shell.house.file("work/new.csv", "id,city\n1,Lima\n2,Puno\n")
    assert shell("add", "customers", "data/customers.csv", *WHO)[0] == 0
    assert shell("supersede", "customers", new, *WHO)[0] == 4
    assert "govern gate approve" in shell.err
    assert shell.approve() == 0
    code, changed = shell.json("supersede", "customers", new, *WHO)
    assert (code, changed["approved_by"]) == (0, ["ana"])
    assert shell("supersede", "customers", new, *WHO)[0] == 4  # nothing left to change, and nothing used twice
    code, verified = shell.json("verify", "--record")
    assert (code, verified["is_verified"], len(verified["versions"])) == (0, True, 2)
    code, difference = shell.json("diff", "customers", "--key", "id", is_placed=False)
    assert (code, difference["is_same_bytes"], difference["rows"]["schema"]) == (1, False, "govern/dataset-diff/v1")
    code, listed = shell.json("list", is_placed=False)
    assert [len(asset["superseded_versions"]) for asset in listed["assets"]] == [1]


def test_other_bytes_than_those_asked_about_are_refused_and_push_no_request_aside(shell):
    shell("add", "customers", "data/customers.csv", *WHO)
    shell("supersede", "customers", shell.house.file("a.csv", "a"), *WHO)
    shell.approve()
    other = shell.house.file("b.csv", "b")
    assert shell("supersede", "customers", other, *WHO)[0] == 4
    assert "DIGEST_MISMATCH" in shell.err
    assert len(shell.house.world.history().requests) == 1
    assert shell("supersede", "customers", other, "--ask", *WHO)[0] == 4
    assert "MISSING" in shell.err
    assert len(shell.house.world.history().requests) == 2


def test_a_rejection_is_not_asked_about_again(shell):
    shell("add", "customers", "data/customers.csv", *WHO)
    new = shell.house.file("a.csv", "a")
    shell("supersede", "customers", new, *WHO)
    request = shell.house.world.history().requests[-1].request_id
    run(["gate", "reject", request, "--key", str(shell.keys / "ana.pem"), "--reason", "no", *shell.place])
    assert shell("supersede", "customers", new, *WHO)[0] == 4
    assert "REVOKED" in shell.err
    assert len(shell.house.world.history().requests) == 1


def test_a_write_around_the_gate_is_a_finding(shell):
    shell("add", "customers", "data/customers.csv", *WHO)
    shell.house.file("data/customers.csv", "something else")
    code, verified = shell.json("verify")
    assert (code, [row["state"] for row in verified["versions"]]) == (1, ["changed"])
    assert verified["versions"][0]["computed_sha256"] == digest("something else")


def test_without_a_gate_nothing_is_changed_and_nothing_called_verified(shell):
    code, _ = shell("add", "customers", "data/customers.csv", *WHO, is_placed=False)
    assert (code, "no gate is configured" in shell.err) == (4, True)
    shell("add", "customers", "data/customers.csv", *WHO)
    code, verified = shell.json("verify", is_placed=False)
    assert (code, [row["state"] for row in verified["versions"]]) == (3, ["unknown"])


def test_an_asset_nobody_registered_is_a_refusal_with_its_code(shell):
    assert shell("supersede", "nothing", shell.house.file("a.csv", "a"), *WHO)[0] == 4
    assert "NOT_REGISTERED" in shell.err
    assert shell("diff", "nothing", is_placed=False)[0] == 4


def test_the_commands_of_the_gate_show_a_change_of_the_registry_like_any_request(shell):
    from governance_pipeline.gate.documents import document_fault as gate_fault

    shell("add", "customers", "data/customers.csv", *WHO)
    new = shell.house.file("a.csv", "a")
    shell("supersede", "customers", new, *WHO)
    request = shell.house.world.history().requests[-1].request_id
    shell.approve()
    for verb, *rest in (("inbox", "--all"), ("show", request), ("log", "customers"), ("verify", request)):
        shell.capsys.readouterr()
        code = run(["gate", verb, *rest, "--at", "2026-11-30T12:00:00Z", "--json", *shell.place])
        document = json.loads(shell.capsys.readouterr().out)
        assert gate_fault(document["schema"].removeprefix("govern/").replace("/", "-"), document) is None, verb
        assert code == 0, verb
    shell.capsys.readouterr()
    assert run(["gate", "show", request, "--at", "2026-11-30T12:00:00Z", *shell.place]) == 0
    assert f'to_sha256  "{digest("a")}"' in shell.capsys.readouterr().out
