"""What a file says of the session or trajectory it is of, so that a heap of files can be put back together.

What belongs here: the few ways in which tools spread one session over files, told without naming a tool. What does
not: which of them a format uses (the `belonging` of its module) and putting files together (units).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from governance_pipeline.ingest.logfile import Sample
    from governance_pipeline.ingest.logformat import LogFormat

SESSION_MEMBERS: Final = ("session_id", "sessionId")
"""Members by which the records of a format that says nothing else name their session."""


class Belonging(NamedTuple):
    """What one file says; what it does not say is left out.

    Files of one `session_id`, of whatever format, are one unit, and the id names its round. `parent_id` is the session
    it was forked from or started by: where that one is in the heap too, both are one unit.

    `agent_id` is that of the one sub-agent a file holds, which goes with the session beside it that mentions it. `ids`
    are the trajectories a file holds, `sub_agents` those it names: a file beside it that holds one goes with it.

    `holds` is a folder whose files all belong to this session, whatever their formats; `is_part` says that where the
    file itself lies in a folder another one holds, its session is a part of that one.

    `results` is a folder whose files of this format that name it are one unit, as soon as one of them `leads`.
    """

    session_id: str | None = None
    parent_id: str | None = None
    agent_id: str | None = None
    ids: tuple[str, ...] = ()
    sub_agents: tuple[str, ...] = ()
    holds: Path | None = None
    is_part: bool = False
    results: Path | None = None
    leads: bool = False


def only_id(values: Iterable[Any]) -> str | None:
    """Give the one id among some values, the same one however often; None for none or several.

    A file that holds several sessions is of none of them: it stays whole.
    """
    found = {value for value in values if isinstance(value, str) and value}
    return found.pop() if len(found) == 1 else None


def texts(records: Iterable[Any], name: str) -> list[str]:
    """Give the distinct texts a member of some records has, in the order met."""
    known = (record.get(name) for record in records if isinstance(record, dict))
    return list(dict.fromkeys(value for value in known if isinstance(value, str) and value))


def belonging(log_format: LogFormat, sample: Sample, source: Path) -> Belonging:
    """Ask a format what a file says; of one that has no `belonging` the members of `SESSION_MEMBERS` are looked at.

    `source` is where the file lies: names of folders and of the file may tell, their contents are not looked at.
    """
    says = getattr(log_format, "belonging", None)
    if says is not None:
        found: Belonging = says(sample, source)
        return found
    return Belonging(only_id(value for name in SESSION_MEMBERS for value in texts(sample.values, name)))
