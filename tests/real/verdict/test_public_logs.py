"""Verdicts of real public agent logs: nobody gave them a contract, so logs alone decide, and nothing blocks."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.auditing import audit_plan
from governance_pipeline.ingest.planning import plan_import
from governance_pipeline.verdict.document_schema import document_fault


@pytest.fixture(scope="module")
def tables(request, tmp_path_factory):
    """Every table of the SWE-agent and mini-SWE-agent trajectories."""
    root = request.config.rootpath.parent / "shared" / "data" / "real"
    if not root.is_dir():
        pytest.skip("no real logs beside the checkout (../shared/data/real)")
    plan = plan_import([root / "swe_agent", root / "mini_swe_agent"])
    return audit_plan(plan, tmp_path_factory.mktemp("audit"), keep=False, on_round=lambda: None)


def test_every_document_keeps_its_schema(tables):
    documents = [json.loads(text) for text in tables["verdict_rounds"]["document"]]
    assert documents
    assert [document_fault("verdict-v1.json", document) for document in documents] == [None] * len(documents)


def test_rounds_without_a_contract_warn_pass_or_are_unknown_and_say_what_is_missing(tables):
    rounds = tables["verdict_rounds"]
    assert set(rounds["status"]) <= {"pass", "warn", "unknown"}
    assert set(rounds["mode"]) == {"quick"}
    assert all("no_contract" in text for text in rounds["checks_skipped"])


def test_every_false_number_is_one_finding_and_every_pass_has_verified_something(tables):
    checks, found, rounds = (tables[name] for name in ("audit_cross_checks", "verdict_findings", "verdict_rounds"))
    assert (found["code"] == "cross-check-mismatch").sum() == (checks["status"] == "mismatch").sum()
    assert all(json.loads(text) for text in rounds.loc[rounds["status"] == "pass", "checks_run"])
