"""In Dagster a backfill that replaces every round under other code needs an approval, which its chunks do not use up."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from assets_defs.planned import WHOLE_HISTORY, planned
from governance_pipeline.framework.making_digest import made_with
from governance_pipeline.framework.reprocessing import Keeper, Reprocessing, reprocessing_proposal
from governance_pipeline.gate.acting import ask
from governance_pipeline.gate.decision import Verb
from governance_pipeline.ingest.round import RAW_TABLES

if "gate_house" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("gate_house", Path(__file__).with_name("gate_house.py"))
    sys.modules["gate_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["gate_house"])
gate_house = sys.modules["gate_house"]

ROUNDS = ("r-1", "r-2", "r-3", "r-4")
WHOLE = {WHOLE_HISTORY: "true"}
OTHER_CODE = made_with()._replace(code_sha256="c" * 64)


@contextmanager
def _history(tmp_path, conftest_house):
    """Four rounds whose raw tables are stored, then other code and another reading of each folder."""
    gate_house.make_trust(tmp_path / "trust", gate_house.NOON, "ana")
    with dg.DagsterInstance.ephemeral() as instance:
        house = gate_house.GateHouse(tmp_path, instance, gate_house.Clock())
        for round_id in ROUNDS:
            conftest_house.write_round(round_id)
        house.register(*ROUNDS)
        house.workspace.make(RAW_TABLES, ROUNDS)
        for round_id in ROUNDS:
            conftest_house.write_round(round_id, steps=3)
        keeper = Keeper(house.gate.verifier_if_configured, house.clock)
        house.workspace.reprocessing = Reprocessing(house.lake, keeper, OTHER_CODE)
        yield house


def _said(result):
    failed = next(event for event in result.all_events if event.is_step_failure)
    return " ".join((failed.step_failure_data.error.cause or failed.step_failure_data.error).message.split())


def _digests(house):
    return {round_id: house.lake.digest("raw_log_files", round_id) for round_id in ROUNDS}


def _approve(house):
    proposal = reprocessing_proposal(house.lake, RAW_TABLES, "worker", "a fix of the reader", OTHER_CODE)
    request = ask(proposal, house.gate.verifier(house.lake), house.clock()).request_id
    house.decide("", Verb.APPROVE, request_id=request)


def test_a_chunk_of_a_plan_over_every_round_is_refused_before_anything_is_replaced(house, tmp_path):
    with _history(tmp_path, house) as history:
        before = _digests(history)
        result = history.run("r-1", "r-2", job="raw_job", tags=WHOLE)
        assert not result.success
        assert "Refusal: MISSING: this would replace tables of every ingested round" in _said(result)
        assert _digests(history) == before


@pytest.mark.long
def test_every_chunk_asks_for_itself_and_none_uses_the_approval_up(house, tmp_path):
    with _history(tmp_path, house) as history:
        before = _digests(history)
        _approve(history)
        for chunk in (("r-1", "r-2"), ("r-3", "r-4")):
            assert history.run(*chunk, job="raw_job", tags=WHOLE).success
        after = _digests(history)
        assert all(after[round_id] != before[round_id] for round_id in ROUNDS)
        assert history.run(*ROUNDS, job="raw_job", tags=WHOLE).success  # the same bytes again
        assert [e.type for e in history.ledger.events(types={"CONSUMED"})] == []


@pytest.mark.long
def test_an_approval_of_other_digests_opens_no_chunk(house, tmp_path):
    with _history(tmp_path, house) as history:
        _approve(history)
        keeper = Keeper(history.gate.verifier_if_configured, history.clock)
        further = OTHER_CODE._replace(settings_sha256="d" * 64)
        history.workspace.reprocessing = Reprocessing(history.lake, keeper, further)
        result = history.run("r-1", "r-2", job="raw_job", tags=WHOLE)
        assert "Refusal: DIGEST_MISMATCH" in _said(result)


@pytest.mark.long
def test_one_round_and_a_first_run_need_nobody(house, tmp_path):
    with _history(tmp_path, house) as history:
        assert history.run("r-2", job="raw_job").success
        house.write_round("r-5")
        history.register("r-5")
        assert history.run("r-5", job="raw_job").success


class _Run:
    def __init__(self, tags):
        self.tags = tags


class _Context:
    def __init__(self, instance, tags):
        self.instance, self.run = instance, _Run(tags)


def test_a_backfill_whose_plan_cannot_be_read_counts_as_one_over_every_round(house):
    house.write_rounds("r-1", "r-2")
    house.workspace.make(RAW_TABLES, ["r-1", "r-2"])
    assert set(planned(_Context(house.instance, {}), house.workspace).planned) == set()
    for tags in (WHOLE, {"dagster/backfill": "gone"}):
        assert set(planned(_Context(house.instance, tags), house.workspace).planned) == {"r-1", "r-2"}
