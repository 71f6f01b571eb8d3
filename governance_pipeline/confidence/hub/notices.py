"""What a person is told about the hub beside an answer, each once per session.

What belongs here: which notices apply, and that each is told once. What does not: their words (`wording.yaml`) and
printing. Source: spec/confidence.md §9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.version import InvalidVersion, Version

from governance_pipeline.confidence.hub import circuit
from governance_pipeline.confidence.hub.once import first_time
from governance_pipeline.confidence.hub.outbox import skill_version
from governance_pipeline.confidence.hub.states import ErrorReason, HubStatus
from governance_pipeline.confidence.wording import words

if TYPE_CHECKING:
    from datetime import datetime

    from governance_pipeline.confidence.hub.hub_file import HubPlace
    from governance_pipeline.confidence.hub.hub_sync import HubSync


class Notice(NamedTuple):
    """One thing to tell: its name in the wording, what fills it, and what tells it from an earlier one."""

    word: str
    values: dict[str, Any]
    mark: str = ""

    def text(self, language: str) -> str:
        """Give it in a language."""
        return words(language)[self.word].format(**self.values)


def notices(sync: HubSync) -> list[Notice]:
    """Return what applies now, gravest first."""
    found = []
    if sync.status is HubStatus.ERROR:
        word = "hub_unauthorized" if sync.reason is ErrorReason.UNAUTHORIZED else "hub_stopped"
        found.append(Notice(word, {"errors": sync.sync_errors}))
    elif sync.status is HubStatus.SUSPENDED:
        found.append(Notice("hub_suspended", {}))
    elif sync.sync_errors >= circuit.NO_RETRY:
        found.append(Notice("hub_quiet", {"errors": sync.sync_errors}))
    if sync.blocked_events:
        found.append(Notice("hub_history", {"events": sync.blocked_events}, str(sync.blocked_events)))
    if sync.latest_skill_version is not None and _is_newer(sync.latest_skill_version):
        version = sync.latest_skill_version
        found.append(Notice("hub_newer", {"version": version}, version))
    return found


def untold(place: HubPlace, sync: HubSync, session: str, now: datetime) -> list[Notice]:
    """Return the notices this session was not told yet, and count them as told.

    Raises:
        StorageError: the hub's file cannot be used.
    """
    found = notices(sync)
    if not found:
        return []
    with place.opened(is_writing=True) as database:
        return [one for one in found if first_time(database, session, f"{one.word} {one.mark}", now)]


def _is_newer(version: str) -> bool:
    try:
        return Version(version) > Version(skill_version())
    except InvalidVersion:
        return False
