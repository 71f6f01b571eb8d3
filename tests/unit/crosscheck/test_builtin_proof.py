"""Claims about the proof of built-in checks over tables: on the records of the round, else on generated rows."""

from __future__ import annotations

import pytest

from governance_pipeline.crosscheck import builtin_proof
from governance_pipeline.crosscheck.builtin_proof import catalogue_proofs, checks_that_cannot_fail
from governance_pipeline.crosscheck.catalogue import CatalogueEntry, catalogue, catalogue_sha256
from governance_pipeline.crosscheck.independence import LineageProof
from governance_pipeline.crosscheck.mutation import MutationProof
from governance_pipeline.errors import UsageError


def survivors(tables):
    frames = tables.frame("core_declared"), tables.frame("core_components"), tables.checks()
    return checks_that_cannot_fail(*frames)


def test_true_and_false_numbers_prove_their_checks_alike(tables):
    tables.declare("0.30").declare("9", subject="run-2").costs("0.10", "0.20")
    tables.part(1, "audit_log", "run-2", token_cost="1")
    assert {status for status, _ in tables.outcomes()} == {"match", "mismatch"}
    assert survivors(tables).empty


def test_a_round_without_rows_has_no_check_to_prove(tables):
    assert survivors(tables).empty


def test_the_check_is_proved_on_the_records_of_the_round(tables, monkeypatch):
    tables.declare("0.30").costs("0.10", "0.20")
    seen = []

    def spy(run, records, policy):
        seen.append([(r.subject_id, r.computed, r.components_count) for r in records])
        return MutationProof(run.check.id, 1, 1, components_moved=True)

    monkeypatch.setattr(builtin_proof, "prove", spy)
    assert survivors(tables).empty
    assert seen == [[("run-1", "0.3", 2)]]


def test_a_check_whose_numbers_are_all_unknown_is_proved_on_generated_rows(tables, monkeypatch):
    tables.declare("null")
    monkeypatch.setattr(builtin_proof, "prove", lambda *_: pytest.fail("there is no record to prove it on"))
    assert {status for status, _ in tables.outcomes()} == {"unverifiable"}
    assert survivors(tables).empty


def test_a_survivor_is_named_with_its_round_and_what_was_counted(tables, monkeypatch):
    tables.declare("0.30").costs("0.10", "0.20")
    monkeypatch.setattr("governance_pipeline.crosscheck.mutation._moves", lambda *_: False)
    [row] = survivors(tables).to_dict("records")
    assert (row["round_id"], row["code"], row["declared_flipped"]) == ("r-1", "check_cannot_fail", row["records"])
    assert not row["components_moved"]


def test_a_built_in_check_that_reads_a_claim_is_named_everywhere(tables, monkeypatch):
    fault = LineageProof("0" * 64, (), (("recompute_uses_declared", "declared.x"),))
    tables.declare("0.30").costs("0.10", "0.20")
    monkeypatch.setattr(CatalogueEntry, "lineage", property(lambda _: fault))
    assert list(survivors(tables)["code"]) == ["recompute_uses_declared"]
    with pytest.raises(UsageError, match="recompute_uses_declared"):
        catalogue_proofs()


def test_each_entry_of_the_catalogue_has_its_proof():
    assert [proof.check_id for proof in catalogue_proofs()] == [entry.check.id for entry in catalogue().entries]


def test_only_the_checks_that_are_asked_for_are_proved_and_the_catalogue_has_one_digest():
    [proof] = catalogue_proofs({"native_step_count", "no such check"})
    assert (proof.check_id, proof.can_fail) == ("native_step_count", True)
    assert catalogue_proofs(set()) == []
    assert len(catalogue_sha256()) == 64
