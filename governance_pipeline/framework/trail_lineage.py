"""Who comes from whom in a governed folder: the lineage of the runs its audit trail names.

What belongs here: reading the members of the trail that make a lineage. What does not: whether the trail is sound, and
the rules of independence (`trust`). A line that is no entry tells nothing of its run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.strict.files import FileRefused, open_regular
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.limits import LIMITS
from governance_pipeline.trust.lineage import Lineage, lineage_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NAMED: Final = ("agent_id", "parent_run_id", "session_id")


def lineage_of_trail(path: Path) -> Lineage:
    """Make the lineage of the runs an audit trail (`audit_trail.jsonl`) names; of no trail, one without runs.

    A run of which two entries name different parents or sessions has none that is known.

    Raises:
        FileRefused: there is something that is no regular file.
    """
    named: dict[str, dict[str, set[str]]] = {}
    steps = []
    for entry in _entries(path):
        run_id = _text(entry.get("run_id"))
        if run_id is None:
            continue
        of_run = named.setdefault(run_id, {name: set() for name in _NAMED})
        for name in _NAMED:
            value = _text(entry.get(name))
            if value is not None:
                of_run[name].add(value)
        steps.append({"run_id": run_id, "agent_id": _text(entry.get("agent_id"))})
    return lineage_of(
        [
            {"run_id": run_id, **_row({name: _only(found) for name, found in of.items()})}
            for run_id, of in named.items()
        ],
        steps,
    )


def _row(names: dict[str, str | None]) -> dict[str, Any]:
    return {**names, "platform": None, "model_id": None, "opaque_step_count": 0}


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    try:
        stream = open_regular(path)
    except FileRefused as error:
        if error.code == "not_found":
            return
        raise
    with stream:
        while line := stream.readline(LIMITS.line_bytes + 1):
            try:
                value = parse_json(line)
            except RecordRefused:
                continue
            if isinstance(value, dict):
                yield value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and not isinstance(value, Lexeme) and value else None


def _only(found: set[str]) -> str | None:
    return next(iter(found)) if len(found) == 1 else None
