"""The rules of a round, read back from its rows."""

from __future__ import annotations

import pytest

from governance_pipeline.trajectory.reasons import Reason
from governance_pipeline.trajectory.rules import rules_of
from governance_pipeline.trajectory.step_surface import step_surface
from governance_pipeline.vocabulary import ContractState

HEAD = 'schema = "govern/round/v1"\n'


def rules(tables):
    return rules_of(tables["core_rounds"], tables["core_criteria"])["r-1"]


@pytest.mark.parametrize(
    ("toml", "state", "reason"),
    [
        (None, ContractState.ABSENT, Reason.NO_CONTRACT),
        ("x = 1", ContractState.INVALID, Reason.CONTRACT_INVALID),
        (HEAD, ContractState.VALID, None),
    ],
)
def test_without_a_valid_contract_only_the_default_module_rule_is_known(one_round, toml, state, reason):
    found = rules(one_round([], toml))
    assert (found.state, found.no_contract, found.include, found.public) == (state, reason, None, None)
    assert (found.modules.rule, found.declares_modules) == ("dir:2", False)
    assert (found.contract is None) == (reason is not None)


def test_an_empty_list_is_declared_and_an_absent_one_is_not(one_round):
    found = rules(one_round([], HEAD + "[scope]\ninclude = []"))
    assert found.include is not None
    assert not found.include.match("src/a.py")
    assert found.public is None


def test_globs_keep_their_order_and_modules_theirs(one_round):
    toml = HEAD + "[scope]\ninclude = ['src/*', '!src/gen/**']\n[modules]\nz = ['src/a/**']\na = ['src/**']"
    found = rules(one_round([], toml))
    assert [found.include.match(path) for path in ("src/a.py", "src/gen/z.py")] == [True, False]
    assert [found.modules.module(path) for path in ("src/a/b.py", "src/b.py", "c")] == ["z", "a", "(unmatched)"]
    assert (found.modules.rule, found.declares_modules) == (None, True)


@pytest.mark.parametrize(("rule", "declares"), [("dir:1", True), ("dir:2", True)])
def test_a_rule_the_contract_names_declares_modules(one_round, rule, declares):
    found = rules(one_round([], HEAD + f"[scope]\nmodule_rule = '{rule}'"))
    assert (found.modules.rule, found.declares_modules) == (rule, declares)


def test_only_required_criteria_are_required(one_round):
    toml = HEAD + "[[criterion]]\nid = 'a'\n[[criterion]]\nid = 'b'\nrequired = false"
    assert [criterion.id for criterion in rules(one_round([], toml)).contract.required] == ["a"]


def test_a_file_is_placed_by_its_own_contract_however_many_rounds_share_one(tables, contract, file):
    changes = [{"step": 1, "files": [file("docs/a"), file("src/b")]}]
    apart = contract.replace('include = ["src/**"]', 'include = ["docs/**", "src/**"]')
    contracts = {"r-1": contract, "r-2": contract + "# the same\n", "r-3": apart}
    made = tables({of: {"round.toml": toml, "changes.jsonl": changes} for of, toml in contracts.items()})
    rules = rules_of(made["core_rounds"], made["core_criteria"])
    assert rules["r-1"].placing == rules["r-2"].placing != rules["r-3"].placing
    rows = step_surface(made).set_index("round_id")
    assert rows["outside_scope_ratio"].to_dict() == {"r-1": 0.5, "r-2": 0.5, "r-3": 0.0}
