"""Which fold is used where no rows of single events are asked for.

What belongs here: the choice. What does not: the folds; both leave the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.confidence.fold import Folded, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from governance_pipeline.confidence.event import Event, Line
    from governance_pipeline.confidence.registry import Registry

LONG: Final = 10_000
"""Events from which folding them at once is faster, importing numpy included."""


def fold_states(
    lines: Iterable[Line],
    registry: Registry,
    folded: Folded | None = None,
    earlier: Callable[[str], Event] | None = None,
) -> Folded:
    """Fold events as `confidence.fold.fold`; of a long history `events` holds no rows."""
    listed = list(lines)
    if len(listed) < LONG:
        return fold(listed, registry, folded, earlier)
    from governance_pipeline.confidence.bulk.folding import bulk_fold

    return bulk_fold(listed, registry, folded, earlier)
