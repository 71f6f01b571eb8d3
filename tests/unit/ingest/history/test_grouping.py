"""Every commit is in exactly one round, whose id is legal and does not depend on how much was asked for."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import UsageError
from governance_pipeline.ingest.history.commits import Commit
from governance_pipeline.ingest.history.grouping import RoundBy, rounds_of
from governance_pipeline.vocabulary import is_round_id


def names(rounds):
    return {one.round_id: [int(commit.sha, 16) for commit in one.commits] for one in rounds}


def test_a_history_without_tags_cannot_be_cut_at_them(commit):
    with pytest.raises(UsageError, match="no tag"):
        rounds_of([commit(1)], RoundBy.TAG, "r")
    assert rounds_of([], RoundBy.TAG, "r") == []


@pytest.mark.parametrize("prefix", ["", "-", "..", "é"])
def test_a_prefix_that_makes_no_legal_id_is_refused(commit, prefix):
    with pytest.raises(UsageError, match="no legal round id"):
        rounds_of([commit(1)], RoundBy.DAY, prefix)


def test_by_commit_each_is_alone_and_named_by_day_and_id(commit):
    found = rounds_of([commit(1), commit(2)], RoundBy.COMMIT, "r")
    assert names(found) == {"r-20260101-0000000000": [1], "r-20260102-0000000000": [2]}


def test_by_day_and_week_utc_decides(commit):
    late = commit(1, ts="2026-01-04T23:30:00-02:00")
    assert names(rounds_of([late, commit(5)], RoundBy.DAY, "r")) == {"r-2026-01-05": [1, 5]}
    assert names(rounds_of([commit(4), late], RoundBy.WEEK, "r")) == {"r-2026-W01": [4], "r-2026-W02": [1]}


def test_by_tag_a_round_ends_with_it_and_the_rest_comes_after_the_last(commit):
    commits = [commit(1), commit(2, tags=("v1", "v1.0")), commit(3), commit(4, tags=("v/2",)), commit(5)]
    assert names(rounds_of(commits, RoundBy.TAG, "r")) == {"r-v1": [1, 2], "r-v-2": [3, 4], "r-after-v-2": [5]}


def test_by_pull_request_a_round_ends_with_its_merge(commit):
    commits = [commit(1), commit(2, pull_request=7), commit(3, parents=("a" * 40, "b" * 40)), commit(4)]
    found = names(rounds_of(commits, RoundBy.PR_MERGE, "r"))
    assert found == {"r-pr-7": [1, 2], "r-merge-0000000000": [3], "r-open-0000000000": [4]}


def test_tags_that_become_the_same_id_are_told_apart(commit):
    commits = [commit(1, sha="a" * 40, tags=("v/1",)), commit(2, sha="b" * 40, tags=("V-1",))]
    assert [one.round_id for one in rounds_of(commits, RoundBy.TAG, "r")] == ["r-v-1", "r-V-1-bbbbbbbbbb"]


TAGS = st.text(string.printable, min_size=1, max_size=120)


@given(
    st.lists(st.tuples(st.integers(1, 2_000_000_000), st.lists(TAGS, max_size=2), st.integers(0, 2)), max_size=30),
    st.sampled_from(RoundBy),
)
def test_no_commit_is_lost_or_doubled_and_every_id_is_legal(drawn, by):
    commits = [
        Commit(
            f"{number:040x}", ("a" * 40,) * parents, f"{1970 + seconds // 31_536_000}-01-01T00:00:00Z", "a", (), (),
            tuple(tags),
        )
        for number, (seconds, tags, parents) in enumerate(drawn)
    ]  # fmt: skip
    if by is RoundBy.TAG and commits and not any(commit.tags for commit in commits):
        return
    found = rounds_of(commits, by, "r")
    assert sorted(commit.sha for one in found for commit in one.commits) == [commit.sha for commit in commits]
    ids = [one.round_id for one in found]
    assert all(map(is_round_id, ids))
    assert len({name.casefold() for name in ids}) == len(ids)
