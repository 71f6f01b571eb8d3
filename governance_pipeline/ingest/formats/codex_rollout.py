"""Rollouts of the Codex CLI: JSON lines `{timestamp, type, payload}`, one file per session.

Versions seen: 0.104 (complete, texts redacted) and 0.146 (a trimmed collection of payload types), a forked pair of
counts. The files of early 2025, whose lines have no `payload`, were not seen and are not claimed. Semantics from codex
`codex-rs/protocol/src/protocol.rs` (what a line holds), `codex-rs/core/src/rollout/policy.rs` (which events are
kept) and `codex-rs/apply-patch`.

Structure: `session_meta` (id, parent, version), `turn_context` (model, effort, approval policy), `response_item`
(messages, calls and their outputs, joined by `call_id`), `event_msg` (token counts, ends of commands and patches,
turns, reviews, verdicts), `compacted` (the history that replaces the one before). Older versions keep few events, so
a call is known by its item first and completed by its event where there is one; since 0.146 some end as
`item_completed`.

Traps:
- Totals are cumulative and written twice, forks copy their parent's, and an overflow replaces them (codex_counts).
- A fork or sub-agent begins with its own `session_meta`; later ones are copied from its ancestors. Calls an ancestor
  made stay with it.
- Cached tokens are inside input_tokens, reasoning inside output_tokens, total = input + output.
- The first count has no `info`; a total of nothing but zeros is declared as written.
- `replacement_history` of a compaction repeats messages: nothing in it is read.
- Redacted or unknown arguments: the command is unknown, the step opaque. A patch is read where it was applied.
- A session file that is copied while it grows (archived, synchronised) repeats lines byte by byte: duplicates.
- Times of the turn (`duration_ms`) have no exact parts.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.formats.codex_counts import TOTALS, Counts
from governance_pipeline.ingest.formats.codex_sessions import UNCHECKED, Session
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.usage import UsageReport, write_usage
from governance_pipeline.ingest.formats.values import members, text
from governance_pipeline.ingest.rejections import Repetition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

    Members = Mapping[str, Any]

NAME: Final = "codex_rollout"
RECOMPUTABLE: Final[tuple[str, ...]] = tuple(field.name for field in TOTALS.values())
DECLARES: Final[tuple[str, ...]] = (*RECOMPUTABLE, *(field.name for field in UNCHECKED.values()))
VERSIONS: Final = "0.104, 0.146 (trimmed), a forked pair of counts"

_TYPES: Final = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_META: Final = "session_meta"
_ONE_LINE: Final = "another file of the same session has a line with the same bytes"


def detect(sample: Sample) -> bool:
    """Tell by the three members of a line and its type."""
    return any(_is_line(value) for value in sample.values)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read all files of a round together, so that forks, sub-agents and copies find each other."""
    reader = _Reader(out, is_alone=len(files) == 1)
    for file in files:
        reader.read(file)
    reader.write()


def belonging(sample: Sample, _: Path) -> Belonging:
    """Give the session a file is of and the one that was forked for it or started it, by its first meta line."""
    metas = (value.get("payload") for value in sample.values if members(value).get("type") == _META)
    meta = members(next(metas, None))
    spawn = members(members(members(meta.get("source")).get("subagent")).get("thread_spawn"))
    parent = text(meta.get("parent_thread_id")) or text(spawn.get("parent_thread_id"))
    return Belonging(text(meta.get("id")), parent or text(meta.get("forked_from_id")))


def _is_line(value: Any) -> bool:
    line = members(value)
    return text(line.get("type")) in _TYPES and isinstance(line.get("payload"), dict) and "timestamp" in line


def _fault_of(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "not_an_object"
    if text(value.get("type")) is None:
        return "no_type"
    return None if isinstance(value.get("payload"), dict) else "bad_payload"


class _Reader:
    def __init__(self, out: Extraction, *, is_alone: bool) -> None:
        self._out = out
        self._is_alone = is_alone
        self._names = RunNames(out)
        self._sessions: dict[str, Session] = {}
        self._lines: dict[tuple[str, bytes], tuple[str, str]] = {}

    def read(self, file: LogFile) -> None:
        session: Session | None = None
        for record in records(file):
            fault = _fault_of(record.value)
            if fault is not None:
                file.quarantine(record, fault)
                continue
            place = Place.of(file, record, "/payload")
            if session is None:
                session = self._session(file, place, record.value)
            first = self._first_copy(file, record, session)
            if first is not None:
                file.duplicate(record, "repeated_line", first)
            else:
                session.take(place, record.value)

    def write(self) -> None:
        """Write every session after those it comes from, whose calls and counts it may repeat."""
        reports: list[UsageReport] = []
        self._adopt()
        for session in self._in_order():
            ancestors = list(self._ancestors(session))
            session.settle({call_id for ancestor in ancestors for call_id in ancestor.calls})
            origin = self._sessions.get(session.forked_from or "")
            session.counts.settle(origin.counts if origin in ancestors else None)
            session.write(self._out, NAME)
            reports += session.counts.reports()
        write_usage(self._out, reports)

    def _session(self, file: LogFile, place: Place, line: Members) -> Session:
        """Give the session of a file, by its first line; files of one session go on with it."""
        meta = members(line.get("payload")) if line["type"] == _META else {}
        stated = text(meta.get("id"))
        session = self._sessions.get(stated or file.path)
        if session is None:
            run_id = self._names.claim(stated or file.path, file.path)
            run = Run(run_id, NAME, place, session_id=text(meta.get("session_id")) or stated)
            session = self._sessions[stated or file.path] = Session(run, Counts(run_id))
        session.begin(meta)
        session.files.add(file.path)
        if (version := text(meta.get("cli_version"))) is not None:
            file.state_version(version)
        return session

    def _first_copy(self, file: LogFile, record: Record, session: Session) -> Repetition | None:
        """Give what has the same bytes in another file of the session; a file alone has no copy."""
        if self._is_alone:
            return None
        raw = record.raw if record.raw is not None else json.dumps(record.value, ensure_ascii=False).encode()
        digest = hashlib.sha256(raw)
        key = (session.run.run_id, digest.digest())
        path, address = self._lines.setdefault(key, (file.path, Place.of(file, record).address))
        return None if path == file.path else Repetition(address, digest.hexdigest(), _ONE_LINE)

    def _adopt(self) -> None:
        for session in self._sessions.values():
            for spawned in session.spawned:
                child = self._sessions.get(spawned)
                if child is not None and child.parent is None:
                    child.parent = session.run.run_id
        for session in self._sessions.values():
            parent = self._sessions.get(session.parent or "")
            session.run.parent_run_id = session.parent if parent is None else parent.run.run_id

    def _ancestors(self, session: Session) -> Iterator[Session]:
        """Give the sessions it was copied from or started by, nearest first."""
        seen = [session]
        above = self._origin(session)
        while above is not None and all(above is not other for other in seen):
            seen.append(above)
            yield above
            above = self._origin(above)

    def _origin(self, session: Session) -> Session | None:
        return self._sessions.get(session.forked_from or "") or self._sessions.get(session.parent or "")

    def _in_order(self) -> list[Session]:
        return sorted(self._sessions.values(), key=lambda session: sum(1 for _ in self._ancestors(session)))
