"""Claims about the proof by mutation: what cannot fail is found, what can is not accused, and nothing is changed."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.crosscheck.check import Check
from governance_pipeline.crosscheck.engine import CheckRun
from governance_pipeline.crosscheck.formula import parse_formula
from governance_pipeline.crosscheck.generated import generated_run
from governance_pipeline.crosscheck.mutation import (
    SAMPLE_RECORDS,
    MutationProof,
    proof_document,
    prove,
    prove_generated,
    shifted_records,
    smallest,
)
from governance_pipeline.crosscheck.policy import shipped_epsilon_policy
from governance_pipeline.crosscheck.rows import MISSING, ComponentRow, DeclaredRow, Value
from governance_pipeline.vocabulary import DataType, RecordStatus, ValueKind

POLICY = shipped_epsilon_policy()
FILE = "a" * 64


def check(recompute: str, data_type: str = "integer", **more) -> Check:
    defaults = {
        "id": "c", "field": "n", "declared": "d.n", "unit": None, "epsilon": None, "epsilon_reason": "exact",
        "epsilon_relative": None, "epsilon_relative_reason": None, "no_components": "unverifiable",
        "no_components_reason": None, "escalate_to": "owner",
    }  # fmt: skip
    return Check(formula=parse_formula(recompute, "p"), data_type=data_type, **{**defaults, **more})


def number(text: str) -> Value:
    return Value(ValueKind.NUMBER, text)


def run_of(one: Check, parts: list[str], declared: list[str | None], subjects: int = 1):
    """One check over `subjects` subjects with the same parts; each declares the values given."""
    names = [f"s{n:04}" for n in range(subjects)]
    rows = [ComponentRow(name, "p", line, {"x": number(x)}) for name in names for line, x in enumerate(parts, 1)]
    run = CheckRun(one, POLICY).fed(sorted(rows, key=lambda row: (row.source, row.line)))
    claims = [
        DeclaredRow(name, MISSING if value is None else number(value), FILE, line, "/n")
        for line, name in enumerate(names, 1)
        for value in declared
    ]
    return run, run.records(claims)


@pytest.mark.parametrize(
    "recompute",
    [
        "0*sum(p.x) + 3", "sum(p.x - p.x)", "sum(p.x) - sum(p.x)", "count(*) - count(p.x)", "max(p.x) / max(p.x)",
        "sum(0*p.x)", "count(distinct p.x) - count(distinct p.x)", "sum(p.x) / (count(*) - count(*))",
    ],
)  # fmt: skip
def test_a_check_whose_components_do_not_matter_cannot_fail(recompute):
    assert not prove_generated(check(recompute), POLICY).can_fail
    run, records = run_of(check(recompute), ["1", "2"], ["3", "0"])
    assert not prove(run, records, POLICY).components_moved


@pytest.mark.parametrize(
    "recompute",
    [
        "sum(p.x)", "min(p.x)", "max(p.x)", "avg(p.x)", "count(*)", "count(p.x)", "count(distinct p.x)",
        "max(p.x) - min(p.x)", "sum(p.x) / count(*)", "sum(-p.x*p.x)", "min(p.x*p.x)", "max(-p.x*p.x)",
        "100.0*sum(p.x*p.y)/sum(p.y)", "sum(p.x) - sum(p.y)", "sum(p.x - p.y)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("data_type", DataType)
def test_a_check_that_reads_its_components_is_not_accused(recompute, data_type):
    proof = prove_generated(check(recompute, data_type), POLICY)
    assert proof.can_fail, proof


@pytest.mark.parametrize(
    ("data_type", "parts", "declared"),
    [
        ("float", ["1e300", "-1e300", "1"], "1e300"),  # one unit is lost in a float of this size
        ("float", ["1e300"], "-1e300"),
        ("integer", ["1" + "0" * 36], "1"),
        ("integer", ["-" + "9" * 30, "9" * 30], "0"),
        ("currency", ["0.000000001"], "0.000000001"),
        ("percent", ["66.7"], "67"),
    ],
)
def test_neither_size_nor_scale_hides_a_mutant(data_type, parts, declared):
    run, records = run_of(check("sum(p.x)", data_type), parts, [declared])
    proof = prove(run, records, POLICY)
    assert (proof.records, proof.declared_flipped, proof.components_moved) == (1, 1, True)


def test_a_shifted_value_that_does_not_fit_is_left_out_and_generated_ones_stand_in():
    run, records = run_of(check("sum(p.x)"), ["1"], ["9" * 38])
    assert records[0].status is RecordStatus.MISMATCH
    assert shifted_records(run, records)[0].reason_code == "overflow"
    proof = prove(run, records, POLICY)
    assert (proof.records, proof.can_fail) == (8, True)


def test_a_check_without_a_verifiable_record_is_proved_on_generated_rows():
    run, records = run_of(check("sum(p.x)"), ["1"], [None])
    assert records[0].status is RecordStatus.UNVERIFIABLE
    assert prove(run, records, POLICY) == prove_generated(check("sum(p.x)"), POLICY)


def test_nothing_shifted_is_no_proof():
    assert not MutationProof("c", 0, 0, components_moved=True).can_fail


def test_an_engine_that_misses_a_shifted_value_is_found(monkeypatch):
    run, records = run_of(check("sum(p.x)"), ["1"], ["1"])
    monkeypatch.setattr(type(POLICY), "epsilon", lambda *_: Decimal(10))
    assert prove(run, records, POLICY) == MutationProof("c", 1, 0, components_moved=True)


def test_a_computed_value_that_follows_the_declared_one_is_found(monkeypatch):
    run, records = run_of(check("sum(p.x)"), ["1"], ["1"])
    honest = CheckRun.records

    def following(self, declared, **more):
        from dataclasses import replace

        return [replace(r, computed=r.declared) for r in honest(self, declared, **more)]

    monkeypatch.setattr(CheckRun, "records", following)
    assert not prove(run, records, POLICY).declared_noticed


def test_a_batch_is_proved_on_the_records_with_the_smallest_ids_and_a_whole_proof_on_all():
    run, records = run_of(check("sum(p.x)"), ["1", "2"], ["3"], subjects=SAMPLE_RECORDS + 20)
    assert prove(run, records, POLICY).records == SAMPLE_RECORDS
    assert prove(run, records, POLICY, None).records == SAMPLE_RECORDS + 20
    ids = sorted(record.record_id for record in records)
    assert [r.record_id for r in smallest(records[::-1], SAMPLE_RECORDS)] == ids[:SAMPLE_RECORDS]


def test_proving_changes_no_total_and_no_record():
    run, records = run_of(check("count(distinct p.x) + sum(p.x)"), ["1", "2"], ["5"])
    claims = [DeclaredRow("s0000", number("5"), FILE, 1, "/n")]
    before = run.records(claims)
    prove(run, records, POLICY)
    assert run.records(claims) == before == records


def test_no_components_that_mean_zero_move_as_well():
    one = check("sum(p.x)", no_components="zero", no_components_reason="nothing was sold")
    run = CheckRun(one, POLICY)
    records = run.records([DeclaredRow("a", number("0"), FILE, 1, "/n")])
    assert records[0].status is RecordStatus.MATCH
    assert prove(run, records, POLICY).can_fail


@settings(deadline=None, max_examples=50)
@given(
    st.sampled_from(list(DataType)),
    st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-1000, max_value=1000), min_size=1),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6),
)
def test_every_sum_of_any_values_kills_its_mutants(data_type, parts, declared):
    texts = [format(part, "f") for part in parts]
    run, records = run_of(check("sum(p.x)", data_type), texts, [format(declared, "f")])
    assert prove(run, records, POLICY).can_fail


def test_generated_rows_are_the_same_every_time():
    one = check("100.0*sum(p.x)/count(*)", "percent")
    assert generated_run(one, POLICY)[1] == generated_run(one, POLICY)[1]


def test_every_built_in_check_is_killed_by_its_mutants():
    survivors = [e.check.id for e in catalogue().entries if not prove_generated(e.check, POLICY).can_fail]
    assert survivors == []


def test_the_document_is_ordered_by_check():
    proofs = [MutationProof("b", 1, 1, components_moved=True), MutationProof("a", 2, 1, components_moved=True)]
    document = proof_document(proofs)
    assert [entry["check_id"] for entry in document["checks"]] == ["a", "b"]
    assert document["checks"][0] == {
        "check_id": "a", "records": 2, "declared_flipped": 1, "components_moved": True, "can_fail": False,
    }  # fmt: skip
