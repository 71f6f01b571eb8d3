"""H: entropy of a change over modules, in nats.

H = -sum of p ln p over the modules touched, p the module's share of the churn; of the files when no line changed.
With unknown churn the shares are unknown too, unless there is only one module: then H is 0 whatever its share.
Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from governance_pipeline.trajectory.packed_keys import Flags, Integers, Reals
    from governance_pipeline.trajectory.surface import ModuleChanges


def entropy_of_modules(changes: ModuleChanges, modules: Integers, is_churn_known: Flags) -> tuple[Reals, Flags]:
    """H of every event, and whether it is known; an event without files has H = 0.

    Args:
        changes: what changed in each module.
        modules: M of each event.
        is_churn_known: whether L of each event is known.
    """
    is_spread = modules > 1
    entropy = np.where(is_spread & is_churn_known, _over_modules(changes, len(modules)), 0.0)
    return entropy, ~is_spread | is_churn_known


def _over_modules(changes: ModuleChanges, events: int) -> Reals:
    total = np.bincount(changes.event, weights=changes.churn, minlength=events)
    weight = np.where(total[changes.event] > 0, changes.churn, changes.files)
    whole = np.bincount(changes.event, weights=weight, minlength=events)
    share = weight / whole[changes.event]
    part = share * np.log(np.where(share > 0, share, 1.0))
    total_part = np.bincount(changes.event, weights=part, minlength=events).astype(np.float64, copy=False)
    return 0.0 - total_part  # not the negation, which would make -0 of 0
