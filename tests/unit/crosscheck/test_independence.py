"""Claims about the static proof: what sqlglot reaches is what the expression names, and no declared column hides."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.crosscheck.check import Role
from governance_pipeline.crosscheck.check_set import parse_checks
from governance_pipeline.crosscheck.formula import ALL_ROWS, Column, FormulaRefused, parse_formula
from governance_pipeline.crosscheck.independence import lineage_proof
from governance_pipeline.crosscheck.lineage import reachable_columns
from governance_pipeline.crosscheck.source import Source


def source(name: str, role: Role = Role.COMPONENTS, **more) -> Source:
    return Source(name=name, role=role, key="id", **more)


def sources(*known: Source) -> dict[str, Source]:
    return {one.name: one for one in known}


def test_a_column_of_a_source_that_declares_is_reached_and_refused():
    known = sources(source("d", Role.DECLARED), source("p"))
    proof = lineage_proof(parse_formula("sum(p.x) + 0*max(d.total)"), known)
    assert not proof.is_independent
    assert [code for code, _ in proof.faults] == ["recompute_uses_declared"]
    assert Column("d", "total") in proof.columns


def test_a_second_name_for_the_declared_file_is_no_other_file(tmp_path):
    (tmp_path / "d.jsonl").write_text("")
    (tmp_path / "other.jsonl").hardlink_to(tmp_path / "d.jsonl")
    known = sources(
        source("d", Role.DECLARED, file=tmp_path / "d.jsonl"), source("p", file=tmp_path / "." / "other.jsonl")
    )
    assert [code for code, _ in lineage_proof(parse_formula("sum(p.x)"), known).faults] == ["recompute_uses_declared"]


def test_a_column_derived_from_a_declared_one_is_refused_and_its_neighbour_is_not():
    known = sources(source("p", derived=frozenset({"share"})))
    assert [c for c, _ in lineage_proof(parse_formula("sum(p.share)"), known).faults] == ["recompute_uses_derived"]
    assert lineage_proof(parse_formula("sum(p.x)"), known).is_independent


def test_an_expression_whose_lineage_cannot_be_told_is_not_independent(monkeypatch):
    monkeypatch.setattr("governance_pipeline.crosscheck.independence.reachable_columns", lambda _: None)
    proof = lineage_proof(parse_formula("sum(p.x)"), sources(source("p")))
    assert [code for code, _ in proof.faults] == ["recompute_forbidden"]


def test_a_column_only_sqlglot_reaches_counts_as_much_as_one_only_we_name(monkeypatch):
    known = sources(source("d", Role.DECLARED), source("p"))
    reached = frozenset({Column("d", "total")})
    monkeypatch.setattr("governance_pipeline.crosscheck.independence.reachable_columns", lambda _: reached)
    assert [c for c, _ in lineage_proof(parse_formula("sum(p.x)"), known).faults] == ["recompute_uses_declared"]


def test_an_unknown_source_is_no_independent_one():
    assert [code for code, _ in lineage_proof(parse_formula("sum(q.x)"), {}).faults] == ["unknown_source"]


def test_lineage_keeps_case_quotes_and_counted_rows():
    formula = parse_formula('count(distinct p."We ""i"" rd") + sum(P.Amount) - max(p.amount)')
    assert reachable_columns(formula) == {Column("p", 'We "i" rd'), Column("P", "Amount"), Column("p", "amount")}
    counted = parse_formula("100.0*sum(p.x)/count(*)", "p")
    assert reachable_columns(counted) == {Column("p", "x"), Column("p", ALL_ROWS)}


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(st.lists(NAMES, min_size=1, max_size=4))
def test_what_the_parser_of_sql_reaches_is_what_our_tree_names_whatever_the_names(names):
    quoted = ['p."' + name.replace('"', '""') + '"' for name in names]
    with suppress(FormulaRefused):  # a name the grammar refuses never reaches the proof
        formula = parse_formula(" + ".join(f"sum({name})" for name in quoted))
        assert reachable_columns(formula) == set(formula.columns)


def test_each_built_in_check_is_proved_and_reaches_what_it_names():
    for entry in catalogue().entries:
        assert entry.lineage.is_independent, entry.check.id
        assert entry.lineage.formula_digest == entry.check.formula.digest
        assert set(entry.lineage.columns) == set(entry.check.formula.columns)


def test_the_proof_is_stored_with_each_check_of_a_file():
    text = b"""schema: govern/checks/v1
sources:
  d: {path: d.jsonl, key: id, role: declared}
  p: {path: p.jsonl, key: id, role: components}
checks:
  - {id: a, field: n, declared: d.n, recompute: sum(p.x), data_type: float, epsilon_reason: order, escalate_to: owner}
"""
    stored = parse_checks(text, "checks.yaml").lineage
    assert stored["a"].columns == (Column("p", "x"),)
    assert stored["a"].is_independent


@pytest.mark.parametrize("text", ["count(*)", "count(p.x)", "count(distinct p.x)", "min(p.x) / max(p.y)"])
def test_every_aggregate_has_a_lineage(text):
    formula = parse_formula(text, "p")
    assert reachable_columns(formula) == set(formula.columns)
