"""What a display shows of a hub: its scores while it can be reached, and a mark on ours otherwise.

What belongs here: reading the cached state for display. What does not: layout (`display`, `status_lines`), and any
score; nothing here is ever an input of the fold, and no document but that of `hub status` carries it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence.hub.hub_file import HubPlace
from governance_pipeline.confidence.hub.hub_sync import current
from governance_pipeline.confidence.hub.states import HubStatus
from governance_pipeline.confidence.terms import Domain, Role
from governance_pipeline.errors import GovernError

if TYPE_CHECKING:
    from pathlib import Path

_WAIT_S = 0.1


class HubShown(NamedTuple):
    """A registered runtime, and what the hub last said; None where it cannot be reached, or said nothing readable."""

    runtime: str | None
    state: dict[str, Any] | None

    def cells(self, role: Role, runtime: str | None) -> list[str] | None:
        """Return the five domains and the total of a side as the hub has them; None: show our own, marked as local.

        The state of a hub is about one runtime: an agent in another one has no row there.
        """
        if self.state is None or (role is Role.AGENT and runtime != self.runtime):
            return None
        side = self.state.get(role.value)
        domains = side.get("domains") if isinstance(side, dict) else None
        if not isinstance(side, dict) or not isinstance(domains, dict):
            return None
        found = [_score(domains.get(domain.value)) for domain in Domain] + [_score(side.get("global"))]
        return None if all(one is None for one in found) else ["-" if one is None else f"{one:g}" for one in found]


def hub_shown(folder: Path) -> HubShown | None:
    """Return what to show; None where no registration was ever active, so that nothing needs a mark."""
    try:
        sync = current(HubPlace(folder, _WAIT_S))
    except GovernError:  # scores are shown whatever is wrong with the hub's file
        return HubShown(None, None)
    if sync.registered_at is None:
        return None
    is_reached = sync.status is HubStatus.ACTIVE and sync.is_online and sync.cached_state is not None
    return HubShown(sync.runtime, json.loads(sync.cached_state or "null") if is_reached else None)


def _score(value: Any) -> float | None:
    number = value.get("score") if isinstance(value, dict) else value
    return None if isinstance(number, bool) or not isinstance(number, int | float) else number
