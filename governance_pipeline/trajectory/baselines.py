"""Versioned baselines of a cohort: one for each moment at which rounds of it ended, named by what it is made of.

What belongs here: the chain of baselines of a cohort, and which one a round is compared with. What does not: the
statistics (`robust`), the test of exchangeability (`martingale`) and p-values (`conformal`).
Source: spec/trajectory.md §4.

A baseline's name is the digest of the baseline before it and of the rounds it adds, with the values they are compared
by, as a commit is named in git. So a baseline is never edited: whatever changes in it gives it, and all after it,
another name, and the same rounds give the same names in whatever order they came in.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.trajectory.formulas import EPSILON, FEATURE_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from governance_pipeline.trajectory.cohort import Cohort, CohortKey

SCHEMA: Final = "govern/cohort-baseline/v1"
FIRST: Final = "first"
ROUNDS_ADDED: Final = "rounds_added"
"""Why a baseline supersedes the one before it: there is none, or more rounds of the cohort ended."""


class Baseline(NamedTuple):
    """One baseline of a cohort.

    Attributes:
        baseline_id: digest of what it is made of.
        until: end of the last round in it.
        size: how many rounds of the cohort, from the first, are in it.
        supersedes: the baseline before it; None for the first.
        added: rounds it has and the one before it has not.
    """

    baseline_id: str
    until: datetime
    size: int
    supersedes: str | None
    added: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why it supersedes the one before it."""
        return FIRST if self.supersedes is None else ROUNDS_ADDED


def baseline_chain(key: CohortKey, version: str | None, cohort: Cohort, features: Sequence[str]) -> list[Baseline]:
    """Give the baselines of a cohort in order of time, each with the rounds that ended at its moment added.

    Args:
        key: the cohort.
        version: baseline version its rounds declare.
        cohort: its rounds.
        features: names of the values that are compared.
    """
    chain: list[Baseline] = []
    above: str | None = None
    first = 0
    for until, moment in groupby(cohort.times):
        end = first + sum(1 for _ in moment)
        added = tuple(cohort.round_ids[first:end])
        values = [[name, [_number(each) for each in cohort.values[name][first:end]]] for name in features]
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "cohort": list(key),
            "baseline_version": version,
            "feature_version": FEATURE_VERSION,
            "epsilon": repr(EPSILON),
            "supersedes": above,
            "until": until.isoformat(),
            "added": list(added),
            "values": values,
        }
        name = sha256_hex(canonical_json(document))
        chain.append(Baseline(name, until, end, above, added))
        above, first = name, end
    return chain


def baseline_of_size(chain: Sequence[Baseline], size: int) -> Baseline | None:
    """Give the baseline a round with a reference of `size` rounds is compared with; None for an empty reference."""
    at = int(np.searchsorted([each.size for each in chain], size))
    return chain[at] if size and at < len(chain) and chain[at].size == size else None


def _number(value: float) -> str | None:
    """Write a value exactly; unknown is null."""
    return None if np.isnan(value) else float(value).hex()
