"""One cohort of n rounds, every round compared with all that ended before it: does the time grow with n log n?

Run: python bench/conformal.py [ROUNDS ...]   (default 2500 5000 10000)

Two sides: the product (`conformal_results`, references that grow), and the same p-values of one feature with each
reference sorted anew by numpy, which is what growing saves. Both must give the same counts.
"""

from __future__ import annotations

import resource
import sys
import time
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np

from governance_pipeline.trajectory.cohort import CohortRound
from governance_pipeline.trajectory.cohort_tables import COMPARED, VECTOR
from governance_pipeline.trajectory.conformal import Question, conformal_results

START = datetime(2026, 1, 1, tzinfo=UTC)


def rounds(size: int) -> list[CohortRound]:
    """Give rounds of one cohort, a minute apart, with ties on purpose and every tenth value unknown."""
    draw = np.random.default_rng(size)
    values = np.round(draw.lognormal(3, 1, (size, len(COMPARED))))
    return [
        CohortRound(
            f"r-{at}", START + timedelta(minutes=at), "c", None, None, None, None,
            {name: None if (at + n) % 10 == 0 else float(values[at, n]) for n, name in enumerate(COMPARED)},
        )
        for at in range(size)
    ]  # fmt: skip


def sorted_anew(each: list[CohortRound], name: str) -> list[int | None]:
    """Count the earlier known values that are at least as large, with median and MAD, each reference by itself."""
    column = np.array([np.nan if one.values[name] is None else one.values[name] for one in each])
    counts: list[int | None] = []
    for at, value in enumerate(column):
        known = np.sort(column[:at][~np.isnan(column[:at])])
        if known.size:
            np.median(np.abs(known - np.median(known)))
        counts.append(None if np.isnan(value) else int((known >= value).sum()))
    return counts


def main() -> None:
    for size in [int(word) for word in sys.argv[1:]] or [2500, 5000, 10000]:
        each = rounds(size)
        question = Question(
            each, [one.round_id for one in each], COMPARED, VECTOR, Fraction(1, 20), is_batch_per_target=True
        )
        before = time.process_time()
        results = conformal_results(question)
        took = time.process_time() - before
        before = time.process_time()
        anew = sorted_anew(each, COMPARED[0])
        anew_took = (time.process_time() - before) * (len(COMPARED) + len(VECTOR))
        ours = {one.round_id: one for one in results if one.feature == COMPARED[0]}
        for one, count in zip(each, anew, strict=True):
            found = ours[one.round_id]
            if found.p is not None and found.n is not None and count is not None:
                assert found.p == Fraction(1 + count, found.n + 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{size} rounds: all {len(results)} comparisons {took:.2f} CPU s, {took / size * 1e6:.0f} us a round; "
            f"references sorted anew {anew_took:.2f} CPU s; peak {peak} MB"
        )


if __name__ == "__main__":
    main()
