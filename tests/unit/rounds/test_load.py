"""Each rule of a round contract, broken once: the code, the line, and a message that says what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import ContractTextError, UnreadableError
from governance_pipeline.rounds.contract import (
    Criterion,
    GoalPolicy,
    KeyResult,
    Mode,
    Module,
    Policy,
    Repo,
    RoundContract,
    Scope,
)
from governance_pipeline.rounds.load import load_contract, parse_contract, read_contract
from governance_pipeline.vocabulary import ContractState

HEAD = 'schema = "govern/round/v1"\n'  # so that the text under test begins on line 2
FULL = (Path(__file__).parent / "full.toml").read_text("utf-8")


def faults(text: str) -> list[tuple[str, int | None]]:
    with pytest.raises(ContractTextError) as caught:
        parse_contract(text.encode(), "round.toml")
    return [(fault.code, fault.line) for fault in caught.value.faults]


def load(text: str) -> RoundContract:
    return parse_contract((HEAD + text).encode(), "round.toml")


BROKEN = [
    # unknown keys, anywhere
    ("objective = 'x'", "unknown_key", 2),
    ("[rounds]\nmode = 'quick'", "unknown_key", 2),
    ("[round]\nobjektive = 'x'", "unknown_key", 3),
    ("[scope]\nexclude = []", "unknown_key", 3),
    ("[policy]\nmode = 'warn'", "unknown_key", 3),
    ("[repo]\n\nhead = 'x'", "unknown_key", 4),
    ("[[key_result]]\nid = 'K'\nname = 'x'", "unknown_key", 4),
    ("[[criterion]]\nid = 'C'\n[[criterion]]\nid = 'D'\nwieght = 1", "unknown_key", 6),
    # wrong types: nothing is coerced
    ("round = 1", "wrong_type", 2),
    ("[[round]]\nobjective = 'x'", "wrong_type", 2),
    ("[round]\nobjective = 1", "wrong_type", 3),
    ("[round]\nproject = ['x']", "wrong_type", 3),
    ("[round]\ncohort = {a = 'x'}", "wrong_type", 3),
    ("[round]\ntask_kind = true", "wrong_type", 3),
    ("[round]\nlanguage = 1.0", "wrong_type", 3),
    ("[round]\nparent = 41", "wrong_type", 3),
    ("[round]\nbaseline_version = 2026-01-01", "wrong_type", 3),
    ("[round]\nmode = 1", "wrong_type", 3),
    ("[round]\ncontributes_to = 'KR1'", "wrong_type", 3),
    ("[round]\ncontributes_to = [\n  1]", "wrong_type", 4),
    ("scope = []", "wrong_type", 2),
    ("[scope]\ninclude = 'src'", "wrong_type", 3),
    ("[scope]\nnon_goals = ['a',\n'b',\n3]", "wrong_type", 5),
    ("[scope]\nmodule_rule = 2", "wrong_type", 3),
    ("modules = ['src']", "wrong_type", 2),
    ("[modules]\na = 'src'", "wrong_type", 3),
    ("[modules.a]\nglobs = []", "wrong_type", 2),
    ("[policy]\nmaterial_files = 10.0", "wrong_type", 3),
    ("[policy]\nmaterial_files = true", "wrong_type", 3),
    ("[policy]\nmaterial_churn = '400'", "wrong_type", 3),
    ("[policy]\ngoal_substitution = false", "wrong_type", 3),
    ("[key_result]\nid = 'K'", "wrong_type", 2),
    ("key_result = [\n{id = 'K'},\n'x']", "wrong_type", 4),
    ("[[criterion]]\nid = 1", "wrong_type", 3),
    ("[[criterion]]\nid = 'C'\nrequired = 1", "wrong_type", 4),
    ("[[criterion]]\nid = 'C'\nweight = '1'", "wrong_type", 4),
    ("[[criterion]]\nid = 'C'\nweight = true", "wrong_type", 4),
    ("[[criterion]]\nid = 'C'\ncheck = ['pytest']", "wrong_type", 4),
    ("[repo]\ndirected = 'no'", "wrong_type", 3),
    # blank texts
    ("[round]\nobjective = ''", "blank_text", 3),
    ("[round]\nproject = ' \t '", "blank_text", 3),
    ('[round]\nlanguage = "\\u200b\\u00a0"', "blank_text", 3),
    ("[[key_result]]\nid = ' '", "blank_text", 3),
    ("[[criterion]]\nid = 'C'\ntext = ''", "blank_text", 4),
    ("[[criterion]]\nid = 'C'\nkr = ''", "blank_text", 4),
    ("[round]\ncontributes_to = ['']", "blank_text", 3),
    ("[modules]\na = []\n'' = []", "blank_text", 4),
    ("[repo]\npath = ''", "blank_text", 3),
    # bad globs, each at its own line
    ("[scope]\ninclude = ['src/**',\n'']", "bad_glob", 4),
    ("[scope]\npublic = ['a//b']", "bad_glob", 3),
    ("[scope]\nobjective_set = ['[ab']", "bad_glob", 3),
    ("[modules]\na = ['x']\nb = [\n'!']", "bad_glob", 5),
    # closed lists, ids, rules, ranges
    ("[round]\nmode = 'Final'", "unknown_value", 3),
    ("[policy]\ngoal_substitution = 'off'", "unknown_value", 3),
    ("[round]\nparent = '../r-1'", "bad_round_id", 3),
    ("[scope]\nmodule_rule = 'dir:0'", "bad_module_rule", 3),
    ("[scope]\nmodule_rule = 'dir:100'", "bad_module_rule", 3),
    ("[policy]\nmaterial_files = 0", "bad_threshold", 3),
    ("[policy]\nmaterial_churn = -1", "bad_threshold", 3),
    ("[policy]\nmaterial_churn = 9223372036854775808", "integer_out_of_range", 3),
    ("[[criterion]]\nid = 'C'\nweight = -0.5", "bad_weight", 4),
    ("[[criterion]]\nid = 'C'\nweight = -1", "bad_weight", 4),
    ("[[criterion]]\nid = 'C'\nweight = inf", "bad_weight", 4),
    ("[[criterion]]\nid = 'C'\nweight = nan", "bad_weight", 4),
    ("[[criterion]]\nid = 'C'\nweight = 1e999", "bad_weight", 4),
    (f"[[criterion]]\nid = 'C'\nweight = {10**400}", "integer_out_of_range", 4),
    # between tables
    ("[[key_result]]\nid = 'K'\n[[key_result]]\nid = 'K'", "duplicate_id", 5),
    ("[[criterion]]\nid = 'C'\n[[criterion]]\nid = 'C'", "duplicate_id", 5),
    ("[[key_result]]\nid = 'K'\n[round]\ncontributes_to = ['K',\n'K']", "duplicate_id", 6),
    ("[[key_result]]\ntext = 'x'", "missing_key", 2),
    ("[[criterion]]\nid = 'C'\n[[criterion]]\nkr = 'K'\n[[key_result]]\nid = 'K'", "missing_key", 4),
    ("[[criterion]]\nid = 'C'\nkr = 'K'", "unknown_key_result", 4),
    ("[[criterion]]\nid = 'C'\nkr = 'k'\n[[key_result]]\nid = 'K'", "unknown_key_result", 4),
    ("[round]\ncontributes_to = ['K']", "unknown_key_result", 3),
    # TOML itself
    ("[round]\nmode = 'quick'\nmode = 'final'", "toml_syntax", 4),
]


@pytest.mark.parametrize(("text", "code", "line"), BROKEN)
def test_a_broken_rule_is_refused_with_its_line_and_nothing_else(text, code, line):
    assert faults(HEAD + text) == [(code, line)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "missing_key"),
        ("schema = 1", "wrong_type"),
        ("schema = ''", "blank_text"),
        ("schema = 'govern/round/v2'", "unknown_schema"),
    ],
)
def test_a_contract_states_the_schema_this_version_reads(text, code):
    assert faults(text) == [(code, 1)]


def test_all_faults_come_out_at_once_in_the_order_of_lines():
    text = "x = 1\nschema = 'govern/round/v1'\n[[criterion]]\nweight = -1\n[policy]\nmaterial_files = 0\n[scope]\ninclude = ['[']\n"
    assert faults(text) == [
        ("unknown_key", 1),
        ("missing_key", 3),
        ("bad_weight", 4),
        ("bad_threshold", 6),
        ("bad_glob", 8),
    ]


def test_key_results_that_cannot_be_read_do_not_make_every_reference_wrong():
    assert faults(HEAD + "key_result = 1\n[round]\ncontributes_to = ['K']\n") == [("wrong_type", 2)]


def test_an_error_names_the_file_the_line_and_what_to_do():
    with pytest.raises(
        ContractTextError,
        match=r"round\.toml is refused: line 3: unknown_key: round\.objektive .*did you mean objective\?",
    ):
        load("[round]\nobjektive = 'x'")


def test_hostile_text_is_escaped_in_messages():
    with pytest.raises(ContractTextError) as caught:
        load('[round]\nmode = "\\u001b[31m\\u202e"\n"k\\u0007" = 1')
    assert all(fault.message.isprintable() for fault in caught.value.faults)


def test_the_smallest_contract_has_every_default():
    contract = load("")
    assert contract == RoundContract()
    assert (contract.mode, contract.contributes_to, contract.scope.include, contract.modules) == (
        Mode.QUICK,
        None,
        None,
        None,
    )
    assert (contract.policy, contract.repo, contract.required) == (Policy(), None, ())


def test_absent_lists_are_none_and_empty_ones_empty():
    contract = load("criterion = []\nkey_result = []\n[round]\ncontributes_to = []\n[scope]\npublic = []\n[modules]\n")
    assert (contract.criteria, contract.key_results, contract.contributes_to, contract.modules) == ((), (), (), ())
    assert contract.scope == Scope(public=())


def test_the_example_of_the_specification_is_read_whole():
    assert parse_contract(FULL.encode(), "full.toml") == RoundContract(
        objective="Parser accepts nested quotes",
        project="acme/parser",
        cohort="parser/bugfix",
        task_kind="bugfix",
        language="python",
        parent="r-0041",
        baseline_version="1.0.0",
        mode=Mode.FINAL,
        contributes_to=("KR1",),
        key_results=(KeyResult("KR1", "…"),),
        criteria=(Criterion("C1", "KR1", True, 1.0, "…", "pytest tests/parser -q"),),
        scope=Scope(("src/parser/**",), ("src/ui/**",), ("src/api/**",), ("src/parser/quotes.py",), "dir:2"),
        modules=(Module("core parser", ("src/parser/**",)),),
        policy=Policy(GoalPolicy.WARN, 10, 400),
        repo=Repo("../repo", "4f1c2d…", False),
    )


def test_criteria_have_their_defaults_and_integers_are_weights():
    contract = load(
        "[[criterion]]\nid = 'C1'\n[[criterion]]\nid = 'C2'\nrequired = false\nweight = 3\n[[criterion]]\nid = 'C3'\nweight = -0.0"
    )
    assert contract.criteria == (
        Criterion("C1"),
        Criterion("C2", required=False, weight=3.0),
        Criterion("C3", weight=0.0),
    )
    assert str(contract.criteria[2].weight) == "0.0"
    assert [criterion.id for criterion in contract.required] == ["C1", "C3"]


def test_modules_keep_the_order_written():
    assert [m.name for m in load("[modules]\nz = ['a']\n'b c' = []\na = ['x']").modules or ()] == ["z", "b c", "a"]


def test_a_key_result_and_a_criterion_may_share_an_id():
    assert load("[[key_result]]\nid = 'X'\n[[criterion]]\nid = 'X'\nkr = 'X'").criteria == (Criterion("X", "X"),)


def test_a_round_without_a_contract_is_absent_not_invalid(tmp_path):
    for path in (None, tmp_path / "round.toml", tmp_path / "no" / "round.toml"):
        assert read_contract(path) == (ContractState.ABSENT, None, [])


def test_an_invalid_contract_comes_back_as_its_faults(tmp_path):
    (tmp_path / "round.toml").write_text(HEAD + "x = 1\n", "utf-8")
    state, contract, found = read_contract(tmp_path / "round.toml")
    assert (state, contract) == (ContractState.INVALID, None)
    assert [(fault.code, fault.line) for fault in found] == [("unknown_key", 2)]


def test_a_valid_contract_comes_back_without_faults(tmp_path):
    (tmp_path / "round.toml").write_text(FULL, "utf-8")
    assert read_contract(tmp_path / "round.toml") == (ContractState.VALID, load_contract(tmp_path / "round.toml"), [])


def make_folder(path: Path) -> None:
    path.mkdir()


def make_dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def make_link(path: Path) -> None:
    path.with_name("other.toml").write_text(HEAD, "utf-8")
    path.symlink_to(path.with_name("other.toml"))


@pytest.mark.parametrize("make", [make_folder, make_dangling_link, make_link, os.mkfifo])
def test_what_is_no_regular_file_is_unreadable_and_never_followed(tmp_path, make):
    make(tmp_path / "round.toml")
    with pytest.raises(UnreadableError):
        load_contract(tmp_path / "round.toml")
    state, contract, found = read_contract(tmp_path / "round.toml")
    assert (state, contract, [fault.code for fault in found]) == (ContractState.INVALID, None, ["unreadable"])


def test_a_missing_file_is_unreadable(tmp_path):
    with pytest.raises(UnreadableError):
        load_contract(tmp_path / "round.toml")


def test_a_file_too_large_is_refused_without_being_read_whole(tmp_path):
    path = tmp_path / "round.toml"
    with path.open("wb") as stream:
        stream.truncate(2**33)
    assert [fault.code for fault in read_contract(path)[2]] == ["document_too_large"]


LINES = st.lists(
    st.sampled_from(
        [*FULL.splitlines(), *(line for text, _, _ in BROKEN for line in text.splitlines()), "[", "=", "'''", "\x00"]
    ),
    max_size=25,
)
CUT = st.tuples(st.integers(0, len(FULL)), st.integers(0, len(FULL)), st.binary(max_size=4)).map(
    lambda c: FULL.encode()[: c[0]] + c[2] + FULL.encode()[c[1] :]
)


@settings(deadline=None)
@given(
    st.binary(max_size=300)
    | CUT
    | LINES.map(lambda lines: "\n".join(lines).encode())
    | LINES.map(lambda lines: (HEAD + "\n".join(lines)).encode())
)
def test_any_bytes_are_a_contract_or_refused_with_lines(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any-round.toml"
    path.write_bytes(data)
    try:
        assert isinstance(load_contract(path), RoundContract)
    except ContractTextError as error:
        found = error.faults
    else:
        return
    lines = [fault.line for fault in found]
    assert found
    assert all(line is None or 1 <= line <= data.count(b"\n") + 1 for line in lines)
    assert lines == sorted(lines, key=lambda line: line or 0)
