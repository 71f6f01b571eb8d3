"""Native audit log: one line per tool execution (seed of the governance framework, §2.3; spec/ingest.md §3).

Each line is a step of its run, numbered from 1 in file order. What an entry does not say is null; an entry without a
run, or with a member of the wrong type, is quarantined. `token_cost` is kept as written, whatever it is. The entry
names a tool and its output, not the files it changed, so every step counts as opaque.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time, text_sha256
from governance_pipeline.ingest.native.components import ComponentRows
from governance_pipeline.ingest.native.members import (
    UnusableRecord,
    is_text,
    members_of,
    optional_flag,
    optional_text,
    required_text,
)
from governance_pipeline.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

NAME: Final = "native_audit_log"
DECLARES: Final[tuple[str, ...]] = ()
RECOMPUTABLE: Final[tuple[str, ...]] = ()
VERSIONS: Final = "spec/ingest.md §3"
SOURCE: Final = "audit_log"
"""Component source these records are in the native check catalogue."""

_SIGNATURE: Final = frozenset({"timestamp", "agent_id", "run_id", "tool_called"})
COMPONENTS: Final = {"token_cost": "token_cost", "tool_called": "tool", "agent_id": "agent_id", "run_id": "run_id"}
"""Column of a component row (the member's name) -> where `entry_of` has its value."""

TEXTS: Final = ("agent_id", "input_hash", "output_hash", "output_path", "self_reported_status", "verification_method")
RUN_TEXTS: Final = ("parent_run_id", "session_id", "agent_id", "platform", "model_id", "thinking")
STEP_COLUMNS: Final = ("run_id", *TEXTS, "is_independently_verified", "tool", "at", "output_result_sha256")
RUNTIME_PARTS: Final = 3
"""A runtime with fewer parts between slashes names the platform only."""


@dataclass
class _Run:
    """What the entries of one run say of it: the values they name, and its first and last time."""

    file: LogFile
    record: Record
    steps: int = 0
    named: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in RUN_TEXTS})
    self_reported_status: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


def detect(sample: Sample) -> bool:
    """Tell by the members of a line: time, agent, run and tool together are those of no other format."""
    is_lines = sample.shape == "jsonl"
    return is_lines and any(isinstance(value, dict) and value.keys() >= _SIGNATURE for value in sample.values)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every entry into `core_steps`, its run into `core_runs`, and the components of declared subjects.

    Large logs are read as sets of lines, which gives the same rows and accounts.
    """
    if sum(file.size for file in files) > SETTINGS.large_log_bytes:
        from governance_pipeline.ingest.native.audit_set import read_as_set  # it needs this module

        read_as_set(files, out)
    else:
        read_line_by_line(files, out)


def read_line_by_line(files: Sequence[LogFile], out: Extraction) -> None:
    """Read every entry on its own: cheapest for small logs, and what every other way of reading is held to."""
    reader = _Reader(out)
    for file in files:
        for record in file.lines():
            try:
                reader.add(file, record, entry_of(members_of(record.value)))
            except UnusableRecord as reason:
                file.quarantine(record, reason.code)
    reader.add_runs()


def entry_of(members: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an entry says: its columns of `core_steps`, what it names of its run, and `token_cost` as parsed.

    Raises:
        UnusableRecord: it has no run, or a member of the wrong type.
    """
    run_id = required_text(members, "run_id")
    texts = {name: optional_text(members, name) for name in TEXTS}
    return {
        "run_id": run_id,
        **texts,
        "is_independently_verified": optional_flag(members, "independently_verified"),
        "tool": optional_text(members, "tool_called"),
        **_named(members),
        "at": parse_time(members.get("timestamp")),
        "output_result_sha256": text_sha256(members.get("output_result")),
        "token_cost": members.get("token_cost"),
    }


class _Reader:
    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._components = ComponentRows(out, SOURCE)
        self._runs: dict[str, _Run] = {}

    def add(self, file: LogFile, record: Record, entry: Mapping[str, Any]) -> None:
        run_id = entry["run_id"]
        run = self._runs.setdefault(run_id, _Run(file, record))
        run.steps += 1
        columns = {name: entry[name] for name in STEP_COLUMNS}
        self._out.add("core_steps", file, record, step_index=run.steps, **columns)
        _update(run, entry)
        if self._out.subjects:
            values = {name: (entry[column], f"/{name}") for name, column in COMPONENTS.items()}
            self._components.add(file, record, run_id, values)

    def add_runs(self) -> None:
        for run_id, run in self._runs.items():
            self._out.add(
                "core_runs",
                run.file,
                run.record,
                run_id=run_id,
                format=NAME,
                started_at=run.started_at,
                ended_at=run.ended_at,
                self_reported_status=run.self_reported_status,
                opaque_step_count=run.steps,
                # Entries of one run that name two agents leave the agent of the run unknown; the steps keep theirs.
                **{name: next(iter(values)) if len(values) == 1 else None for name, values in run.named.items()},
            )


def _named(members: Mapping[str, Any]) -> dict[str, str | None]:
    platform, model_id, thinking = split_runtime(members.get("runtime"))
    return {
        "parent_run_id": optional_text(members, "parent_run_id"),
        "session_id": optional_text(members, "session_id"),
        "platform": platform,
        "model_id": model_id,
        "thinking": thinking,
    }


def split_runtime(value: Any) -> tuple[str | None, str | None, str | None]:
    """Split platform/model/thinking (the model may hold slashes); anything shorter names the platform only.

    Raises:
        UnusableRecord: it is neither a text nor an object of texts.
    """
    if value is None:
        return None, None, None
    if isinstance(value, dict):
        return optional_text(value, "platform"), optional_text(value, "model"), optional_text(value, "thinking")
    if not is_text(value):
        raise UnusableRecord("bad_runtime")
    parts = value.split("/")
    if len(parts) < RUNTIME_PARTS:
        return value, None, None
    return parts[0], "/".join(parts[1:-1]), parts[-1]


def _update(run: _Run, entry: Mapping[str, Any]) -> None:
    for name in RUN_TEXTS:
        if entry[name] is not None:
            run.named[name].add(entry[name])
    at, status = entry["at"], entry["self_reported_status"]
    if status is not None:
        run.self_reported_status = status
    if at is not None:
        run.started_at = at if run.started_at is None else min(run.started_at, at)
        run.ended_at = at if run.ended_at is None else max(run.ended_at, at)
