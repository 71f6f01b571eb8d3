"""The commit a step is, and the symbols it changed.

What belongs here: from a step to its commit (the logs of a history name it) and to its symbols, from the contents
before and after the commit, else from the names an event lists itself. What does not: comparing contents
(`symbol_changes`). An event lists names without saying what they are, so they count as it gives them.
Source: spec/trajectory.md §2.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.rounds.paths import normal_form
from governance_pipeline.trajectory.event_rows import Origin
from governance_pipeline.trajectory.frames import rows_of
from governance_pipeline.trajectory.repository_links import symbol_id
from governance_pipeline.trajectory.symbols import SymbolChange

if TYPE_CHECKING:
    from governance_pipeline.trajectory.event_rows import Tables
    from governance_pipeline.trajectory.events import Event
    from governance_pipeline.trajectory.repositories import OpenRepository

COMMIT_TOOL: Final = "commit"
"""Tool of the steps of a history (`ingest.formats.git_log`); their call id is the id of the commit."""

SYMBOL_TABLES: Final = ("core_steps", "core_file_changes")
"""Tables read here."""

_WHOLE_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)


class StepSymbols(NamedTuple):
    """Symbols a step changed (None: unknown) and where that is from: git or event."""

    symbols: tuple[SymbolChange, ...] | None
    source: str | None


UNKNOWN_SYMBOLS: Final = StepSymbols(None, None)


class StepCommits:
    """Commits and symbols of the steps of some rounds (tables `SYMBOL_TABLES`)."""

    def __init__(self, tables: Tables) -> None:
        steps = tables["core_steps"]
        commits = steps[(steps["tool"] == COMMIT_TOOL).fillna(value=False)]
        self._commits = {
            (row["round_id"], row["run_id"], row["step_index"]): row["call_id"]
            for row in rows_of(commits, ("round_id", "run_id", "step_index", "call_id"))
            if row["call_id"] is not None and _WHOLE_ID.fullmatch(row["call_id"])
        }
        self._named: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
        files = tables["core_file_changes"]
        native = files[files["origin"] == Origin.NATIVE]
        for row in rows_of(native, ("round_id", "path", "line", "file_path", "symbols")):
            self._named[row["round_id"], row["path"], row["line"]].append(row)

    def commit(self, event: Event) -> str | None:
        """Give the id of the commit an event is; None when no log names one."""
        step = event.step if event.run_step is None else event.run_step
        return self._commits.get((event.round_id, event.run_id or "", step))

    def last_of(self, events: list[Event]) -> str | None:
        """Give the commit of the last event of a round; None when it has none."""
        return self.commit(max(events, key=lambda event: event.step)) if events else None

    def symbols(self, event: Event, repository: OpenRepository | None) -> StepSymbols:
        """Give the symbols an event changed."""
        commit = self.commit(event)
        if repository is not None and commit is not None:
            symbols = _of_commit(repository, commit)
            return UNKNOWN_SYMBOLS if symbols is None else StepSymbols(symbols, "git")
        listed = self._listed(event)
        return UNKNOWN_SYMBOLS if listed is None else StepSymbols(listed, "event")

    def _listed(self, event: Event) -> tuple[SymbolChange, ...] | None:
        """Names the event lists; None unless it lists them for every file."""
        if event.origin is not Origin.NATIVE or not event.has_files or event.line is None:
            return None
        found: list[SymbolChange] = []
        for row in self._named[event.round_id, event.path, event.line]:
            if row["symbols"] is None:
                return None
            path = normal_form(row["file_path"])
            names = dict.fromkeys(json.loads(row["symbols"]))
            found += [SymbolChange(symbol_id(path, name), "function", body=True, signature=None) for name in names]
        return tuple(found)


def _of_commit(repository: OpenRepository, sha: str) -> tuple[SymbolChange, ...] | None:
    commit = repository.commits.commit(sha)
    changed = None if commit is None else repository.commits.changed(commit)
    if changed is None:
        return None
    found: list[SymbolChange] = []
    for file in changed:
        changes = repository.symbols.changes(file)
        if changes is None:
            return None
        found += changes
    return tuple(found)
