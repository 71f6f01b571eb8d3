"""D: how much of a change lies outside the declared scope.

A proxy of the distance to the objective: it knows the scope a contract declares, not the path from a file to the
goal (that is D of version 2). Only `include` is scope here; non-goals play no part. Source: spec/trajectory.md §1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from governance_pipeline.trajectory.files import EventFiles
    from governance_pipeline.trajectory.packed_keys import Integers


def outside_files(files: EventFiles) -> Integers:
    """Count the files outside the scope; one count per event, 0 where no scope is declared."""
    return np.bincount(files.event[files.is_outside], minlength=files.events)


def outside_scope_ratio(outside: int, listed: int) -> float:
    """D of an event: files outside / files listed, 0 to 1; 0 when none is listed."""
    return outside / listed if listed else 0.0
