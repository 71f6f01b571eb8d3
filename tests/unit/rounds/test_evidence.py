"""The last record of a criterion decides, by step and then line, whatever the order it comes in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.rounds.contract import Criterion, RoundContract
from governance_pipeline.rounds.evidence import (
    Evidence,
    EvidenceState,
    Proven,
    last_states,
    ordinal_strength,
    proven,
    proven_by_step,
)

PROVEN, UNPROVEN, REFUTED = EvidenceState
CONTRACT = RoundContract(criteria=(Criterion("C1"), Criterion("C2"), Criterion("C3", required=False)))


def test_refuted_is_not_proven():
    assert proven(CONTRACT, [Evidence(1, 1, "C1", PROVEN), Evidence(2, 2, "C1", REFUTED)]) == Proven(2, 0)


def test_unproven_takes_proven_back():
    assert proven(CONTRACT, [Evidence(1, 1, "C1", PROVEN), Evidence(1, 2, "C1", UNPROVEN)]).proven_required == 0


def test_a_later_line_does_not_beat_a_later_step():
    assert proven(CONTRACT, [Evidence(3, 1, "C1", PROVEN), Evidence(2, 2, "C1", REFUTED)]).proven_required == 1


def test_within_a_step_the_later_line_decides():
    records = [Evidence(1, 7, "C1", PROVEN, 0.25), Evidence(1, 2, "C1", UNPROVEN)]
    assert last_states(records)["C1"] == records[0]


def test_criteria_that_are_optional_or_unknown_do_not_count():
    assert proven(CONTRACT, [Evidence(1, 1, "C3", PROVEN), Evidence(1, 2, "C8", PROVEN)]) == Proven(2, 0)


def test_records_after_the_step_do_not_count_before_it():
    records = [Evidence(5, 1, "C2", PROVEN)]
    assert [proven(CONTRACT, records, up_to).proven_required for up_to in (4, 5, None)] == [0, 1, 1]


@pytest.mark.parametrize("criteria", [None, (), (Criterion("C1", required=False),)])
def test_a_contract_that_requires_nothing_has_share_zero(criteria):
    found = proven(RoundContract(criteria=criteria), [Evidence(1, 1, "C1", PROVEN)])
    assert (found, found.share) == (Proven(0, 0), 0.0)


def test_share_is_proven_over_required():
    assert proven(CONTRACT, [Evidence(1, 1, "C1", PROVEN)]).share == 0.5


def test_a_state_read_back_as_plain_text_counts_the_same():
    assert proven(CONTRACT, [Evidence(1, 1, "C1", "proven")]).proven_required == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("record", "strength"),
    [
        (None, 0),
        (Evidence(1, 1, "C1", PROVEN), 1),
        (Evidence(1, 1, "C1", PROVEN, 0.25), 0.25),
        (Evidence(1, 1, "C1", PROVEN, 0), 0),
        (Evidence(1, 1, "C1", UNPROVEN, 0.75), 0),
        (Evidence(1, 1, "C1", REFUTED), 0),
    ],
)
def test_strength_counts_only_when_proven(record, strength):
    assert ordinal_strength(record) == strength


RECORDS = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from(["C1", "C2", "C3", "C8"]), st.sampled_from(EvidenceState)), max_size=20
).map(lambda rows: [Evidence(step, line, id_, state) for line, (step, id_, state) in enumerate(rows, 1)])


@settings(deadline=None)
@given(RECORDS, st.lists(st.integers(0, 7), max_size=8))
def test_one_pass_over_all_steps_says_what_each_step_alone_says(records, steps):
    assert proven_by_step(CONTRACT, records, steps) == [proven(CONTRACT, records, step) for step in steps]


@settings(deadline=None)
@given(RECORDS, st.randoms())
def test_the_order_of_records_plays_no_part(records, random):
    shuffled = random.sample(records, len(records))
    assert last_states(shuffled) == last_states(records)
