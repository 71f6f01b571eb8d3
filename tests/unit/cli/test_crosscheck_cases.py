"""`govern crosscheck cases`: what is escalated is listed with both values, and only a signed statement closes it."""

from __future__ import annotations

import importlib.util
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click.testing
import jsonschema
import pytest

import governance_pipeline.crosscheck
from governance_pipeline.cli.crosscheck import crosscheck
from governance_pipeline.cli.crosscheck_cases import OUTCOMES
from governance_pipeline.cli.main import run
from governance_pipeline.trust.case_statement import Outcome

SCHEMAS = Path(governance_pipeline.crosscheck.__file__).parent / "schemas"
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
    """Runs `govern crosscheck cases` on a world whose round r1 has one mismatch, opened four days ago."""

    def __init__(self, world, capsys):
        self.world, self.capsys = world, capsys
        self.keys = world.write_keys()

    def __call__(self, verb, *arguments):
        where = ["--lake", str(self.world.lake.root), "--config", str(self.world.config_path)]
        self.capsys.readouterr()
        code = run(["crosscheck", "cases", verb, *map(str, arguments), *where])
        printed = self.capsys.readouterr()
        self.err = printed.err
        return code, printed.out

    def json(self, verb, *arguments):
        code, out = self(verb, *arguments, "--json")
        if not out:
            return code, None
        document = json.loads(out)
        name = document["schema"].removeprefix("govern/").replace("/", "-")
        jsonschema.validate(document, json.loads((SCHEMAS / f"{name}.json").read_text("utf-8")))
        return code, document

    def signed(self, verb, *arguments, who="ana"):
        return self.json(verb, *arguments, "--reason", "a retry was counted", "--key", self.keys / f"{who}.pem")

    @property
    def case(self):
        [item] = self.json("list", "--all")[1]["cases"]
        return item


@pytest.fixture
def govern(tmp_path, capsys):
    world = gate_world.World.create(tmp_path / "world")
    world.make_round(mismatch=True)
    world.request(now=datetime.now(UTC) - timedelta(days=4))
    return Shell(world, capsys)


def resolve(govern, *arguments, who="ana", digest=None):
    case = govern.case
    words = ["--as", "source_wrong", "--digest", digest or case["sha256"][:8], *arguments]
    return govern.signed("resolve", case["case_id"], *words, who=who)


@pytest.mark.parametrize("verb", ["show", "acknowledge", "resolve"])
def test_a_case_that_is_not_there_is_a_usage_error(govern, verb):
    more = [] if verb == "show" else ["--reason", "x", "--key", govern.keys / "ana.pem"]
    more += ["--as", "accepted"] if verb == "resolve" else []
    code, out = govern(verb, "case-000000", *more)
    assert (code, out) == (2, "")
    assert "no case begins with 'case-000000'" in govern.err


@pytest.mark.parametrize("typed", ["00000000", "", "   ", "zz"])
def test_whoever_has_not_read_the_digest_signs_nothing(govern, typed):
    case, before = govern.case, govern.world.ledger.size()
    words = ["--as", "accepted", "--digest", typed, "--reason", "x", "--key", govern.keys / "ana.pem"]
    assert govern("resolve", case["case_id"], *words)[0] == 4
    assert "DIGEST_MISMATCH" in govern.err
    assert govern.world.ledger.size() == before


@pytest.mark.parametrize(("who", "code"), [("mallory", "UNTRUSTED_KEY"), ("dot", "UNTRUSTED_KEY")])
@pytest.mark.parametrize("verb", ["acknowledge", "resolve"])
def test_a_statement_that_would_not_count_is_refused_with_its_code_and_not_recorded(govern, verb, who, code):
    before = govern.world.ledger.size()
    done = resolve(govern, who=who) if verb == "resolve" else govern.signed(verb, govern.case["case_id"], who=who)
    assert done == (4, None)
    assert code in govern.err
    assert govern.world.ledger.size() == before


def test_a_person_who_wrote_code_of_the_round_resolves_nothing(tmp_path, capsys):
    world = gate_world.World.create(tmp_path / "world")
    world.make_round(mismatch=True, agents=("coder-pia",))
    world.request(now=datetime.now(UTC))
    shell = Shell(world, capsys)
    assert resolve(shell, who="pia") == (4, None)
    assert "SELF_APPROVAL" in shell.err
    assert resolve(shell, who="ana")[0] == 0


def test_an_outcome_there_is_not_is_a_usage_error(govern):
    words = ["--as", "corrected", "--reason", "x", "--key", govern.keys / "ana.pem"]
    assert govern("resolve", govern.case["case_id"], *words)[0] == 2
    assert set(OUTCOMES) == set(Outcome)


def test_list_shows_both_values_age_owner_and_what_is_overdue(govern):
    code, out = govern("list")
    assert code == 0
    first, second = out.splitlines()
    assert first.startswith(f'{govern.case["case_id"][:21]}  r1  open  4 days, OVERDUE  mismatch of "cost"')
    assert 'nobody yet, "auditor" is asked' in first
    assert second == "  declared 10, computed 9"
    assert len(govern.json("list", "--overdue", "--state", "open", "--round", "r1")[1]["cases"]) == 1
    assert govern.json("list", "--at", "2026-01-01T00:00:00Z", "--overdue")[1]["cases"] == []
    assert govern.json("list", "--round", "r2")[1]["cases"] == []


def test_list_of_one_person_is_what_they_hold_and_what_they_are_asked_when_nobody_holds_it(govern):
    def of(name):
        return len(govern.json("list", "--owner", name)[1]["cases"])

    assert (of("auditor"), of("ana"), of("ben")) == (1, 0, 0)
    assert govern.signed("acknowledge", govern.case["case_id"])[0] == 0
    assert (of("auditor"), of("ana"), of("ben")) == (0, 1, 0)


def test_show_gives_the_whole_record_and_the_command_that_resolves(govern):
    code, out = govern("show", govern.case["case_id"][5:15])
    assert code == 0
    for text in ("declared 10, computed 9", "delta          1", "0.005  half a cent", "sum(parts.cost)",
                 "logs/a.jsonl:1 /cost", "not in the catalogue", "govern crosscheck cases resolve", govern.case["sha256"][:8]):  # fmt: skip
        assert text in out
    [row] = govern.json("show", govern.case["case_id"])[1]["details"]
    assert (row["declared"], row["computed"], row["delta"]) == (10, 9, 1)


def test_acknowledge_then_resolve_moves_the_case_and_changes_no_number(govern):
    case = govern.case
    code, done = govern.signed("acknowledge", case["case_id"], who="ben")
    assert (code, done["type"], done["case"]["state"], done["case"]["owner"]) == (
        0,
        "CASE_ACKNOWLEDGED",
        "acknowledged",
        "ben",
    )
    code, done = resolve(govern)
    assert (code, done["type"], done["case"]["state"]) == (0, "CASE_RESOLVED", "resolved")
    assert done["case"]["resolution"]["people"] == ["ana"]
    assert done["case"]["records"] == case["records"]
    assert govern.json("list")[1]["cases"] == []
    assert govern.json("list", "--state", "resolved")[1]["cases"] == [govern.case]
    assert "resolution" in govern("show", case["case_id"])[1]
    assert resolve(govern) == (4, None)
    assert "was resolved by 'ana' as source_wrong" in govern.err


def test_what_is_signed_is_shown_whole_and_asked_for_on_a_terminal(govern):
    case = govern.case
    arguments = ["cases", "resolve", case["case_id"], "--as", "accepted", "--reason", "seen", "--lake"]
    arguments += [str(govern.world.lake.root), "--config", str(govern.world.config_path)]
    arguments += ["--key", str(govern.keys / "ana.pem")]
    runner = click.testing.CliRunner()
    wrong = runner.invoke(crosscheck, arguments, input="00000000\n")
    assert (wrong.exit_code, type(wrong.exception).__name__) == (1, "Refusal")
    right = runner.invoke(crosscheck, arguments, input=f"{case['sha256'][:8]}\n")
    assert right.exit_code == 0, right.output
    assert "declared 10, computed 9" in right.stdout
    assert right.stdout.splitlines()[-1].endswith("now resolved")


def test_a_text_of_the_ledger_does_not_steer_the_terminal(govern):
    words = ["--as", "accepted", "--digest", govern.case["sha256"], "--key", govern.keys / "ana.pem"]
    assert govern("resolve", govern.case["case_id"], *words, "--reason", "\x1b[2Jseen\nresolved by owner")[0] == 0
    out = govern("show", govern.case["case_id"])[1]
    assert "\x1b" not in out
    assert not any(line.startswith("resolved by owner") for line in out.splitlines())


def test_events_that_hold_nothing_are_named_in_the_list(govern):
    govern.world.ledger.append("CASE_OPENED", "forger", {}, ts=datetime.now(UTC))
    assert [fault["code"] for fault in govern.json("list")[1]["unusable"]] == ["unusable"]
    assert "unusable: it does not hold what a CASE_OPENED needs" in govern("list")[1]
