"""F, L, M, P of every event from the files it lists, and S of its terms.

What belongs here: counting. What does not: numbers an event carries itself (`terms`). Source: spec/trajectory.md §1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from governance_pipeline.trajectory.files import CHURN_LIMIT, EventFiles
from governance_pipeline.trajectory.packed_keys import Flags, Integers, Reals, order_of, packed, starts_of

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class ModuleChanges:
    """What changed in each module an event touches, ordered by event and module: one entry per event and module.

    Attributes:
        event: position of the event.
        churn: lines of its files there, as far as they are known.
        files: its files there.
    """

    event: Integers
    churn: Reals
    files: Integers


def files_modified(files: EventFiles) -> Integers:
    """F: distinct files; one count per event."""
    return np.bincount(files.event, minlength=files.events)


def churn(files: EventFiles) -> tuple[Integers, Flags]:
    """L: lines added and deleted; per event the sum and whether it is known, which one unknown file prevents."""
    total = np.zeros(files.events, dtype=np.int64)
    unknown = np.zeros(files.events, dtype=bool)
    unknown[files.event[~files.is_churn_known]] = True
    rough = np.bincount(files.event, weights=files.churn, minlength=files.events)
    is_known: Flags = ~unknown & (rough < CHURN_LIMIT)
    starts = files.starts
    if len(starts):
        total[files.event[starts]] = np.add.reduceat(files.churn, starts)
    return np.where(is_known, total, 0), is_known


def by_module(files: EventFiles) -> ModuleChanges:
    """Add up the files of each event by module."""
    key, width = packed([files.event, files.module])
    order = order_of(key, width)
    event, lines = files.event, files.churn
    if order is not None:
        key, event, lines = key[order], event[order], lines[order]
    starts = starts_of(key)
    added = np.add.reduceat(lines.astype(float), starts) if len(starts) else np.zeros(0)
    return ModuleChanges(event[starts], added, np.diff(starts, append=len(key)))


def modules_touched(files: EventFiles, changes: ModuleChanges | None = None) -> Integers:
    """M: distinct modules; one count per event."""
    return np.bincount((changes or by_module(files)).event, minlength=files.events)


def public_touched(files: EventFiles) -> Integers:
    """P: files that are a public boundary; one count per event, 0 where none is declared."""
    return np.bincount(files.event[files.is_public], minlength=files.events)


def surface_sum(terms: Iterable[float | None]) -> float | None:
    """S: the sum of the six terms, of mixed units; None when any of them is unknown. Rounded once, so order is free."""
    known = [float(term) for term in terms if term is not None]
    all_known = len(known) == 6  # noqa: PLR2004 - F L M P D H
    return math.fsum(known) if all_known else None
