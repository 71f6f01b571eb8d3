"""Walking many groups in step, or the days of a long one at once, gives the scores of walking event by event."""

from __future__ import annotations

import numpy as np
import pytest

from governance_pipeline.confidence.bulk import walking
from governance_pipeline.confidence.bulk.walking import Walk, walked
from governance_pipeline.confidence.caps import capped


def one_by_one(walk):
    """Walk with the functions of the fold itself."""
    after = []
    for start, size, first in zip(walk.starts.tolist(), walk.sizes.tolist(), walk.score.tolist(), strict=True):
        nets, score = {}, first
        for row in range(start, start + size):
            cell = int(walk.cell[row])
            net = nets.get(cell, int(walk.net[cell]))
            allowed = capped(int(walk.delta[row]), net, is_warm_up=bool(walk.is_warm_up[row]))
            new = min(max(score + allowed, -100_000), 100_000)
            nets[cell], score = net + new - score, new
            after.append(score)
    return after


def drawn(seed, sizes, lean=0, per_day=5, is_interleaved=False):
    """Make groups of these sizes; `lean` is added to every delta, so that scores reach a limit."""
    random = np.random.default_rng(seed)
    starts = np.cumsum(sizes) - sizes
    days, warm = [], []
    for size in sizes:
        day = np.sort(random.integers(0, max(size // per_day, 1), size))
        days.append(random.permutation(day) if is_interleaved else day)
        warm.append(np.arange(size) < random.integers(0, size + 1))
    number = sum(sizes)
    group = np.repeat(np.arange(len(sizes)), sizes)
    _, cell = np.unique(group * 10**6 + np.concatenate(days), return_inverse=True)
    delta = random.choice([-10_000, -5000, -3000, -500, 0, 1000, 2000, 3000, 10_000], number) + lean
    net = random.choice([0, 0, 0, -20_000, 9000], int(cell.max()) + 1)
    score = random.integers(-100, 101, len(sizes)) * 1000
    return Walk(
        starts, np.array(sizes), score, net, cell.astype(np.int32), delta.astype(np.int32), np.concatenate(warm)
    )


@pytest.mark.parametrize("width", [1, 3, 64])
@pytest.mark.parametrize("lean", [-4000, 0, 4000])
@pytest.mark.parametrize("is_interleaved", [False, True])
def test_every_way_of_walking_gives_the_same_scores(monkeypatch, width, lean, is_interleaved):
    monkeypatch.setattr(walking, "LEAST_WIDTH", width)
    for seed, sizes in enumerate([[1], [7, 1, 7, 30, 2], [300, 1, 300, 90], [400], [2] * 70 + [150]]):
        walk = drawn(seed, sizes, lean, is_interleaved=is_interleaved)
        assert walked(walk).tolist() == one_by_one(walk)


@pytest.mark.parametrize("turns", [0, 1, 12])
def test_a_long_group_at_the_limit_is_exact_however_often_its_days_are_walked(monkeypatch, turns):
    monkeypatch.setattr(walking, "MOST_TURNS", turns)
    for lean in (-2000, 1500, 6000):
        walk = drawn(5, [3000], lean, per_day=20)
        assert walked(walk).tolist() == one_by_one(walk)


def test_nothing_to_walk_is_nothing():
    none = np.zeros(0, dtype=np.int32)
    assert walked(Walk(none, none, none, none, none, none, none)).tolist() == []
