"""H: entropy of a change over modules, in nats.

H = -sum of p ln p over the modules touched, p the module's share of the churn; of the files when no line changed.
With unknown churn the shares are unknown too, unless there is only one module: then H is 0 whatever its share.
Source: spec/trajectory.md §1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from governance_pipeline.trajectory.files import EventFiles, Flags, starts_of
from governance_pipeline.trajectory.surface import churn, modules_touched

Reals = npt.NDArray[np.float64]


def entropy_nats(files: EventFiles) -> tuple[Reals, Flags]:
    """H of every event, and whether it is known; an event without files has H = 0."""
    is_spread = modules_touched(files) > 1
    _, is_known = churn(files)
    entropy = np.where(is_spread & is_known, _over_modules(files), 0.0)
    return entropy, ~is_spread | is_known


def _over_modules(files: EventFiles) -> Reals:
    width = len(files.modules) + 1
    key = files.event * width + files.module
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = starts_of(key)
    if not len(starts):
        return np.zeros(files.events)
    event = key[starts] // width
    lines = np.add.reduceat(files.churn[order].astype(float), starts)
    members = np.diff(starts, append=len(key)).astype(float)
    total = np.bincount(event, weights=lines, minlength=files.events)
    weight = np.where(total[event] > 0, lines, members)
    share = weight / np.bincount(event, weights=weight, minlength=files.events)[event]
    part = share * np.log(share, where=share > 0, out=np.zeros_like(share))
    total_part = np.bincount(event, weights=part, minlength=files.events).astype(np.float64)
    return 0.0 - total_part  # not the negation, which would make -0 of 0
