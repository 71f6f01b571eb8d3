"""Chains of baselines that were left: each is listed once, with what took its place and why; one that grew is not."""

from __future__ import annotations

from datetime import UTC, datetime

from governance_pipeline.trajectory.abandoned_chains import AbandonedReason, Link, abandoned_chains

FORMULAS = ("v1", 1e-6)


def chain(*parts: str, formulas=FORMULAS, cohort: str = '["c"]') -> dict[str, Link]:
    """Give a chain of baselines: each part names its day and the rounds added then, `*` after one measured anew."""
    made: dict[str, Link] = {}
    above = None
    for part in parts:
        day, *rounds = part.split()
        name = f"{above or cohort}{formulas[0]}>{part}"
        added = tuple(each.rstrip("*") for each in rounds)
        made[name] = Link(cohort, None, datetime(2026, 1, int(day), tzinfo=UTC), above, added, formulas)
        above = name
    return made


def only(in_force, earlier):
    [found] = abandoned_chains(in_force, earlier)
    return found


def test_a_chain_that_only_grew_was_not_left():
    assert abandoned_chains(chain("1 a", "2 b", "3 c"), chain("1 a", "2 b")) == []
    assert abandoned_chains(chain("1 a"), {}) == []


def test_a_round_that_came_late_leaves_the_baselines_after_it():
    old, new = chain("1 a", "3 c", "4 d"), chain("1 a", "2 b", "3 c", "4 d", "5 e")
    found = only(new, old)
    assert (found.reason, found.came, found.left) == (AbandonedReason.ROUNDS_CAME, ("b",), ())
    assert found.baseline_ids == tuple(old)[1:]
    assert (found.forked_after, found.superseded_by) == (next(iter(new)), tuple(new)[3])


def test_a_round_that_left_or_moved_in_time_is_named():
    old = chain("1 a", "2 b", "3 c")
    assert only(chain("1 a", "3 c"), old).reason is AbandonedReason.ROUNDS_LEFT
    moved = only(chain("1 a", "3 c", "9 b"), old)
    assert (moved.reason, moved.left) == (AbandonedReason.ROUNDS_LEFT, ("b",))
    both = only(chain("1 a", "2 x", "3 c"), old)
    assert (both.reason, both.came, both.left) == (AbandonedReason.ROUNDS_CAME_AND_LEFT, ("x",), ("b",))


def test_the_same_rounds_with_other_values_were_measured_again():
    found = only(chain("1 a", "2 b*"), chain("1 a", "2 b"))
    assert (found.reason, found.came, found.left) == (AbandonedReason.MEASURED_AGAIN, (), ())


def test_other_formulas_are_the_reason_whatever_else_changed():
    old = chain("1 a", formulas=("v0", 1e-6))
    assert only(chain("1 a", "2 b"), old).reason is AbandonedReason.OTHER_FORMULAS


def test_a_cohort_that_is_no_more_has_nothing_in_its_place():
    found = only(chain("1 a", cohort='["other"]'), chain("1 a"))
    assert (found.superseded_by, found.forked_after, found.left) == (None, None, ("a",))


def test_two_chains_left_one_after_the_other_are_both_listed():
    earlier = chain("1 a", "4 d") | chain("1 a", "3 c", "4 d")
    found = abandoned_chains(chain("1 a", "2 b", "3 c", "4 d"), earlier)
    assert [one.came for one in found] == [("b",), ("b", "c")] or [one.came for one in found] == [("b", "c"), ("b",)]
