"""Table `confidence_events`: one row per verified fact and per line of a round's confidence.jsonl.

What belongs here: rows, and the event of each fact with an id that is the same for ever. What does not: finding facts
(`facts`) and folding events (`score_tables`).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.confidence import event_fields as form
from governance_pipeline.confidence.attribution import Unattributed
from governance_pipeline.confidence.event import EVENT_SCHEMA
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.records import Accepted, Blank, read_json_lines
from governance_pipeline.trust.instants import instant_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from governance_pipeline.confidence.facts import Fact

FILE: Final = "confidence.jsonl"
TRIGGER: Final = "auto-score"
"""Trigger of derived events: together with the evidence it keeps a fact from being scored twice (spec §2)."""


class LineFile(NamedTuple):
    """A round's confidence.jsonl: its place in the round, the copy of its bytes, their digest."""

    path: str
    copy: Path
    sha256: str


def fact_row(round_id: str, fact: Fact) -> dict[str, Any]:
    """Return the row of one fact; without a doer or a time it keeps the reason and has no event."""
    event = event_of(round_id, fact)
    doer = fact.doer
    reason = doer.reason or (None if event else Unattributed.NO_TIME)
    shown = event or {}
    return {
        "round_id": round_id,
        "row_id": _digest(round_id, fact.kind, fact.evidence, fact.place["pointer"]),
        "kind": fact.kind,
        "state": "derived" if event else "unattributed",
        "reason": None if event else str(reason),
        "event_id": shown.get("event_id"),
        "at": fact.at,
        "day_on": fact.at and fact.at.date().isoformat(),
        "run_id": doer.run_id,
        "subject_id": doer.agent_id,
        "runtime": doer.runtime,
        **{name: fact.members.get(name) for name in ("event_type", "domain", "severity", "pattern_code")},
        "evidence": fact.evidence,
        "event": json.dumps(event, sort_keys=True, ensure_ascii=False) if event else None,
        **{name: fact.place[name] for name in ("path", "file_sha256", "line", "pointer")},
    }


def event_of(round_id: str, fact: Fact) -> dict[str, Any] | None:
    """Return the event of a fact; None where somebody or something it needs is unknown.

    Its id follows from round, kind and evidence alone, so that a fact is scored once whatever is learned later. The
    day is that of UTC: nobody knows the clock on an agent's wall.
    """
    if fact.doer.reason is not None or fact.at is None or not fact.members:
        return None
    at = instant_text(fact.at)
    return {
        "schema": EVENT_SCHEMA,
        "event_id": f"fact-{_digest(round_id, fact.kind, fact.evidence)}",
        "ts": at,
        "day": at[:10],
        "session_id": fact.doer.session_id,
        "role": "agent",
        "subject_id": fact.doer.agent_id,
        "runtime": fact.doer.runtime,
        "trigger": TRIGGER,
        "evidence": fact.evidence,
        **fact.members,
    }


def line_rows(round_id: str, file: LineFile, imported: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield one row per line of a round's confidence.jsonl that is not blank; none of them is scored from here.

    Args:
        round_id: the round.
        file: the file.
        imported: digests of files a person has imported, as the ledger has them.

    Raises:
        FileRefused: the copy cannot be read.
    """
    state = "imported" if file.sha256 in imported else "not_imported"
    for line in read_json_lines(file.copy):
        if isinstance(line, Blank):
            continue
        value = line.value if isinstance(line, Accepted) and isinstance(line.value, dict) else {}
        yield {
            "round_id": round_id,
            "row_id": _digest(round_id, "line", file.sha256, line.line),
            "kind": "line",
            "state": state,
            **{name: value[name] if form.is_id(value.get(name)) else None for name in ("event_id", "subject_id")},
            "path": file.path,
            "file_sha256": file.sha256,
            "line": line.line,
        }


def digest_of(path: Path) -> str:
    """Return the digest of a file of lines, by which an import is known."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(*parts: Any) -> str:
    return sha256_hex(canonical_json(list(parts)))
