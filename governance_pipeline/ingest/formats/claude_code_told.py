"""What session files tell of a session whose stream is in the round too: each call counts once, with the session file.

What belongs here: finding the rows. What does not: reading either (claude_code, claude_code_stream).
A session file is complete where a stream is not: its counts are final, and it has the time of every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.rejections import Repetition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from governance_pipeline.ingest.extraction import Extraction

    Key = tuple[str, ...]

SESSION_FILES: Final = "claude_code"
REPEATED_CALL: Final = "repeated_call"
_REASON: Final = "the session file of the same session has a call with this id"


class Told:
    """Calls, usage reports and decisions of the session files of a round, by session and id."""

    def __init__(self, out: Extraction) -> None:
        self._rows: dict[str, Mapping[Key, str]] = {}
        paths = set(out.paths_of.get(SESSION_FILES, ()))
        if paths:
            runs = out.frame("core_runs")
            sessions = dict(zip(runs["run_id"], runs["session_id"], strict=True))
            for table, names in (("core_steps", ()), ("core_usage", ()), ("core_approvals", ("kind",))):
                self._rows[table] = dict(_rows(out, table, names, paths, sessions))

    def find(self, table: str, session_id: str | None, *names: str | None) -> Repetition | None:
        """Give the row of a table that tells of the same call; None where there is none."""
        if session_id is None or None in names:
            return None
        known = tuple(name for name in names if name is not None)
        at = self._rows.get(table, {}).get((session_id, *known))
        return None if at is None else Repetition(at, known[0], _REASON)


def _rows(
    out: Extraction, table: str, names: tuple[str, ...], paths: set[str], sessions: Mapping[str, str | None]
) -> Iterator[tuple[Key, str]]:
    frame = out.frame(table)
    frame = frame[frame["path"].isin(paths) & frame["call_id"].notna()]
    if table == "core_usage":
        frame = frame[frame["duplicate_of"].isna()]
    columns = ("run_id", "path", "line", "pointer", "call_id", *names)
    for run_id, path, line, pointer, *key in zip(*(frame[name].array for name in columns), strict=True):
        session = sessions.get(run_id)
        if isinstance(session, str):
            yield (session, *key), ":".join([path, *([] if line is None else [str(line)]), *filter(None, [pointer])])
