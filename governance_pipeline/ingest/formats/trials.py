"""Repeated trials of the same tasks, as benchmarks declare them: pass^k and pass@k as exact whole numbers.

What belongs here: counting subsets of trials. What does not: which trial succeeded (formats).

With n trials of a task of which c succeeded, pass^k is the share of the k-subsets in which all succeeded,
C(c, k) / C(n, k), and pass@k the share in which at least one did, 1 - C(n - c, k) / C(n, k); both are averaged over
the tasks (tau_bench/run.py `display_metrics`, terminal_bench/harness/models.py `pass_at_k`). A check formula has no
binomials, so each task is one component row of two counts of subsets, `passing` out of `of`, brought to one common
number of subsets: then the mean over tasks is sum(passing) / sum(of), without any rounding.
"""

from __future__ import annotations

from collections import defaultdict
from math import comb, lcm
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from governance_pipeline.ingest.formats.aggregates import Subject
    from governance_pipeline.ingest.formats.places import Place

LARGEST_K: Final = 64
"""Largest k counted: the benchmarks stop at 16, and a larger one costs numbers of many digits."""

LARGEST_COUNT: Final = 10**37
"""Counts from here on do not fit an exact number of a check (spec/crosscheck.md §11); they stay unknown."""


class Trial(NamedTuple):
    """One attempt at a task; `is_passed` None = nobody knows how it ended. `place` is where its result stands."""

    task_id: str
    is_passed: bool | None
    place: Place


def all_pass(n: int, c: int, k: int) -> int:
    """Count the k-subsets of n trials in which all passed, c of the n having passed."""
    return comb(c, k) if n >= k else 0


def any_passes(n: int, c: int, k: int) -> int:
    """Count the k-subsets of n trials in which at least one passed, c of the n having passed."""
    return comb(n, k) - comb(n - c, k)


def add_trials(
    subject: Subject, source: str, trials: Iterable[Trial], k: int, passing: Callable[[int, int, int], int]
) -> None:
    """Add one component row per task to `source`: `passing` out of `of` k-subsets of its trials.

    A task with an unknown trial, with fewer trials than k, or with counts beyond an exact number is there as missing,
    so that the declared share is unknown and not a smaller one.
    """
    by_task: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_task[trial.task_id].append(trial)
    is_counted = 0 < k <= LARGEST_K
    sizes = {len(found) for found in by_task.values() if len(found) >= k}
    common = lcm(*(comb(size, k) for size in sizes)) if is_counted else LARGEST_COUNT
    for number, found in enumerate(by_task.values(), 1):
        counts = _counts(found, k, passing, common) if is_counted and common < LARGEST_COUNT else (None, None)
        place = found[0].place
        subject.component(source, number, {"passing": (place, counts[0]), "of": (place, counts[1])})


def _counts(trials: list[Trial], k: int, passing: Callable[[int, int, int], int], common: int) -> tuple[Any, Any]:
    n = len(trials)
    if n < k or any(trial.is_passed is None for trial in trials):
        return None, None
    scale = common // comb(n, k)
    return passing(n, sum(bool(trial.is_passed) for trial in trials), k) * scale, common
