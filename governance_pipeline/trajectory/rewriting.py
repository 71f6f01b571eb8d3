"""What a round rewrote of what it found: lines deleted from the files that were there at its base.

What belongs here: which lines a round deleted from which file, and when that is unknown. What does not: the formula
(`growth`) and the repository (`base_lines`). Source: spec/trajectory.md §4.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.rounds.paths import is_outside, normal_form
from governance_pipeline.trajectory.base_lines import BaseReason
from governance_pipeline.trajectory.event_rows import EVENT_TABLES
from governance_pipeline.trajectory.events import read_events
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.growth import RewrittenFile, rewrite_share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.trajectory.base_lines import OpenBase
    from governance_pipeline.trajectory.event_rows import Tables

REWRITING_TABLES: Final = ("core_rounds", *EVENT_TABLES)
"""Tables `rewritten` reads."""


class RewriteReason(StrEnum):
    """Why the rewritten share of a round is null, beside the reasons of AUS and of the base."""

    NO_REPO = "no_repo"
    STEP_REPEATED = "step_repeated"
    FILES_NOT_LISTED = "files_not_listed"
    PATH_OUTSIDE = "path_outside"
    CHURN_UNKNOWN = "churn_unknown"
    NO_BASE_LINES = "no_base_lines"


class Rewritten(NamedTuple):
    """The share of a round, or why it is unknown."""

    value: float | None
    reason: str | None


@dataclass(slots=True)
class _Touched:
    """Files of one round: normal path -> lines deleted over all its steps (None: unknown), and why no list is whole."""

    deleted: dict[str, int | None]
    reason: RewriteReason | None = None


def rewritten(tables: Tables, open_base: OpenBase) -> dict[str, Rewritten]:
    """Give the rewritten share of every round of `core_rounds`, steps that are missing left to the caller.

    Args:
        tables: the frames named by `REWRITING_TABLES`.
        open_base: opens the base of a round.
    """
    bases = {
        row["round_id"]: (row["repo_path"], row["repo_base_id"])
        for row in rows_of(tables["core_rounds"], ("round_id", "repo_path", "repo_base_id"))
    }
    named = {of: (path, base) for of, (path, base) in bases.items() if path is not None and base is not None}
    touched = _touched(tables, set(named)) if named else {}
    nothing = Rewritten(None, RewriteReason.NO_REPO)
    return {
        of: _share(touched.get(of, _Touched({})), of, named[of], open_base) if of in named else nothing for of in bases
    }


def _touched(tables: Tables, round_ids: set[str]) -> dict[str, _Touched]:
    """List the files of each round; the tables are cut to these rounds first, because few name a repository."""
    cut = {name: tables[name][tables[name]["round_id"].isin(round_ids)] for name in EVENT_TABLES}
    events = read_events(cut)
    found = {of: _Touched({}) for of in round_ids}
    for step in events.steps:
        event = None if step.event is None else events.events[step.event]
        if event is None:
            found[step.round_id].reason = RewriteReason.STEP_REPEATED
        elif not event.has_files and event.declared.F != 0:
            found[step.round_id].reason = found[step.round_id].reason or RewriteReason.FILES_NOT_LISTED
    for row in rows_of(events.listed, ("event", "file_path", "deleted_count")):
        _add(found[events.events[row["event"]].round_id], row)
    return found


def _add(touched: _Touched, row: Mapping[str, Any]) -> None:
    path, deleted = normal_form(row["file_path"]), row["deleted_count"]
    if is_outside(path):
        touched.reason = touched.reason or RewriteReason.PATH_OUTSIDE
    before = touched.deleted.get(path, 0)
    touched.deleted[path] = None if before is None or deleted is None else before + deleted


def _share(touched: _Touched, round_id: str, named: tuple[str, str], open_base: OpenBase) -> Rewritten:
    if touched.reason is not None:
        return Rewritten(None, touched.reason)
    base = open_base(round_id, *named)
    if isinstance(base, BaseReason):
        return Rewritten(None, base)
    there = {path: deleted for path, deleted in sorted(touched.deleted.items()) if base.has(path)}
    lines = {path: base.lines(path) for path in there}
    files = [RewrittenFile(there[path], count) for path, count in lines.items() if count is not None]
    if len(files) < len(there) or None in there.values():
        return Rewritten(None, RewriteReason.CHURN_UNKNOWN)
    share = rewrite_share(files)
    return Rewritten(share, RewriteReason.NO_BASE_LINES if share is None else None)
