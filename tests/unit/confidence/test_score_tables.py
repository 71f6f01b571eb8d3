"""Scores of recorded and derived events together: nothing counts twice, sealed days stay, order plays no part."""

from __future__ import annotations

import json
import random

import pytest

from governance_pipeline.confidence.score_tables import fold_together, pool_rows, score_rows, team_rows
from governance_pipeline.confidence.store import EventStore

RUNTIME = "claude-code/opus-4-6/high"


@pytest.fixture
def store(tmp_path):
    """An empty store in which one team is registered."""
    store = EventStore.create(tmp_path / "confidence")
    store.register({"pools": [RUNTIME]})
    store.register({"subjects": [{"role": "agent", "subject_id": "ada"}, {"role": "user", "subject_id": "kim"}]})
    store.register({"teams": [{"team_id": "t", "agent_id": "ada", "user_id": "kim"}]})
    return store


@pytest.fixture
def fact(event):
    """Give the function that writes the text of a derived event."""
    return lambda number, **more: json.dumps(event(number, "error", severity="severe", evidence=f"x{number}", **more))


def test_without_recorded_events_derived_ones_make_their_agents_known(fact):
    together = fold_together([], [fact(1), fact(2, subject_id="bob")])
    assert (together.derived, together.left_out) == (2, 0)
    assert [row["members_count"] for row in pool_rows(together)] == [2]
    assert list(team_rows(together)) == []


def test_a_fact_that_was_recorded_is_not_folded_twice(store, fact):
    store.append(json.loads(fact(1)))
    together = fold_together(store.lines(), [fact(1)])
    assert (together.derived, together.left_out) == (0, 1)
    assert [(row["domain"], row["score"]) for row in score_rows(together.folded)] == [("TECH", 45.0)]
    assert [row["quadrant"] for row in team_rows(together)] == ["PROBLEM"]


def test_no_fact_is_folded_into_a_day_a_person_has_sealed(store, event, fact):
    store.append(event(5))
    seal = event(9, "seal", session_id=None, domain=None)
    store.append(seal)
    digest = store.whole().folded.seals[0].digest
    together = fold_together(store.lines(), [fact(1)])
    assert (together.derived, together.left_out) == (0, 1)
    assert together.folded.seals[0].digest == digest


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_facts_plays_no_part(store, event, fact, seed):
    for number in range(3):
        store.append(event(10 + number))
    facts = [fact(number, subject_id=name) for number in range(8) for name in ("ada",)]
    expected = list(score_rows(fold_together(store.lines(), facts).folded))
    random.Random(seed).shuffle(facts)
    assert list(score_rows(fold_together(store.lines(), facts).folded)) == expected
