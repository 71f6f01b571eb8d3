"""Replacing what is stored of every round by something made otherwise needs an approval that names rounds and digests."""

from __future__ import annotations

import importlib.util
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from governance_pipeline.contracts.registry import frame_of
from governance_pipeline.framework.making_digest import MadeWith, made_with
from governance_pipeline.framework.reprocessing import (
    Keeper,
    Reprocessing,
    reprocessing_proposal,
    rounds_made_otherwise,
)
from governance_pipeline.gate.acting import ask
from governance_pipeline.gate.decision import Verb
from governance_pipeline.trust.reasons import Refusal

if TYPE_CHECKING:
    import pandas as pd

if "registry_house" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("registry_house", Path(__file__).with_name("registry_house.py"))
    sys.modules["registry_house"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["registry_house"])
gate_world = sys.modules["registry_house"].gate_world
NOON, HOUR, digest = gate_world.NOON, gate_world.HOUR, gate_world.digest

TABLE = "raw_log_files"
OLD = MadeWith(digest("old code"), digest("policy"), digest("settings"))
NEW = MadeWith(digest("new code"), digest("policy"), digest("settings"))
ROUNDS = ("r1", "r2", "r3")


def _frame(round_id: str, lines: int = 1) -> pd.DataFrame:
    row = {"round_id": round_id, "path": "a.jsonl", "file_sha256": digest(round_id), "format": "native", "bytes": 9,
           "record_unit": "line", "lines_in": lines, "accepted": lines, "quarantined": 0, "blank": 0, "duplicates": 0}  # fmt: skip
    return frame_of(TABLE, [row])


class Corpus:
    """Three rounds in a lake, made with the old code, and whoever may approve that they are made again."""

    def __init__(self, folder):
        self.world = gate_world.World.create(folder)
        self.lake = self.world.lake
        self.now = NOON
        self.put(OLD)

    def keeper(self):
        return Keeper(lambda _: self.world.verifier(self.now), lambda: self.now)

    def put(self, made, rounds=ROUNDS, planned=(), lines=1, *, keeper="gate"):
        asking = Reprocessing(self.lake, self.keeper() if keeper == "gate" else keeper, made)
        making = asking.making({*rounds, *planned})
        for round_id in rounds:
            self.lake.put(TABLE, round_id, _frame(round_id, lines), making=making)

    def ask(self, made=NEW):
        proposal = reprocessing_proposal(self.lake, [TABLE], "worker", "a fix", made)
        return ask(proposal, self.world.verifier(self.now), self.now).request_id

    def approve(self, made=NEW):
        request = self.ask(made)
        self.world.decide(request, now=self.now)
        return request

    def lines(self):
        return [int(self.lake.get(TABLE, round_id)["lines_in"].iloc[0]) for round_id in ROUNDS]


@pytest.fixture
def corpus(tmp_path):
    return Corpus(tmp_path / "world")


def _code(call):
    with pytest.raises(Refusal) as caught:
        call()
    return str(caught.value.code)


def test_making_every_round_otherwise_is_refused_before_anything_is_replaced(corpus):
    assert _code(lambda: corpus.put(NEW, lines=2)) == "MISSING"
    assert corpus.lines() == [1, 1, 1]


def test_the_first_chunk_of_a_backfill_is_refused_and_so_is_the_last_of_many_small_runs(corpus):
    assert _code(lambda: corpus.put(NEW, ("r1",), planned=ROUNDS, lines=2)) == "MISSING"
    corpus.put(NEW, ("r1",), lines=2)  # one round is not the corpus
    corpus.put(NEW, ("r2",), lines=2)
    assert _code(lambda: corpus.put(NEW, ("r3",), lines=2)) == "MISSING"
    assert corpus.lines() == [2, 2, 1]


def test_a_first_run_the_same_code_and_the_same_bytes_need_no_approval(corpus):
    corpus.put(OLD, lines=2)  # the same code on other input
    corpus.put(NEW, lines=2)  # other code, the same bytes
    assert rounds_made_otherwise(corpus.lake, TABLE, NEW.stamp) == []
    corpus.put(OLD, ("r4", "r5"))
    assert corpus.world.history().requests == []


def test_each_run_checks_the_approval_and_none_uses_it_up(corpus):
    corpus.approve()
    for round_id in ROUNDS:
        corpus.put(NEW, (round_id,), planned=ROUNDS, lines=2)
    assert corpus.lines() == [2, 2, 2]


def test_an_approval_is_for_the_digests_it_names(corpus):
    corpus.approve()
    other = NEW._replace(policy_sha256=digest("another policy"))
    assert _code(lambda: corpus.put(other, lines=2)) == "DIGEST_MISMATCH"


def test_an_approval_is_for_the_rounds_it_names(corpus):
    corpus.approve()
    corpus.put(OLD, ("r9",))
    assert _code(lambda: corpus.put(NEW, (*ROUNDS, "r9"), lines=2)) == "DIGEST_MISMATCH"
    assert corpus.lines() == [1, 1, 1]


@pytest.mark.parametrize("verb", [Verb.REJECT, Verb.REVOKE])
def test_a_no_in_the_middle_stops_the_chunks_that_are_left(corpus, verb):
    request = corpus.approve()
    corpus.put(NEW, ("r1",), planned=ROUNDS, lines=2)
    corpus.world.decide(request, verb=verb)
    assert _code(lambda: corpus.put(NEW, ("r2",), planned=ROUNDS, lines=2)) == "REVOKED"
    assert corpus.lines() == [2, 1, 1]


def test_an_approval_runs_out(corpus):
    corpus.approve()
    corpus.now = NOON + timedelta(hours=73)
    assert _code(lambda: corpus.put(NEW, lines=2)) == "EXPIRED"


def test_without_a_gate_nobody_can_approve_and_another_lake_needs_nobody(corpus, tmp_path):
    assert _code(lambda: corpus.put(NEW, lines=2, keeper=None)) == "MISSING"
    assert _code(lambda: corpus.put(NEW, lines=2, keeper=Keeper(lambda _: None, lambda: NOON))) == "MISSING"
    corpus.lake = gate_world.Lake(tmp_path / "other")
    corpus.put(NEW, lines=2, keeper=None)
    assert corpus.lines() == [2, 2, 2]


def test_only_who_says_so_goes_on_without_a_gate_and_says_it_once(corpus):
    said = []
    corpus.put(NEW, lines=2, keeper=Keeper(lambda _: None, lambda: NOON, said.append))
    assert corpus.lines() == [2, 2, 2]
    assert len(said) == 1
    with_gate = Keeper(lambda _: corpus.world.verifier(NOON), lambda: NOON, said.append)
    assert _code(lambda: corpus.put(OLD, lines=3, keeper=with_gate)) == "MISSING"


def test_a_table_of_which_nobody_knows_what_made_it_counts_as_made_otherwise(corpus):
    for round_id in ROUNDS:
        corpus.lake.put(TABLE, round_id, _frame(round_id, 7))
    assert _code(lambda: corpus.put(OLD, lines=2)) == "MISSING"
    corpus.approve(OLD)
    corpus.put(OLD, lines=2)


def test_what_is_asked_names_rounds_and_digests(corpus):
    action = reprocessing_proposal(corpus.lake, [TABLE], "worker", "a fix", NEW).action
    assert action["rounds"] == list(ROUNDS)
    assert (action["from_stamps"], action["from_code_sha256"]) == ([OLD.stamp], [OLD.code_sha256])
    assert (action["to_code_sha256"], action["to_stamp"]) == (NEW.code_sha256, NEW.stamp)


def test_the_stamp_of_this_program_is_one_and_the_same():
    assert made_with() == made_with()
    assert made_with().stamp not in (OLD.stamp, made_with()._replace(code_sha256=digest("x")).stamp)
