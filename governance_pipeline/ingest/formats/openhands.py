"""OpenHands logs of five kinds: evaluation output, resolver output, event streams, SDK v1 conversations, call logs.

Versions seen: evaluation output of May 2024 (history as pairs, no metrics) and April 2025 (0.35, flat history, metrics
with lists of objects), resolver output of late 2024 (costs as plain numbers), event streams of January 2025, SDK v1
conversations of February and June 2026, call logs of September 2025 (SDK 1.0.0). Semantics from OpenHands
`openhands/llm/metrics.py` and `openhands/events/`, and from the SDK's `llm/utils/metrics.py` and `event/`.

Structure:
- evaluation and resolver output (JSONL): a record is a run with `history[]`, `metrics`, a patch (`test_result.
  git_patch` or `git_patch`) and the verdict of the resolver (`success`). Its id is ``path:line``: one file may hold
  the same instance twice.
- event stream: one JSON array of events, or one event per line. A run is a file.
- SDK v1: `base_state.json` beside `events/`, or one file of events. Files of one folder are one run; it has the id of
  its state.
- call log: one request with its `response`, `cost` and times. A run is a file.

Traps:
- Totals are cumulative wherever they repeat (`llm_metrics` on events, `stats` events): the last counts, never a sum,
  and none of them where the record or the state has its own.
- accumulated_cost 0.0 with an empty list: a model without a price. Declared as written, without parts.
- A sub-agent (SDK, `tools/delegate`, `tools/task`) is a conversation in `subagents/` of its parent, whose state repeats
  its calls under a usage id of their own: one call, counted with the sub-agent.
- prompt_tokens include cached tokens (unlike Anthropic's own count).
- The same response stands on the action, on its observation and in `token_usages`: one call.
- Edits are counted by step from their reports; the patch of a record only where no edit step changed a file.
- exit_code -1 is no exit code. Times of events have no offset; only costs and responses carry instants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.formats import openhands_conversation, openhands_events, openhands_metrics
from governance_pipeline.ingest.formats.openhands_conversation import Conversation
from governance_pipeline.ingest.formats.openhands_events import EventStream
from governance_pipeline.ingest.formats.openhands_records import (
    CALL_COST,
    RECORD_FORMAT,
    is_call_log,
    is_evaluation,
    write_call_log,
    write_evaluation,
    write_stream,
)
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.usage import UsageReport, write_usage
from governance_pipeline.ingest.formats.values import members, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

NAME: Final = RECORD_FORMAT
DECLARES: Final[tuple[str, ...]] = (*openhands_metrics.DECLARES, CALL_COST.name)
RECOMPUTABLE: Final[tuple[str, ...]] = DECLARES
VERSIONS: Final = "evaluation output 2024-2025, resolver 2024, event streams 2025, SDK v1 2026, call logs 2025"

_EVENTS_FOLDER: Final = "events"
_SUBAGENTS_FOLDER: Final = "subagents"
_LOOKED_AT: Final = 20
"""Events of an array looked at to tell it, as many as lines of a file."""


def detect(sample: Sample) -> bool:
    """Tell by the members of the records: those of one of the five kinds."""
    values = sample.values
    if len(values) == 1 and isinstance(values[0], list):
        return any(_is_stream_event(event) for event in values[0][:_LOOKED_AT])
    return any(
        is_evaluation(value)
        or is_call_log(value)
        or openhands_conversation.is_state(value)
        or openhands_conversation.is_event(value)
        or _is_stream_event(value)
        for value in values
    )


def belonging(sample: Sample, source: Path) -> Belonging:
    """Give the conversation whose state a file is: it holds its folder where the events lie there too.

    A conversation in the folder `subagents` of another one is a sub-agent of that one.
    """
    state = next((value for value in sample.values if openhands_conversation.is_state(value)), None)
    if state is None:
        return Belonging()
    folder, events = source.parent, source.parent / _EVENTS_FOLDER
    holds = folder if events.is_dir() and not events.is_symlink() else None
    return Belonging(text(state.get("id")), holds=holds, is_part=folder.parent.name == _SUBAGENTS_FOLDER)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read all files of a round together, so that the files of one conversation find each other."""
    reader = _Reader(out)
    for file in files:
        for record in records(file):
            reader.take(file, record)
    reader.write()


def _is_stream_event(value: Any) -> bool:
    event = members(value)
    return openhands_events.is_event(event) and {"source", "timestamp"} <= event.keys()


def _depth(folder: str) -> int:
    return folder.split("/").count(_SUBAGENTS_FOLDER)


def _parent_folder(folder: str) -> str | None:
    """Give the folder of the conversation that started the one in `folder`; None where that is no sub-agent."""
    above, _, _ = folder.rpartition("/")
    parent, _, name = above.rpartition("/")
    return parent if name == _SUBAGENTS_FOLDER else None


class _Reader:
    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._names = RunNames(out)
        self._reports: list[UsageReport] = []
        self._conversations: dict[str, Conversation] = {}
        self._streams: dict[str, EventStream] = {}

    def take(self, file: LogFile, record: Record) -> None:
        value, place = record.value, Place.of(file, record)
        if is_evaluation(value):
            self._reports += write_evaluation(self._out, self._run(place), value)
        elif is_call_log(value):
            self._reports += write_call_log(self._out, self._run(place), value)
        elif openhands_conversation.is_state(value):
            self._conversation(place, text(value.get("id"))).take_state(place, value)
        elif openhands_conversation.is_event(value):
            self._conversation(place, None).take_event(place, value)
        elif isinstance(value, list) and record.line is None:
            for item in file.items(value, place.pointer):
                self._take_stream_event(file, item)
        else:
            self._take_stream_event(file, record)

    def write(self) -> None:
        for stream in self._streams.values():
            self._reports += write_stream(self._out, stream)
        for key in sorted(self._conversations, key=lambda key: -_depth(key)):  # each call counts where it was made
            conversation, above = self._conversations[key], _parent_folder(key)
            if above is not None and above in self._conversations:
                conversation.run.parent_run_id = self._conversations[above].run.run_id
            conversation.write(self._out, self._names)
            self._reports += conversation.reports
        write_usage(self._out, self._reports)

    def _take_stream_event(self, file: LogFile, record: Record) -> None:
        if not openhands_events.is_event(record.value):
            file.quarantine(record, "no_event")
            return
        stream = self._streams.get(file.path)
        if stream is None:
            stream = self._streams[file.path] = EventStream(self._run(Place(file, record, "")))
        stream.take(Place.of(file, record), record.value)

    def _run(self, place: Place) -> Run:
        return Run(self._names.claim(place.address.rstrip(":"), place.file.path), NAME, place, platform="openhands")

    def _conversation(self, place: Place, stated: str | None) -> Conversation:
        """Give the conversation a file belongs to: that of its folder, `events/` being part of the folder above.

        A file of several events is a conversation by itself.
        """
        folder, _, _ = place.file.path.rpartition("/")
        folder = (
            folder.removesuffix(_EVENTS_FOLDER).rstrip("/") if f"/{folder}".endswith("/" + _EVENTS_FOLDER) else folder
        )
        key = place.file.path if place.record.line is not None else folder
        conversation = self._conversations.get(key)
        if conversation is None:
            run_id = self._names.claim(stated or key or place.file.path, place.file.path)
            run = Run(run_id, NAME, place, platform="openhands-sdk")
            conversation = self._conversations[key] = Conversation(run)
        return conversation
