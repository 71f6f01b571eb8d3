"""Benjamini-Hochberg is the plain definition, exact, whatever the order of the batch."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.trajectory.false_discovery import adjusted

P = st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000)


def test_an_empty_batch_has_nothing_to_adjust():
    assert adjusted([]) == []


def test_alone_a_p_value_stays_what_it_is():
    assert adjusted([Fraction(1, 20)]) == [Fraction(1, 20)]


def test_a_value_at_the_level_is_exactly_at_the_level():
    assert adjusted([Fraction(1, 20), Fraction(3, 20), Fraction(3, 20), Fraction(16, 20)]) == [
        Fraction(1, 5), Fraction(1, 5), Fraction(1, 5), Fraction(4, 5),
    ]  # fmt: skip


@given(st.lists(P, max_size=25))
def test_each_value_is_the_smallest_of_the_ranks_from_its_own_on(batch):
    ordered, m = sorted(batch), len(batch)
    wanted = [min(Fraction(1), *(m * ordered[j - 1] / j for j in range(ordered.index(p) + 1, m + 1))) for p in batch]
    assert adjusted(batch) == wanted


@given(st.lists(P, max_size=15), st.randoms())
def test_the_order_of_the_batch_does_not_matter(batch, random):
    order = list(range(len(batch)))
    random.shuffle(order)
    whole = adjusted(batch)
    assert adjusted([batch[at] for at in order]) == [whole[at] for at in order]
