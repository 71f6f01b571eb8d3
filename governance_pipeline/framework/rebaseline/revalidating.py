"""Looking at every entry of the canonical registry under the new scope: the fourth step.

What belongs here: one decision per entry, the hash of its file computed anew, and the marks. What does not: writing a
registered file, which is frozen. Source: spec/framework.md §7: reconfirmed, obsolete or pending replacement, none left
ambiguous.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import UsageError
from governance_pipeline.framework import folder as places
from governance_pipeline.framework.incidents import SERVICE
from governance_pipeline.framework.rebaseline.protocol import Project, RebaselineCode, require_step, step_event, take
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.registry import CANONICAL, load_registry
from governance_pipeline.framework.registry_history import RegistryEvent, project_id, read_registry_history
from governance_pipeline.ledger.event import NewEvent
from governance_pipeline.ledger.rebaselines import Step
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.files import FileRefused, digest_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.framework.registry import Asset, Registry
    from governance_pipeline.ledger.rebaselines import Progress


class Mark(StrEnum):
    """What a re-baseline makes of a registered asset."""

    RECONFIRMED = "reconfirmed"
    OBSOLETE = "obsolete"
    PENDING_REPLACEMENT = "pending_replacement"


_STATUS: Final = {
    Mark.RECONFIRMED: CANONICAL,
    Mark.OBSOLETE: "obsolete",
    Mark.PENDING_REPLACEMENT: "pending_replacement",
}


def revalidate(project: Project, marks: Mapping[str, Mark]) -> Progress:
    """Record what becomes of each registered asset; an empty registry is recorded as such.

    Args:
        project: where.
        marks: name of an asset -> its mark, one for each entry of the registry.

    Raises:
        FrameworkRefused: the step may not be taken now; an entry has no mark, or is reconfirmed while its file has
            another hash than registered; or the registry is not what the ledger says.
        UsageError: a mark is for no entry.
    """
    require_step(project, Step.REVALIDATE)
    registry = recorded_registry(project)
    _refuse_unmarked(registry, marks)
    entries = [_entry(project, asset, marks[asset.name]) for asset in registry.assets]

    def events(progress: Progress) -> list[NewEvent]:
        now = project.clock()
        body = {"entries": entries}
        return [
            step_event(progress, Step.REVALIDATE, body, SERVICE, now),
            *(_marked(project, entry["name"], _STATUS[Mark(entry["mark"])], None) for entry in entries),
        ]

    return take(project, Step.REVALIDATE, events)


def require_unchanged(project: Project, progress: Progress) -> None:
    """Hold the registry to what was looked at: the same entries, the same marks, reconfirmed files with the same bytes.

    Raises:
        FrameworkRefused: REBASELINE_ENTRY_CHANGED or REBASELINE_ENTRY_AMBIGUOUS.
    """
    said = {entry["name"]: entry for entry in progress.taken[Step.REVALIDATE].body["entries"]}
    registry = recorded_registry(project)
    _refuse_unmarked(registry, {name: Mark(entry["mark"]) for name, entry in said.items()})
    for asset in registry.assets:
        if _entry(project, asset, Mark(said[asset.name]["mark"])) != dict(said[asset.name]):
            message = f"{asset.name!r} is not as it was looked at; run `govern rebaseline revalidate` again"
            raise FrameworkRefused(RebaselineCode.ENTRY_CHANGED, message)


def reconfirmed_events(project: Project, progress: Progress, version: str) -> list[NewEvent]:
    """Give the events that put a new baseline version beside each reconfirmed asset."""
    entries = progress.taken[Step.REVALIDATE].body["entries"]
    names = [entry["name"] for entry in entries if entry["mark"] == Mark.RECONFIRMED]
    return [_marked(project, name, CANONICAL, version) for name in names]


def recorded_registry(project: Project) -> Registry:
    """Give the registry of the folder, which must be what the ledger says of it.

    Raises:
        FrameworkRefused: REBASELINE_ENTRY_CHANGED, naming an asset.
    """
    registry = load_registry(project.folder.path(places.REGISTRY))
    recorded = read_registry_history(project.ledger, project.folder).assets
    for name in sorted({asset.name for asset in registry.assets} | recorded.keys()):
        if registry.asset(name) != recorded.get(name):
            message = f"registry and ledger do not say the same of {name!r}; `govern registry verify` shows both"
            raise FrameworkRefused(RebaselineCode.ENTRY_CHANGED, message)
    return registry


def _refuse_unmarked(registry: Registry, marks: Mapping[str, Mark]) -> None:
    names = [asset.name for asset in registry.assets]
    unknown = sorted(marks.keys() - set(names))
    if unknown:
        raise UsageError(f"the registry has no asset {excerpt(unknown[0], 80)!r}; it has {', '.join(names) or 'none'}")
    left = [name for name in names if name not in marks]
    if left:
        message = f"no entry is left ambiguous: say {', '.join(Mark)} for each of {', '.join(left)}"
        raise FrameworkRefused(RebaselineCode.ENTRY_AMBIGUOUS, message)


def _entry(project: Project, asset: Asset, mark: Mark) -> dict[str, Any]:
    """Look at one asset: its file is hashed anew, and one that is reconfirmed must have the registered hash."""
    try:
        sha256 = digest_file(project.folder.path(asset.canonical_path)).sha256
    except FileRefused:
        sha256 = None
    if mark is Mark.RECONFIRMED and sha256 != asset.last_verified_hash:
        message = (
            f"{asset.name!r} cannot be reconfirmed: {asset.canonical_path} has {sha256 or 'no readable bytes'}, "
            f"registered is {asset.last_verified_hash}; mark it {Mark.OBSOLETE} or {Mark.PENDING_REPLACEMENT}"
        )
        raise FrameworkRefused(RebaselineCode.ENTRY_CHANGED, message)
    return {"name": asset.name, "path": asset.canonical_path, "sha256": sha256, "mark": str(mark)}


def _marked(project: Project, name: str, status: str, version: str | None) -> NewEvent:
    body = {"project": project_id(project.folder), "name": name, "status": status}
    more = {} if version is None else {"baseline_version": version}
    return NewEvent(RegistryEvent.MARKED, SERVICE, {**body, **more}, project.clock())
