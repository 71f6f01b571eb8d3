"""Native change events: `changes.jsonl`, one event per line.

An event that breaks a rule is quarantined whole (spec/ingest.md §3): `step` from 1; F, L, M, P, added and deleted as
JSON integers, 0 or more; H finite, 0 or more; no empty path; at least one number, or `files`. Rows of
`core_file_changes` and components come from the first of byte-identical lines only: they count once
(spec/trajectory.md §1), while each of them keeps its row in `core_changes`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.change_facts.facts import NO_CONTENT, no_facts
from governance_pipeline.ingest.change_facts.rows import fact_columns
from governance_pipeline.ingest.extraction import parse_time
from governance_pipeline.ingest.native.components import ComponentRows
from governance_pipeline.ingest.native.members import (
    UnusableRecord,
    is_text,
    members_of,
    optional_integer,
    optional_text,
    required_integer,
    required_text,
)
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import binary64

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

NAME: Final = "native_changes"
DECLARES: Final[tuple[str, ...]] = ()
RECOMPUTABLE: Final[tuple[str, ...]] = ()
VERSIONS: Final = "spec/ingest.md §3"
SOURCE: Final = "changes"
"""Component source these records are in the native check catalogue."""

_COMPONENTS: Final = ("added", "deleted", "path")
_NUMBERS: Final = ("F", "L", "M", "P")


class _Event(NamedTuple):
    """One valid event; numbers and files are None where the event does not give them."""

    step: int
    run_id: str | None
    agent_id: str | None
    numbers: tuple[int | None, ...]
    entropy: str | None
    files: list[dict[str, Any]] | None


def detect(_sample: Sample) -> bool:
    """Change events are known by their place in the round folder, not by their content."""
    return False


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every event into `core_changes`, `core_file_changes` and the components of declared subjects."""
    reader = _Reader(out)
    for file in files:
        for record in file.lines():
            try:
                event = _event(members_of(record.value))
            except UnusableRecord as reason:
                file.quarantine(record, reason.code)
            else:
                reader.add(file, record, event)


class _Reader:
    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._components = ComponentRows(out, SOURCE)
        self._seen: set[str] = set()
        self._positions: dict[tuple[str, int], int] = defaultdict(int)

    def add(self, file: LogFile, record: Record, event: _Event) -> None:
        digest = hashlib.sha256(record.raw or b"").hexdigest()
        self._out.add(
            "core_changes",
            file,
            record,
            step_index=event.step,
            at=parse_time(record.value.get("ts")),
            run_id=event.run_id,
            agent_id=event.agent_id,
            files_count=event.numbers[0],
            churn_count=event.numbers[1],
            modules_count=event.numbers[2],
            public_count=event.numbers[3],
            entropy_lexeme=event.entropy,
            has_files=event.files is not None,
            line_sha256=digest,
        )
        if digest not in self._seen:
            self._seen.add(digest)
            self._add_files(file, record, event)

    def _add_files(self, file: LogFile, record: Record, event: _Event) -> None:
        if event.files is None and event.numbers[0] != 0:
            # The event says that something changed, not what: its lines are unknown, so a sum over them is too.
            self._components.add(file, record, event.run_id, dict.fromkeys(_COMPONENTS, (None, "")))
        run_id = event.run_id or ""
        for index, change in enumerate(event.files or ()):
            pointer = f"/files/{index}"
            self._positions[run_id, event.step] += 1
            self._out.add(
                "core_file_changes",
                file,
                record,
                pointer,
                origin="native",
                run_id=run_id,
                step_index=event.step,
                change_index=self._positions[run_id, event.step],
                file_path=change["path"],
                added_count=change["added"],
                deleted_count=change["deleted"],
                module=change["module"],
                symbols=change["symbols"],
            )
            self._add_unjudged(file, record, pointer, (run_id, event.step, change["path"]))
            values = {name: (change[name], f"{pointer}/{name}") for name in _COMPONENTS}
            self._components.add(file, record, event.run_id, values)

    def _add_unjudged(self, file: LogFile, record: Record, pointer: str, of: tuple[str, int, str]) -> None:
        """Say that an event shows no content: what it did to tests and the like cannot be told from it."""
        run_id, step, path = of
        for number, fact in enumerate(no_facts(path, NO_CONTENT), 1):
            self._out.add(
                "core_change_facts",
                file,
                record,
                pointer,
                origin="native",
                run_id=run_id,
                step_index=step,
                change_index=self._positions[run_id, step],
                fact_index=number,
                file_path=path,
                **fact_columns(fact),
            )


def _event(members: Mapping[str, Any]) -> _Event:
    step = required_integer(members, "step", at_least=1)
    numbers = tuple(optional_integer(members, name, at_least=0) for name in _NUMBERS)
    entropy = _entropy(members.get("H"))
    listed = members.get("files")
    if listed is not None and not isinstance(listed, list):
        raise UnusableRecord("bad_files")
    files = None if listed is None else [_change(entry) for entry in listed]
    if files is None and entropy is None and numbers == (None,) * len(_NUMBERS):
        raise UnusableRecord("nothing_declared")
    return _Event(step, optional_text(members, "run_id"), optional_text(members, "agent_id"), numbers, entropy, files)


def _entropy(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | Lexeme):
        raise UnusableRecord("bad_H")
    number = binary64(str(value))
    if number is None or not math.isfinite(number) or number < 0:
        raise UnusableRecord("bad_H")
    return str(value)


def _change(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise UnusableRecord("bad_files")
    symbols = entry.get("symbols")
    if symbols is not None and not (isinstance(symbols, list) and all(map(is_text, symbols))):
        raise UnusableRecord("bad_symbols")
    return {
        "path": required_text(entry, "path"),
        "added": optional_integer(entry, "added", at_least=0),
        "deleted": optional_integer(entry, "deleted", at_least=0),
        "module": optional_text(entry, "module"),
        "symbols": None if symbols is None else json.dumps(symbols, ensure_ascii=False),
    }
