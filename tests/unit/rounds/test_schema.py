"""The shipped JSON Schema describes the documents the loader reads, up to the rules it says it cannot express."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from governance_pipeline.errors import ContractTextError
from governance_pipeline.rounds import load
from governance_pipeline.rounds.contract import SCHEMA
from governance_pipeline.rounds.load import parse_contract

HERE = Path(__file__).parent
DOCUMENT = json.loads((Path(load.__file__).parent / "schemas" / "round-v1.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(DOCUMENT)
HEAD = f'schema = "{SCHEMA}"\n'

BAD = [
    "",
    "schema = 'govern/round/v2'",
    HEAD + "x = 1",
    HEAD + "[round]\nobjektive = 'x'",
    HEAD + "[round]\nobjective = ' '",
    HEAD + "[round]\nmode = 'slow'",
    HEAD + "[round]\nparent = 'a..b'",
    HEAD + "[scope]\ninclude = 'src'",
    HEAD + "[scope]\ninclude = ['a//b']",
    HEAD + "[scope]\ninclude = ['#a']",
    HEAD + "[scope]\ninclude = ['a ']",
    HEAD + "[scope]\ninclude = ['!/']",
    HEAD + "[scope]\nmodule_rule = 'dir:0'",
    HEAD + "[modules]\n'' = []",
    HEAD + "[modules]\na = 'x'",
    HEAD + "[policy]\nmaterial_files = 0",
    HEAD + "[policy]\nmaterial_files = true",
    HEAD + "[policy]\ngoal_substitution = 'off'",
    HEAD + "[[key_result]]\ntext = 'x'",
    HEAD + "[[criterion]]\nid = 'C'\nweight = -1",
    HEAD + "[[criterion]]\nid = 'C'\nrequired = 1",
    HEAD + "[[key_result]]\nid = 'K'\n[round]\ncontributes_to = ['K', 'K']",
    HEAD + "[repo]\ndirected = 'no'",
]
GOOD = [
    HEAD,
    (HERE / "full.toml").read_text("utf-8"),
    HEAD + "[modules]\n[scope]\ninclude = []\npublic = ['!a', 'a b', '!!x', '*', 'a\\\\b']\n",
    HEAD + "[[criterion]]\nid = 'C'\nweight = 2\n[round]\ncontributes_to = []\nparent = 'r-1'",
    *(
        (case / "round.toml").read_text("utf-8")
        for case in sorted((HERE / "cases").iterdir())
        if "f19" not in case.name and (case / "round.toml").exists()
    ),
]
BEYOND = [
    HEAD + "[scope]\ninclude = ['[a']",
    HEAD + "[scope]\ninclude = ['a\\']",
    HEAD + "[[criterion]]\nid = 'C'\n[[criterion]]\nid = 'C'",
    HEAD + "[[criterion]]\nid = 'C'\nkr = 'K'",
    HEAD + "[[criterion]]\nid = 'C'\nweight = inf",
]


def loads(text: str) -> bool:
    try:
        parse_contract(text.encode(), "round.toml")
    except ContractTextError:
        return False
    return True


def test_the_schema_is_one_and_names_the_version_it_describes():
    Draft202012Validator.check_schema(DOCUMENT)
    assert DOCUMENT["$id"] == DOCUMENT["properties"]["schema"]["const"] == SCHEMA


@pytest.mark.parametrize("text", BAD)
def test_schema_and_loader_refuse(text):
    assert (VALIDATOR.is_valid(tomllib.loads(text)), loads(text)) == (False, False)


@pytest.mark.parametrize("text", GOOD)
def test_schema_and_loader_accept(text):
    assert (VALIDATOR.is_valid(tomllib.loads(text)), loads(text)) == (True, True)


@pytest.mark.parametrize("text", BEYOND)
def test_the_rules_the_schema_leaves_to_the_loader_are_the_loader_s(text):
    assert (VALIDATOR.is_valid(tomllib.loads(text)), loads(text)) == (True, False)


def test_every_key_of_the_schema_is_described():
    parts = [DOCUMENT, *(p.get("items", p) for p in DOCUMENT["properties"].values())]
    assert [key for part in parts for key, rule in part.get("properties", {}).items() if "description" not in rule] == [
        "schema"
    ]
