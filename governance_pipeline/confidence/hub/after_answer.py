"""What a command does about the hub once its answer is printed: a look, a notice, and a process that sends.

What belongs here: that nothing of it can delay or fail the command. What does not: sending (`courier`). Where no
hub was ever asked for this is one look at the disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.confidence.hub import courier
from governance_pipeline.confidence.hub.courier import Occasion
from governance_pipeline.confidence.hub.hub_file import HubPlace
from governance_pipeline.confidence.hub.hub_sync import HubSync, current
from governance_pipeline.confidence.hub.notices import untold
from governance_pipeline.confidence.hub.states import HubStatus

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

LOCK_WAIT_S: Final = 0.1
"""How long a command may wait for the hub's file; what it misses the next command finds."""


def after_answer(
    folder: Path,
    session: str,
    occasion: Occasion,
    now: datetime,
    language: str,
    start: Callable[[Path, str, Occasion], int | None] | None = None,
) -> list[str]:
    """Start sending where a hub is registered, and return what a person should be told; it never raises."""
    try:
        place = HubPlace(folder, LOCK_WAIT_S)
        if not place.exists():
            return []
        sync = current(place)
        if _has_errand(sync, occasion):
            (start or courier.start)(folder, session, occasion)
        return [one.text(language) for one in untold(place, sync, session, now)]
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the hub, the answer is given and stands
        return [f"hub: skipped ({type(error).__name__}); `govern confidence hub status` shows more"]


def _has_errand(sync: HubSync, occasion: Occasion) -> bool:
    is_start = occasion is Occasion.START and sync.status is HubStatus.PENDING_EMAIL
    return is_start or sync.status is HubStatus.ACTIVE
