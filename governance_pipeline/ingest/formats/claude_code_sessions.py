"""Which session a Claude Code file is of, and what lies around it that is of the same one.

What belongs here: names and ids. What does not: the lines themselves (claude_code).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging, texts
from governance_pipeline.ingest.formats.values import entries, members

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.ingest.logfile import Sample

EXPORT: Final = "loglines"
"""Member of the web export that holds the lines."""


def belonging(sample: Sample, source: Path) -> Belonging:
    """Give the session a file is named after where its lines name it, else the first they name.

    A resumed session begins with lines of the old one, so the first id alone does not tell. What a session leaves
    besides its own lines lies in a folder of its name: sub-agents, outputs too long for a line. A file in which every
    line that says so is of a sidechain is the log of a sub-agent.
    """
    records = _lines(sample.values)
    ids = texts(records, "sessionId")
    session_id = source.stem if source.stem in ids else next(iter(ids), None)
    agents = texts([record for record in records if record.get("isSidechain") is True], "agentId")
    if agents and all(record.get("isSidechain", True) is True for record in records):
        return Belonging(session_id, agent_id=agents[0])
    return Belonging(session_id, holds=None if session_id is None else source.with_suffix(""), is_part=True)


def _lines(values: Sequence[Any]) -> list[Any]:
    export = members(values[0]).get(EXPORT) if len(values) == 1 else None
    return [value for value in (entries(export) or values) if isinstance(value, dict)]
