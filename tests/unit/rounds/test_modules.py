"""A file has exactly one module, and the first who can name it does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import UsageError
from governance_pipeline.rounds.contract import Module, RoundContract, Scope
from governance_pipeline.rounds.modules import ModuleMap, is_module_rule

TABLE = (Module("api", ("src/api/**",)), Module("all", ("src/**", "!src/gen/**")))


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "dir",
        "dir:",
        "dir:0",
        "dir:00",
        "dir:01",
        "dir:100",
        "dir:-1",
        "dir:2 ",
        " dir:2",
        "DIR:2",
        "dir:٣",
        "dir:2\n",
    ],
)
def test_what_is_no_module_rule_is_refused(rule):
    assert not is_module_rule(rule)
    with pytest.raises(UsageError, match="dir:1 to dir:99"):
        ModuleMap(rule=rule)


def test_a_bad_glob_in_the_table_is_refused():
    with pytest.raises(UsageError, match="never closed"):
        ModuleMap((Module("x", ("[a",)),))


@pytest.mark.parametrize("rule", ["dir:1", "dir:9", "dir:10", "dir:99"])
def test_depths_from_one_to_ninety_nine_are_rules(rule):
    assert ModuleMap(rule=rule).rule == rule


def test_without_a_contract_the_default_rule_is_in_force():
    assert ModuleMap.of(None).rule == "dir:2"
    assert ModuleMap.of(RoundContract()).rule == "dir:2"


def test_a_table_without_a_rule_leaves_none_in_force():
    assert ModuleMap.of(RoundContract(modules=TABLE)).rule is None
    assert ModuleMap.of(RoundContract(modules=())).rule is None


@pytest.mark.parametrize(
    ("rule", "path", "module"),
    [
        ("dir:2", "Makefile", "."),
        ("dir:2", "src/a.py", "src"),
        ("dir:2", "src/api/x/y.py", "src/api"),
        ("dir:1", "src/api/x/y.py", "src"),
        ("dir:99", "a/b/c/d", "a/b/c"),
        ("dir:2", "./src//x/../a.py", "src"),
        ("dir:1", "/src/a.py", "(outside)"),
        ("dir:1", "src/../../a.py", "(outside)"),
        ("dir:1", "src/..", "."),
    ],
)
def test_a_rule_names_the_first_folders(rule, path, module):
    assert ModuleMap(rule=rule).module(path) == module


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("src/api/a.py", "api"),
        ("src/b.py", "all"),
        ("src/gen/c.py", "(unmatched)"),
        ("docs/c.md", "(unmatched)"),
        ("/src/api/a.py", "(outside)"),
    ],
)
def test_a_table_alone_names_the_first_entry_that_covers_or_unmatched(path, module):
    assert ModuleMap(TABLE).module(path) == module


def test_the_order_of_the_table_decides():
    assert ModuleMap(TABLE[::-1]).module("src/api/a.py") == "all"


def test_a_rule_names_what_the_table_leaves():
    assert ModuleMap.of(RoundContract(modules=TABLE, scope=Scope(module_rule="dir:1"))).module("docs/x/c.md") == "docs"


def test_an_empty_table_leaves_everything_unmatched():
    assert ModuleMap(()).module("src/a.py") == "(unmatched)"


@pytest.mark.parametrize("path", ["src/api/a.py", "docs/c.md", "/etc/x"])
def test_the_module_of_the_event_comes_first(path):
    assert ModuleMap(TABLE).module(path, "x") == "x"


@settings(deadline=None)
@given(st.text(max_size=15))
def test_every_text_has_a_module_under_every_map(path):
    assert ModuleMap(rule="dir:1").module(path)
    assert ModuleMap(TABLE).module(path)
