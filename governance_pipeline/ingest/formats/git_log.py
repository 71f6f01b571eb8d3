"""An exported git history (`govern/git-log/v1`): one line per commit, as `govern rounds export-git` writes it.

Versions seen: v1, three public histories and those written here. Structure: sha, parents, ts, author,
agent_coauthors, files with path, added, deleted (null = binary) and renamed_from. Source of the meaning:
spec/trajectory.md §7.

The history is one run whose steps are its commits, in the order of the file; author and agents of a commit that are
not the actor of its step are runs without steps, so that everybody who had a hand in it is known as a producer.
It declares nothing. Traps: a binary file has no line counts (null, never 0); a merge lists what it brought to its
first parent; a renamed file is one file under its new path; a commit repeated in the file is a duplicate,
and another one with its sha is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.formats.edits import LineCounts
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Change, Run, RunNames, Step
from governance_pipeline.ingest.history.commits import SCHEMA, Commit, from_line
from governance_pipeline.ingest.native.members import UnusableRecord
from governance_pipeline.ingest.rejections import Repetition
from governance_pipeline.strict.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

NAME: Final = "git_log"
DECLARES: Final[tuple[str, ...]] = ()
RECOMPUTABLE: Final[tuple[str, ...]] = ()
VERSIONS: Final = "govern/git-log/v1"
RUN: Final = "git"
TOOL: Final = "commit"
_ONE_COMMIT: Final = "a commit has one hash"


def detect(sample: Sample) -> bool:
    """Tell by the schema every line names."""
    return sample.shape in ("jsonl", "document") and any(
        isinstance(value, dict) and value.get("schema") == SCHEMA for value in sample.values
    )


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every commit of every file into runs, steps and file changes."""
    names = RunNames(out)
    seen: dict[str, tuple[str, str]] = {}
    for file in files:
        _History(file, names).read(out, seen)


class _History:
    """One file: its run, and the people and agents beside it."""

    def __init__(self, file: LogFile, names: RunNames) -> None:
        self._file, self._names = file, names
        self._run: Run | None = None
        self._others: dict[str, Run] = {}

    def read(self, out: Extraction, seen: dict[str, tuple[str, str]]) -> None:
        for record in records(self._file):
            try:
                commit = from_line(record.value)
            except UnusableRecord as reason:
                self._file.quarantine(record, reason.code)
                continue
            place = Place.of(self._file, record)
            digest = sha256_hex(repr(commit).encode())
            first, known = seen.setdefault(commit.sha, (place.address, digest))
            if first == place.address:
                self._add(commit, place)
            elif known == digest:
                self._file.duplicate(record, "repeated_commit", Repetition(first, commit.sha, _ONE_COMMIT))
            else:
                self._file.quarantine(record, "repeated_id")
        for run in (self._run, *self._others.values()):
            if run is not None:
                run.write(out)

    def _add(self, commit: Commit, place: Place) -> None:
        if self._run is None:
            self._run = Run(self._names.claim(RUN, self._file.path), NAME, place)
        self._run.saw(commit.at)
        changes = [
            Change(file.path, LineCounts(file.added, file.deleted), TOOL, facts=file.facts) for file in commit.files
        ]
        self._run.steps.append(Step(place, TOOL, commit.sha, agent_id=commit.actor, at=commit.at, changes=changes))
        for actor in commit.actors[1:]:
            if actor not in self._others:
                name = self._names.claim(f"{RUN}:{actor}", self._file.path)
                self._others[actor] = Run(name, NAME, place, parent_run_id=self._run.run_id, agent_id=actor)
            self._others[actor].saw(commit.at)
