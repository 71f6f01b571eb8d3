"""The registry is the only list of tables and says what each of them is."""

from __future__ import annotations

from pathlib import Path

import pytest

import governance_pipeline.contracts as package
from governance_pipeline.contracts import registry
from governance_pipeline.contracts.catalogue import markdown
from governance_pipeline.contracts.fields import TableModel
from governance_pipeline.errors import UsageError
from governance_pipeline.vocabulary import Layer

TABLES = list(registry.REGISTRY)


def test_an_unknown_table_is_refused_with_the_list_of_tables():
    with pytest.raises(UsageError, match=r"no table 'core_run'; the tables are raw_log_files, "):
        registry.contract_of("core_run")


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        registry.REGISTRY["x"] = TableModel


def test_every_contract_file_is_registered_under_its_own_name():
    layers = tuple(f"{layer}_" for layer in Layer)
    files = {path.stem for path in Path(package.__file__).parent.glob("*.py") if path.stem.startswith(layers)}
    assert files == set(TABLES)
    assert {model.__module__.rpartition(".")[2]: name for name, model in registry.REGISTRY.items()} == {
        name: name for name in TABLES
    }


def test_tables_stand_in_the_order_of_the_pipeline():
    order = list(Layer)
    layers = [order.index(Layer(name.partition("_")[0])) for name in TABLES]
    assert layers == sorted(layers)


@pytest.mark.parametrize("table", TABLES)
def test_a_contract_says_its_grain_its_key_its_version_and_every_column(table):
    assert registry.grain_of(table).startswith("One row per ")
    assert registry.grain_of(table).endswith((".", ")"))
    assert set(registry.key_of(table)) <= set(registry.descriptions_of(table))
    assert registry.version_of(table) >= 1
    assert [name for name, text in registry.descriptions_of(table).items() if not text.endswith(".")] == []


@pytest.mark.parametrize("table", TABLES)
def test_a_table_kept_by_round_has_the_round_in_its_key(table):
    assert registry.is_by_round(table) == ("round_id" in registry.key_of(table))


def test_lexeme_columns_are_those_declared_as_such_and_those_named_so():
    assert registry.lexeme_columns("audit_cross_checks") == ("declared", "computed", "delta", "epsilon")
    assert registry.lexeme_columns("core_usage") == ("cost_lexeme",)
    assert registry.lexeme_columns("core_runs") == ()


def test_the_catalogue_has_one_line_per_table_with_key_and_version():
    lines = markdown().splitlines()
    assert len(lines) == 2 + len(TABLES)
    assert lines[2] == (
        "| `raw_log_files` | One row per regular file of a round, whatever it is | 13 | `round_id`, `path` | 1 |"
    )
