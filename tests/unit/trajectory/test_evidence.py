"""E with its reasons, and J."""

from __future__ import annotations

import math

import pytest

from governance_pipeline.trajectory.evidence import evidence_by_round, evidence_per_surface
from governance_pipeline.trajectory.reasons import Reason
from governance_pipeline.trajectory.rules import rules_of
from governance_pipeline.trajectory.terms import Term

PROVEN = {"step": 2, "criterion_id": "C1", "state": "proven"}


def evidence(tables):
    rules = rules_of(tables["core_rounds"], tables["core_criteria"])
    return evidence_by_round(rules, tables["core_evidence"], tables["raw_quarantine"])["r-1"]


@pytest.mark.parametrize(
    ("toml", "records", "reason"),
    [
        (None, [PROVEN], Reason.NO_CONTRACT),
        ("schema = 1", [PROVEN], Reason.CONTRACT_INVALID),
        ("schema = 1", [{"step": 0}], Reason.CONTRACT_INVALID),
        ("", [PROVEN, {"step": 0}], Reason.EVIDENCE_QUARANTINED),
        ("[[criterion]]\nid = 'C1'\nrequired = false", [{"step": 0}], Reason.EVIDENCE_QUARANTINED),
    ],
)
def test_e_is_unknown_without_a_valid_contract_or_when_a_record_was_lost(one_round, contract, toml, records, reason):
    text = 'schema = "govern/round/v1"\n' + toml if toml and toml.startswith("[") else contract if toml == "" else toml
    found = evidence(one_round([], text, evidence__jsonl=records))
    assert found.share() == Term(None, reason)
    assert found.shares([1, 2]) == [Term(None, reason)] * 2
    assert found.proven_required is None


def test_e_counts_what_is_proven_up_to_each_step_and_for_the_round_everything(one_round, contract):
    found = evidence(one_round([], contract, evidence__jsonl=[{**PROVEN, "step": 9}, PROVEN]))
    assert [term.value for term in found.shares([1, 2, 8])] == [0, 1, 1]
    assert (found.share().value, found.required, found.proven_required) == (1, 1, 1)


def test_a_contract_that_requires_nothing_gives_zero_not_unknown(one_round):
    found = evidence(one_round([], 'schema = "govern/round/v1"', evidence__jsonl=[PROVEN]))
    assert (found.share(), found.required, found.proven_required) == (Term(0.0), 0, 0)


@pytest.mark.parametrize(("share", "surface"), [(None, 1.0), (0.5, None), (None, None)])
def test_j_is_unknown_when_either_side_is(share, surface):
    assert evidence_per_surface(share, surface) is None


def test_j_is_finite_where_nothing_changed():
    assert evidence_per_surface(0.0, 0.0) == 1
    assert evidence_per_surface(0.5, 0.0) == pytest.approx(500001)
    assert math.isfinite(evidence_per_surface(1.0, 1e19))
