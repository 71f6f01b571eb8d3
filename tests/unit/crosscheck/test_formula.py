"""Claims about recompute expressions: the closed grammar, and that everything else is refused whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.formula import (
    Aggregate,
    Arithmetic,
    Column,
    Formula,
    FormulaRefused,
    Function,
    Negation,
    Number,
    Operator,
    normalised,
    parse_formula,
)

FORBIDDEN = [
    "(select max(total) from invoices)", "sum(l.a) + read_csv('x.csv')", "sum(l.a); drop table l", "sum(l.a);",
    "sum(l.a) over ()", "coalesce(sum(l.a), 0)", "sum(l.a / 3)", "sum(l.a) -- total", "sum(l.a) /* total */", "-- total",
    "+sum(l.a)", "sum(+l.a)", "sum(all l.a)", "count(all l.a)", "{fn sum(l.a)}", "sum(l.a,)", "{{ sum(l.a) }}",
    "sum(distinct l.a)", "min(distinct l.a)", "count(distinct l.a, l.b)", "count(distinct *)", "count(1)", "count(l.*)",
    "sum(l.*)", "sum(1)", "sum(max(l.a))", "max(l.a, l.b)", "sum(l.a) filter (where l.a > 0)", "sum(l.a order by l.b)",
    "sum(l.a ignore nulls)", "sum(l.a) as total", "sum(l.a) total", "sum(l.a)::int", "cast(sum(l.a) as int)",
    "sum(x.l.a)", '"sum"(l.a)', 'sum("l".a)', 'sum(l."*")', "sum('a')", "N'x'", "sum(l.a) % 2", "sum(l.a) || 2",
    "sum(l.a) > 1", "not sum(l.a)", "case when 1 = 1 then sum(l.a) end", "if(true, sum(l.a), 0)", "sum(@a)", "sum(l.a)*?",
    "sum(l.a)*:p", "nullif(sum(l.a), 0)", "round(sum(l.a))", "abs(sum(l.a))", "median(l.a)", "stddev(l.a)", ".5*sum(l.a)",
    "sum(l.a) + " + "9" * 39, "sum(l.a) * 1e-31", "(" * 17 + "sum(l.a)" + ")" * 17, "sum(l.a)" + "+1" * 250,
    "sum(l.a) + null", "sum(l.a) + true", "exists(select 1)", "pragma x", "sum(l.a)[0]", "x" * 4001,
]  # fmt: skip


def codes(text: str, only_source: str | None = None) -> list[str]:
    with pytest.raises(FormulaRefused) as caught:
        parse_formula(text, only_source)
    return [code for code, _ in caught.value.faults]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_what_is_outside_the_grammar_is_refused_whole(text):
    assert codes(text, "l") == ["recompute_forbidden"]


@pytest.mark.parametrize(
    "text", ["", "  ", "sum(l.a", "sum(l.a))", "sum(", "2 sum(l.a)", "sum(l.a) sum(l.b) 3", "0x1F*sum(l.a)"]
)
def test_what_is_no_expression_is_a_syntax_error(text):
    assert codes(text) == ["recompute_syntax"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l.amount", ["recompute_not_aggregate"]),
        ("sum(l.a) + l.b", ["recompute_not_aggregate"]),
        ("amount", ["recompute_unqualified"]),
        ("sum(amount)", ["recompute_unqualified"]),
        ("count(amount)", ["recompute_unqualified"]),
        ("count(*)", ["recompute_unqualified"]),
        ("sum(l.a) - sum(m.a) + count(*)", ["recompute_unqualified"]),
        ("sum(l.a * m.b)", ["recompute_mixed_sources"]),
        ("100.0", ["no_components"]),
        ("-(1 + 2)", ["no_components"]),
        (
            "l.b + sum(c) + sum(l.a * m.b)",
            ["recompute_not_aggregate", "recompute_unqualified", "recompute_mixed_sources"],
        ),
    ],
)
def test_every_fault_of_a_well_formed_expression_is_named(text, expected):
    assert codes(text) == expected


def test_a_message_holds_no_terminal_escapes():
    with pytest.raises(FormulaRefused) as caught:
        parse_formula("sum(l.a) \x1b[31m )")
    assert "\x1b" not in str(caught.value)


def test_the_tree_keeps_precedence_and_parentheses():
    root = parse_formula("100.0 * sum(l.a) / (2 - count(*))").root
    x, rows = Column("l", "a"), Aggregate(Function.COUNT_ROWS, "l", None)
    product = Arithmetic(Operator.MULTIPLY, root.left.left, Aggregate(Function.SUM, "l", x))
    assert isinstance(root.left.left, Number)
    assert root == Arithmetic(Operator.DIVIDE, product, Arithmetic(Operator.SUBTRACT, root.right.left, rows))


def test_minus_binds_left_to_right():
    root = parse_formula("sum(l.a) - sum(l.b) - -sum(l.c)").root
    a, b, c = (Aggregate(Function.SUM, "l", Column("l", name)) for name in "abc")
    assert root == Arithmetic(Operator.SUBTRACT, Arithmetic(Operator.SUBTRACT, a, b), Negation(c))


def test_keywords_have_any_case_and_names_are_exact():
    formula = parse_formula('SUM( l."unit price" * l.Qty ) + Count(DISTINCT l.sum)')
    assert formula.columns == (Column("l", "Qty"), Column("l", "sum"), Column("l", "unit price"))


@pytest.mark.parametrize("name", ["order", "date", "count", "end", "año", '"a""b"', '"x; drop table y --"', '""'])
def test_any_column_name_can_be_read(name):
    column = parse_formula(f"sum(l.{name})").columns[0]
    assert column.name == (name[1:-1].replace('""', '"') if name.startswith('"') else name)


@pytest.mark.parametrize(
    ("text", "only", "source"), [("count(*)", "l", "l"), ("count(*) + sum(m.a)", "l", "m"), ("count(*) * 2", "l", "l")]
)
def test_count_star_counts_the_one_source_it_can_mean(text, only, source):
    assert parse_formula(text, only).sources == {source}


@pytest.mark.parametrize(
    ("text", "divides"), [("sum(l.a)", False), ("avg(l.a)", True), ("sum(l.a)/2", True), ("min(l.a)*0.5", False)]
)
def test_only_a_quotient_is_rounded(text, divides):
    assert parse_formula(text).divides is divides


def test_whitespace_is_one_space_outside_quotes_only():
    text = '  sum(\n\tl."a  b" ) \n'
    assert normalised(text) == 'sum( l."a  b" )'
    assert parse_formula(text).digest == parse_formula('sum( l."a  b" )').digest


# ---------------------------------------------------------------- whatever is written
ATOMS = st.sampled_from(["l.a", 'l."b c"', "2", "0.5", "1e2"])
INSIDE = st.recursive(
    ATOMS,
    lambda part: st.builds("({} {} {})".format, part, st.sampled_from("+-*"), part) | part.map("- {}".format),
    max_leaves=6,
)
AGGREGATES = st.builds("{}(l.a * {})".format, st.sampled_from(["sum", "MIN", "max", "Avg"]), INSIDE) | st.sampled_from(
    ["count(*)", "count(l.a)", 'count(distinct l."b c")']
)
OUTSIDE = st.recursive(
    AGGREGATES | st.sampled_from(["3", "0.25"]),
    lambda part: st.builds("({} {} {})".format, part, st.sampled_from("+-*/"), part) | part.map("- {}".format),
    max_leaves=6,
)
MARKS = (
    "sum min max avg count distinct ( ) ( ) l.a m.b l . * / + - , 1 0.5 .5 'x' \"y\" select from over filter where null"
    " ; -- /* */ :: [ ] { } all as cast case end @ ? : | = < > ! % & ^ ~ $ # \\ \x00 \u00a0"
)
WORDS = st.lists(st.sampled_from(MARKS.split(" ")), max_size=14).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(OUTSIDE)
def test_everything_the_grammar_writes_is_read(text):
    if any(word in text.lower() for word in ("sum(", "min(", "max(", "avg(", "count(")):
        assert isinstance(parse_formula(text, "l"), Formula)
    else:
        assert codes(text) == ["no_components"]


@settings(max_examples=150, deadline=None)
@given(WORDS | st.text(max_size=30))
def test_any_text_is_a_formula_or_a_refusal(text):
    try:
        found = list(parse_formula(text, "l").sources)
    except FormulaRefused as refusal:
        found = refusal.faults
    assert found
