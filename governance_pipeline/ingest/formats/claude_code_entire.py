"""Entire checkpoints over Claude Code: totals declared beside the transcripts they were counted from.

Versions seen: 590 checkpoints of entireio/cli (branch `entire/checkpoints/v1`, "dev" to v0.4.4, February 2026); members
of later versions (`token_transcript_start`, `total_lines_changed`) are known from its source only. Semantics: its Go
code, `cmd/entire/cli/agent/claudecode/transcript.go` (CalculateTokenUsage), `checkpoint/committed.go` (reaggregation of
a root from its sessions), `strategy/manual_commit_attribution.go` (attribution).

Structure: `<checkpoint>/metadata.json` (root: `checkpoint_id`, `sessions[]`, totals), `<checkpoint>/<n>/metadata.json`
(session n: `session_id`, totals, `initial_attribution`) and beside it the transcript, a Claude Code session that is
read as one. `commit.numstat.csv` is no file of Entire: whoever wants the totals held against git puts it there, one
line ``commit,added,deleted,path`` per file of each commit with the trailer `Entire-Checkpoint` (git show --numstat).

Declared: `claude_code_entire_numbers`. Traps:
- Each transcript is the session so far, from its first line; the totals begin at line index
  `checkpoint_transcript_start` (`transcript_lines_at_start` before; `token_transcript_start` since
  token_usage_version 2).
- Some totals cover the session from its first line although the start says otherwise: Entire then reported the same
  calls again in the next checkpoint (its source names the defect). Held against the start, that is a mismatch.
- A folder may hold sessions its root does not list: an earlier run left them. They count, and that is the finding.
- Five zeros are a checkpoint whose tokens nobody counted: missing, not zero. A session without `token_usage` adds
  nothing, as in reaggregation.
- A file is one document. A second one of its kind in it (lines) would be counted with all its parts again: quarantined.
- Two session folders may name the same session: two snapshots of it, both in the sum.
- numstat writes "-" for a binary file (unknown) and ``{a => b}`` inside the path of a renamed one (kept as written).
"""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.formats import claude_code_entire_numbers
from governance_pipeline.ingest.formats.claude_code_entire_files import CommitFile, Metadata, Transcripts
from governance_pipeline.ingest.formats.claude_code_entire_numbers import declare_root, declare_session
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.values import members, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

NAME: Final = claude_code_entire_numbers.NAME
DECLARES: Final[tuple[str, ...]] = claude_code_entire_numbers.DECLARES
RECOMPUTABLE: Final[tuple[str, ...]] = claude_code_entire_numbers.RECOMPUTABLE
VERSIONS: Final = "entireio/cli checkpoints v1, dev to v0.4.4"

NUMSTAT_HEADER: Final = "commit,added,deleted,path"


def detect(sample: Sample) -> bool:
    """Tell by the members of a root or session document."""
    return any(is_metadata(value) for value in sample.values)


def detect_text(head: str) -> bool:
    """Tell a table of committed files by its header."""
    return head.partition("\n")[0].rstrip("\r") == NUMSTAT_HEADER


def belonging(sample: Sample, source: Path) -> Belonging:
    """Give the checkpoint, or the session of it, that holds the folder its metadata lie in."""
    for value in sample.values:
        if is_metadata(value):
            named = text(value.get("checkpoint_id" if is_root(value) else "session_id"))
            return Belonging(named, holds=source.parent, is_part=True)
    return Belonging()


def is_metadata(value: Any) -> bool:
    """Tell the metadata of a checkpoint or of one of its sessions."""
    document = members(value)
    is_checkpoint = text(document.get("checkpoint_id")) is not None and "checkpoints_count" in document
    return is_checkpoint and (is_root(value) or text(document.get("session_id")) is not None)


def is_root(value: Any) -> bool:
    """Tell the root of a checkpoint from one of its sessions."""
    document = members(value)
    return isinstance(document.get("sessions"), list) and text(document.get("session_id")) is None


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read the checkpoints of a round; Claude Code's reader has read their transcripts before."""
    checkpoints = _Checkpoints(out)
    for file in files:
        if file.sample.shape == "text":
            for record in file.text_lines():
                checkpoints.take_commit_line(file, record)
            continue
        for record in records(file):
            if not is_metadata(record.value):
                file.quarantine(record, "not_a_checkpoint")
            elif not checkpoints.take(Metadata(Place.of(file, record), record.value)):
                file.quarantine(record, "second_document")
    checkpoints.write()


class _Checkpoints:
    """Roots, sessions and committed files of a round, by the folder they lie in."""

    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._roots: list[Metadata] = []
        self._sessions: list[Metadata] = []
        self._inside: dict[str, list[Metadata]] = {}
        self._seen: set[tuple[str, bool]] = set()
        self._commits: dict[str, list[CommitFile]] = {}
        self._subjects: set[str] = set()
        self._copies: Counter[str] = Counter()

    def take(self, metadata: Metadata) -> bool:
        """Take a document; False for one more of its kind in a file, which would be counted with all parts again."""
        kind = metadata.place.file.path, is_root(metadata.value)
        if kind in self._seen:
            return False
        self._seen.add(kind)
        if is_root(metadata.value):
            self._roots.append(metadata)
            return True
        self._sessions.append(metadata)
        if metadata.checkpoint_folder is not None:
            self._inside.setdefault(metadata.checkpoint_folder, []).append(metadata)
        return True

    def take_commit_line(self, file: LogFile, record: Record) -> None:
        if record.value == NUMSTAT_HEADER:
            return
        try:
            (cells,) = csv.reader([record.value], strict=True)
        except (csv.Error, ValueError):
            file.quarantine(record, "malformed_csv")
            return
        row = CommitFile.of(Place.of(file, record), cells)
        if row is None:
            file.quarantine(record, "bad_row")
        else:
            self._commits.setdefault(_folder(file.path), []).append(row)

    def write(self) -> None:
        transcripts = Transcripts(self._out)
        for root in self._roots:
            inside = self._inside.get(root.folder, [])
            subject = self._subject(root.checkpoint_id, root)
            declare_root(self._out, subject, root, inside, self._commits.get(root.folder))
        for session in self._sessions:
            subject = self._subject(f"{session.checkpoint_id}/{session.number}", session)
            commits = self._commits.get(session.checkpoint_folder or "")
            declare_session(self._out, subject, session, transcripts, commits)
        self._write_runs()

    def _subject(self, wanted: str, metadata: Metadata) -> str:
        """Name a subject: a round put together by hand may hold the same checkpoint twice."""
        name = wanted
        if name in self._subjects:
            name = copy = f"{wanted}@{metadata.place.file.path}"
            while name in self._subjects:
                self._copies[copy] += 1
                name = f"{copy}#{self._copies[copy] + 1}"
        self._subjects.add(name)
        return name

    def _write_runs(self) -> None:
        """Add a run for each session whose transcript is not there."""
        known = set(self._out.frame("core_runs")["session_id"].dropna())
        names = RunNames(self._out)
        for session in self._sessions:
            session_id = session.session_id
            if session_id in known:
                continue
            known.add(session_id)
            run = Run(names.claim(session_id, session.place.file.path), NAME, session.place, session_id=session_id)
            run.platform = text(session.value.get("agent"))
            run.used(text(session.value.get("model")))
            run.write(self._out)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
