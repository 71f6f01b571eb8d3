"""Files of an Entire checkpoint: metadata documents, committed files, and the transcripts beside them.

What belongs here: reading each by itself, and how folders tie them together. What does not: which member is which
declared number (claude_code_entire_numbers).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.ingest.formats.values import members, text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place

    Members = Mapping[str, Any]

TRANSCRIPTS: Final = "claude_code"
"""Format of the transcripts."""

TOKEN_WINDOW_VERSION: Final = 2
"""token_usage_version since which the totals begin at `token_transcript_start`, 0 when it is left out."""

BINARY: Final = "-"
"""Written instead of both counts for a binary file."""

_COUNT: Final = re.compile(r"-|\d{1,18}", re.ASCII)  # what fits 64 bits


@dataclass(frozen=True)
class Metadata:
    """One metadata document, root or session."""

    place: Place
    value: Members

    @property
    def checkpoint_id(self) -> str:
        """The checkpoint it names."""
        return text(self.value.get("checkpoint_id")) or ""

    @property
    def session_id(self) -> str:
        """The session it names; empty for a root."""
        return text(self.value.get("session_id")) or ""

    @property
    def folder(self) -> str:
        """The folder it lies in."""
        return self.place.file.path.rpartition("/")[0]

    @property
    def checkpoint_folder(self) -> str | None:
        """The folder a session's root lies in; None where the session lies in no folder."""
        return self.folder.rpartition("/")[0] if self.folder else None

    @property
    def number(self) -> str:
        """The number of a session: its folder; its id where it lies in none."""
        return self.folder.rpartition("/")[2] or self.session_id

    @property
    def start(self) -> int:
        """Index of the first transcript line the token counts cover."""
        if (whole(self.value.get("token_usage_version")) or 0) >= TOKEN_WINDOW_VERSION:
            return whole(self.value.get("token_transcript_start")) or 0
        starts = (whole(self.value.get(name)) for name in ("checkpoint_transcript_start", "transcript_lines_at_start"))
        return next((start for start in starts if start is not None), 0)

    def member(self, *names: str) -> tuple[Place, Any]:
        """Give a member with its place; None where it is not there."""
        value: Any = self.value
        for name in names:
            value = members(value).get(name)
        return self.place.below("".join(f"/{name}" for name in names)), value


class CommitFile(NamedTuple):
    """One file of a commit; a count is None for a binary file."""

    place: Place
    path: str
    added: int | None
    deleted: int | None

    @classmethod
    def of(cls, place: Place, cells: Sequence[str]) -> CommitFile | None:
        """Read a line of the table; None when it is no such line."""
        expected = 4
        if len(cells) != expected or not cells[0] or not cells[3]:
            return None
        if not all(_COUNT.fullmatch(cell) for cell in cells[1:3]):
            return None
        added, deleted = (None if cell == BINARY else int(cell) for cell in cells[1:3])
        return cls(place, cells[3], added, deleted)


class Transcripts:
    """Usage reports Claude Code's reader found, by the folder of their transcript."""

    def __init__(self, out: Extraction) -> None:
        self._files: dict[str, list[str]] = {}
        self._reports: dict[str, list[Members]] = {}
        for path in out.paths_of.get(TRANSCRIPTS, ()):
            self._files.setdefault(path.rpartition("/")[0], []).append(path)
        frame = out.frame("core_usage")
        if self._files:
            for row in plain_rows(frame[frame["path"].isin(out.paths_of[TRANSCRIPTS])]):
                self._reports.setdefault(row["path"].rpartition("/")[0], []).append(row)

    def files(self, session: Metadata) -> list[str]:
        """Give the transcripts beside a session's metadata."""
        return self._files.get(session.folder, [])

    def calls(self, session: Metadata) -> list[Members]:
        """Give one report per message since the start: the one with the most output, among equals the first.

        Replays of sub-agents and lines without a message id are left out, as Entire does.
        """
        calls: dict[str, Members] = {}
        for row in self._reports.get(session.folder, ()):
            is_message = row["pointer"] == "/message/usage" and row["call_id"] is not None
            if is_message and row["line"] is not None and row["line"] > session.start:
                best = calls.setdefault(row["call_id"], row)
                if (row["output_tokens"] or 0) > (best["output_tokens"] or 0):
                    calls[row["call_id"]] = row
        return list(calls.values())
