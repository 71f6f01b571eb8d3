"""Evidence weights: declared once and before the data, and the ranking says how much rests on them."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from importlib import resources

import jsonschema
import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.weights import WEIGHTS
from governance_pipeline.trust.config import GateConfig, write_config
from governance_pipeline.trust.keys import fingerprint

SCHEMAS = resources.files("governance_pipeline.trajectory") / "schemas"
EARLY, LATE = datetime(2025, 12, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
CONTRACT = """schema = "govern/round/v1"
[round]
objective = "an objective"
[[key_result]]
id = "KR1"
text = "a result"
[[criterion]]
id = "C1"
kr = "KR1"
required = true
text = "a criterion"
[[criterion]]
id = "C2"
kr = "KR1"
required = true
text = "a criterion"
"""


def weights(**changes):
    return {"schema": "govern/evidence-weights/v1", "weights_id": "w-1", "criteria": {"C1": "3", "C2": "1"}} | changes


@pytest.fixture
def govern(tmp_path, capsys, monkeypatch):
    """Run `govern features …` with weights that are a file of their own; gives exit code and document."""
    (tmp_path / "trust").mkdir(mode=0o700)
    Ledger.create(tmp_path / "trust" / "ledger.sqlite")
    config = tmp_path / "trust" / "gate.toml"
    write_config(
        GateConfig(
            root=tmp_path / "trust" / "root.json", root_fingerprint=fingerprint(bytes(32)),
            ledger=tmp_path / "trust" / "ledger.sqlite", policy=tmp_path / "trust" / "policy.json", source=config,
        )
    )  # fmt: skip
    now = [EARLY]
    monkeypatch.setattr("governance_pipeline.cli.features_weights.clock", lambda: now[0])

    def _govern(verb, document, *arguments, at=EARLY):
        now[0] = at
        file = tmp_path / "weights.json"
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        code = run(["features", verb, str(file), *map(str, arguments), "--config", str(config), "--json"])
        out, _govern.err = capsys.readouterr()
        said = json.loads(out) if out else None
        if said:
            name = said["schema"].removeprefix("govern/").replace("/", "-")
            jsonschema.validate(said, json.loads((SCHEMAS / f"{name}.json").read_text("utf-8")))
        return code, said

    _govern.ledger = Ledger(tmp_path / "trust" / "ledger.sqlite")
    return _govern


@pytest.fixture
def rounds(tmp_path):
    """Three rounds: one with C1 proven, one with C2, one with both at half strength."""
    landing = tmp_path / "landing"
    proven = {"first": [("C1", 1)], "second": [("C2", 1)], "both": [("C1", 0.5), ("C2", 0.5)]}
    for name, criteria in proven.items():
        folder = landing / name
        folder.mkdir(parents=True)
        (folder / "round.toml").write_text(CONTRACT)
        lines = [
            {"step": 1, "ts": "2026-01-10T10:00:00Z", "criterion_id": id_, "state": "proven", "strength": strength}
            for id_, strength in criteria
        ]
        (folder / "evidence.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return landing


@pytest.mark.parametrize("document", [
    "", "{", "[]", weights(criteria={"C1": 3}), weights(criteria={"C1": "-1"}), weights(criteria={"C1": "1e9"}),
    weights(criteria={"C1": "0"}), weights(weights_id="../x"), weights(more=1), weights(criteria={"(default)": "1"}),
    weights(criteria={}),
])  # fmt: skip
def test_weights_that_say_too_little_are_refused_and_not_recorded(govern, document):
    assert govern("register", document) == (2, None)
    assert govern.ledger.size() == 0


def test_an_id_is_registered_once(govern):
    code, said = govern("register", weights())
    assert (code, said["ledger_seq"]) == (0, 1)
    assert govern("register", weights(criteria={"C1": "9"}))[0] == 4
    assert govern("register", weights())[0] == 4


def test_weights_nobody_registered_or_that_are_others_are_refused(govern, rounds):
    assert govern("sensitivity", weights(), "--all", "--landing", rounds) == (2, None)
    assert "are not registered" in govern.err
    govern("register", weights())
    assert govern("sensitivity", weights(criteria={"C1": "9"}), "--all", "--landing", rounds) == (2, None)
    assert "were registered as" in govern.err


def test_weights_that_are_younger_than_the_first_step_are_refused(govern, rounds):
    govern("register", weights(), at=LATE)
    assert govern("sensitivity", weights(), "--all", "--landing", rounds) == (2, None)
    assert "younger" in govern.err
    govern("register", weights(weights_id="w-2"), at=datetime(2026, 1, 10, 10, tzinfo=UTC))
    assert govern("sensitivity", weights(weights_id="w-2"), "--all", "--landing", rounds) == (2, None)
    assert "younger" in govern.err
    assert govern("sensitivity", weights(), rounds / "first", "--all")[0] == 2
    assert govern("sensitivity", weights())[0] == 2


def test_a_round_without_a_time_is_refused(govern, rounds):
    shutil.copytree(rounds / "first", rounds / "timeless")
    (rounds / "timeless" / "round.toml").write_text(CONTRACT)
    (rounds / "timeless" / "evidence.jsonl").write_text("")
    govern("register", weights())
    assert govern("sensitivity", weights(), "--all", "--landing", rounds) == (2, None)
    assert "carries no time" in govern.err


def test_a_ranking_says_how_much_of_it_rests_on_the_weights(govern, rounds):
    govern("register", weights())
    code, said = govern("sensitivity", weights(), "--all", "--landing", rounds, "--samples", 400, "--seed", 7)
    by_round = {row["round_id"]: row for row in said["rounds"]}
    assert code == 0
    assert {name: (row["E"], row["rank"]) for name, row in by_round.items()} == {
        "first": (0.75, 1), "both": (0.5, 2), "second": (0.25, 3),
    }  # fmt: skip
    assert (by_round["both"]["E_min"], by_round["both"]["E_max"]) == (0.5, 0.5)
    assert by_round["both"]["rank_changes_share"] == 0
    assert by_round["first"]["E_min"] < 0.1
    assert by_round["first"]["E_max"] > 0.9
    assert 0.4 < by_round["first"]["rank_changes_share"] < 0.6
    assert [(s["criterion"], s["factor"], s["rounds_changing_rank"]) for s in said["shifts"]] == [
        ("C1", 0.8, 0), ("C1", 1.2, 0), ("C2", 0.8, 0), ("C2", 1.2, 0),
    ]  # fmt: skip
    assert said["dirichlet"]["rounds_changing_rank"] == 2
    again = govern("sensitivity", weights(), "--all", "--landing", rounds, "--samples", 400, "--seed", 7)[1]
    assert again == said


def test_a_ranking_of_near_equal_weights_changes_by_a_fifth(govern, rounds):
    even = weights(criteria={"C1": "1.1", "C2": "1"})
    govern("register", even)
    said = govern("sensitivity", even, "--all", "--landing", rounds)[1]
    assert [s["rounds_changing_rank"] for s in said["shifts"]] == [2, 0, 0, 2]


def test_a_round_whose_criterion_nobody_weighed_is_unknown_and_never_zero(govern, rounds):
    partial = weights(criteria={"C1": "1"})
    govern("register", partial)
    (rounds / "second" / "evidence.jsonl").write_text('{"step": 1, "ts": "2026-01-10T10:00:00Z"\n')
    said = govern("sensitivity", partial, rounds / "first")[1]
    assert (said["rounds"], said["unknown"]) == ([], [{"round_id": "first", "reason": "weight_missing"}])
    withdefault = weights(weights_id="w-3", criteria={"C1": "1"}, default="1")
    govern("register", withdefault)
    said = govern("sensitivity", withdefault, rounds / "first")[1]
    assert [row["E"] for row in said["rounds"]] == [0.5]


def test_the_event_holds_the_weights_themselves(govern):
    govern("register", weights())
    [event] = govern.ledger.events(types={WEIGHTS})
    assert json.loads(json.dumps(dict(event.body["weights"]))) == weights()
