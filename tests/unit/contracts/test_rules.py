"""A contract that the SQL pass could not hold is refused, not half-checked."""

from __future__ import annotations

import re

import pandera.pandas as pandera
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.contracts import fields
from governance_pipeline.contracts.fields import Count, Flag, Real, TableModel, Text
from governance_pipeline.contracts.rules import rules_of

KEY = ["name"]


def test_a_check_without_an_sql_form_is_refused():
    class Contract(TableModel):
        name: Text = pandera.Field(str_contains="x", description="Name.")

        class Config(TableModel.Config):
            unique = KEY

    with pytest.raises(NotImplementedError, match="column name has the check str_contains, which has no SQL form"):
        rules_of(Contract)


def test_a_range_that_is_not_the_finite_one_is_refused():
    class Contract(TableModel):
        name: Real = pandera.Field(in_range={"min_value": 0, "max_value": 1}, description="Name.")

        class Config(TableModel.Config):
            unique = KEY

    with pytest.raises(NotImplementedError, match="in_range"):
        rules_of(Contract)


def test_a_check_over_several_columns_is_refused():
    class Contract(TableModel):
        name: Text = fields.text("Name.")

        @pandera.dataframe_check
        def always(cls, frame):  # noqa: N805 - pandera makes it a class method
            return frame["name"].notna()

        class Config(TableModel.Config):
            unique = KEY

    with pytest.raises(NotImplementedError, match="no other rule over columns"):
        rules_of(Contract)


def test_a_contract_without_a_key_is_refused():
    class Contract(TableModel):
        name: Text = fields.text("Name.")

    with pytest.raises(NotImplementedError, match="must have a key"):
        rules_of(Contract)


def test_rules_are_listed_column_by_column_and_named_with_their_argument():
    class Contract(TableModel):
        name: Text = fields.text("Name.", pattern="^a|b$")
        size: Count = fields.count("Size.", null=True, at_least=2)
        share: Real = fields.real("Share.", low=0, high=1)
        done: Flag = fields.flag("Done.", null=True, always=True)

        class Config(TableModel.Config):
            unique = KEY

    assert [(rule.column, rule.name) for rule in rules_of(Contract)] == [
        ("name", "not_null"),
        ("name", "matches(a|b)"),
        ("size", "ge(2)"),
        ("share", "ge(0)"),
        ("share", "le(1)"),
        ("share", "finite"),
        ("done", "eq(True)"),
        ("name", "unique"),
    ]


@settings(max_examples=50)
@given(st.from_regex(fields.NUMBER_PATTERN, fullmatch=True).filter(lambda text: text.isascii()))
def test_a_lexeme_is_canonical(text):
    assert not re.search(r"[eE+]|\.0*$|^-?0[0-9]|^-0$|\.[0-9]*0$", text), text


@pytest.mark.parametrize("text", ["-0", "-0.0", "1.50", "1.", ".5", "+1", "01", "1e5", "1\n", "", "NaN", "\u0661"])
def test_a_number_not_in_canonical_form_is_no_lexeme(text):
    assert re.fullmatch(fields.NUMBER_PATTERN.removeprefix("^").removesuffix("$"), text) is None
