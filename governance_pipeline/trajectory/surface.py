"""F, L, M, P of every event from the files it lists, and S of its terms.

What belongs here: counting. What does not: numbers an event carries itself (`terms`). Source: spec/trajectory.md §1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from governance_pipeline.trajectory.files import CHURN_LIMIT, EventFiles, Flags, Integers, starts_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def files_modified(files: EventFiles) -> Integers:
    """F: distinct files; one count per event."""
    return np.bincount(files.event, minlength=files.events)


def churn(files: EventFiles) -> tuple[Integers, Flags]:
    """L: lines added and deleted; per event the sum and whether it is known, which one unknown file prevents."""
    total = np.zeros(files.events, dtype=np.int64)
    unknown = np.bincount(files.event, weights=~files.is_churn_known, minlength=files.events) > 0
    rough = np.bincount(files.event, weights=files.churn.astype(float), minlength=files.events)
    is_known: Flags = ~unknown & (rough < CHURN_LIMIT)
    starts = files.starts
    if len(starts):
        total[files.event[starts]] = np.add.reduceat(files.churn, starts)
    return np.where(is_known, total, 0), is_known


def modules_touched(files: EventFiles) -> Integers:
    """M: distinct modules; one count per event."""
    key = np.sort(files.event * (len(files.modules) + 1) + files.module)
    distinct = key[starts_of(key)]
    return np.bincount(distinct // (len(files.modules) + 1), minlength=files.events)


def public_touched(files: EventFiles) -> Integers:
    """P: files that are a public boundary; one count per event, 0 where none is declared."""
    return np.bincount(files.event[files.is_public], minlength=files.events)


def surface_sum(terms: Iterable[float | None]) -> float | None:
    """S: the sum of the six terms, of mixed units; None when any of them is unknown. Rounded once, so order is free."""
    known = [float(term) for term in terms if term is not None]
    all_known = len(known) == 6  # noqa: PLR2004 - F L M P D H
    return math.fsum(known) if all_known else None
