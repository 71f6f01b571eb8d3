"""SWE-agent trajectories (`.traj`): one JSON document per instance run.

Versions seen: 0.x of 2024 (`model_stats.total_cost`, `state` as text, demonstrations of EnIGMA), 1.x of 2025
(`replay_config`, function calling, no total_cost), projections of both. Semantics from SWE-agent `sweagent/`
`agent/models.py` (InstanceStats), `agent/agents.py` (get_trajectory_data) and `run/run_replay.py`.

Structure: `trajectory[]` holds one step per action (action, observation, response, thought, execution_time, state),
`history[]` the messages (role, agent, is_demo), `info` the totals (`model_stats`), `exit_status` and `submission`. A
retrying agent adds `attempts[]`, each with its own trajectory and history, and totals over all of them.

Traps:
- Steps and assistant messages are two independent counts of the same calls and may both differ from `api_calls`:
  demonstrations are replayed with counters at 0; a requery after a format error is a call without a step; the last
  message may not be written. Messages marked `is_demo` (true, or the text "True") were never sent as answers.
- No tokens or cost per call: tokens_sent, tokens_received and the costs are declared without parts, and there is no
  usage report. `total_cost` adds up over the instances of one process.
- Every 1.x run carries `replay_config`; it says how to replay the run, not that it is one. A replay is recognised by
  a model that answers without having been sent a token.
- The file names no run: its path is its id. Actions have no exit codes and no times.
- Edits are counted step by step (swe_agent_edits); the submitted patch only where no edit step is known to have
  changed a file, as a change of the last step. `info.summarizer` and `rloop_model_stats` are totals of other models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.extraction import text_sha256
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.edits import patch_files
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Change, Run, RunNames, Step
from governance_pipeline.ingest.formats.swe_agent_edits import outcome_of
from governance_pipeline.ingest.formats.values import entries, members, seconds, text, whole
from governance_pipeline.strict.json_text import parse_json
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

    Members = Mapping[str, Any]

NAME: Final = "swe_agent"
TOTALS: Final = (
    Field("instance_cost", DataType.CURRENCY, "USD"),
    Field("total_cost", DataType.CURRENCY, "USD"),
    Field("tokens_sent", DataType.INTEGER, "tokens"),
    Field("tokens_received", DataType.INTEGER, "tokens"),
    Field("api_calls", DataType.INTEGER, "calls"),
)
DECLARES: Final[tuple[str, ...]] = tuple(field.name for field in TOTALS)
RECOMPUTABLE: Final[tuple[str, ...]] = ("api_calls",)
VERSIONS: Final = "0.x (2024, total_cost), 1.x (2025)"

_NO_ANSWERS: Final = frozenset({"human", "human_thought", "replay", "instant_empty_submit"})
"""Models of SWE-agent that are no language model; `replay` replays, the others send nothing either."""


def detect(sample: Sample) -> bool:
    """Tell by a trajectory of actions beside an info block."""
    if len(sample.values) != 1:
        return False
    document = members(sample.values[0])
    steps = document.get("trajectory")
    if not isinstance(steps, list) or not isinstance(document.get("info"), dict):
        return False
    return isinstance(document.get("history"), list) or any("action" in members(step) for step in steps)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each trajectory as one run."""
    names = RunNames(out)
    for file in files:
        for record in records(file):
            if not isinstance(record.value, dict) or not isinstance(record.value.get("trajectory"), list):
                file.quarantine(record, "no_trajectory")
                continue
            place = Place.of(file, record)
            run = Run(names.claim(place.address.rstrip(":"), file.path), NAME, place)
            _Trajectory(run, record.value).write(out)


class _Trajectory:
    def __init__(self, run: Run, document: Members) -> None:
        self._run = run
        self._document = document
        self._info = members(document.get("info"))
        self._stats = members(self._info.get("model_stats"))

    def write(self, out: Extraction) -> None:
        run, info = self._run, self._info
        version = text(info.get("swe_agent_version"))
        run.platform = "swe-agent" if version is None else f"swe-agent {version}"
        run.exit_status = text(info.get("exit_status"))
        model = members(members(self._config().get("agent")).get("model"))
        run.used(text(model.get("name")))
        run.thinking = text(members(model.get("completion_kwargs")).get("reasoning_effort"))
        run.is_replay = self._is_replay(text(model.get("name")))
        if version is not None:
            run.place.file.state_version(version)
        for place, part in self._parts():
            run.agent_id = run.agent_id or _agent_of(part)
            self._take_steps(place, entries(part.get("trajectory")))
        run.changed_at_the_end(self._submitted())
        run.write(out)
        self._declare(out)

    def _parts(self) -> Iterator[tuple[Place, Members]]:
        attempts = entries(self._document.get("attempts"))
        if not attempts:
            yield self._run.place, self._document
        for index, attempt in enumerate(attempts):
            yield self._run.place.below(f"/attempts/{index}"), members(attempt)

    def _config(self) -> Members:
        config = self._document.get("replay_config")
        return members(_parsed(config) if isinstance(config, str) else config)

    def _is_replay(self, model: str | None) -> bool | None:
        sent, calls = whole(self._stats.get("tokens_sent")), whole(self._stats.get("api_calls"))
        if sent:
            return False
        if model == "replay" or (model is not None and model not in _NO_ANSWERS and sent == 0 and calls):
            return True
        return None

    def _take_steps(self, place: Place, steps: Sequence[Any]) -> None:
        empty_lines = (1 if "total_cost" in self._stats else 0) if self._stats else None
        for index, step in enumerate(steps):
            action, answer = members(step).get("action"), members(step).get("observation")
            outcome = outcome_of(
                action if isinstance(action, str) else "",
                answer if isinstance(answer, str) else None,
                _open_file(members(step).get("state")),
                empty_lines,
            )
            self._run.steps.append(
                Step(
                    place.below(f"/trajectory/{index}"),
                    tool=outcome.tool,
                    command=outcome.command,
                    status=outcome.status,
                    duration_s=seconds(members(step).get("execution_time")),
                    output_sha256=text_sha256(answer),
                    is_opaque=outcome.is_opaque,
                    changes=outcome.changes,
                )
            )

    def _submitted(self) -> list[Change]:
        patch = self._info.get("submission")
        place = self._run.place.below("/info/submission")
        files = patch_files(patch) if isinstance(patch, str) else []
        return [Change(file.path, file.counts, "submission", place) for file in files]

    def _declare(self, out: Extraction) -> None:
        place = self._run.place
        subject = Subject(out, NAME, self._run.run_id, [place.file.path])
        for field in TOTALS:
            if field.name in self._stats:
                subject.declare(place.below(f"/info/model_stats/{field.name}"), field, self._stats[field.name])
        steps = messages = 0
        for part_place, part in self._parts():
            for index, step in enumerate(entries(part.get("trajectory"))):
                steps += 1
                where = part_place.below(f"/trajectory/{index}/action")
                subject.component("steps", steps, {"action": (where, members(step).get("action"))})
            for index, message in enumerate(entries(part.get("history"))):
                if members(message).get("role") == "assistant" and not _is_demo(members(message)):
                    messages += 1
                    where = part_place.below(f"/history/{index}/role")
                    subject.component("messages", messages, {"role": (where, "assistant")})


def _is_demo(message: Members) -> bool:
    return message.get("is_demo") not in (None, False, "False", "")


def _agent_of(part: Members) -> str | None:
    return next((name for m in entries(part.get("history")) if (name := text(members(m).get("agent")))), None)


def _open_file(state: Any) -> str | None:
    """Give the open file of a step's state: JSON text in 0.x, an object in 1.x."""
    return text(members(_parsed(state) if isinstance(state, str) else state).get("open_file"))


def _parsed(content: str) -> Any:
    try:
        return parse_json(content.encode())
    except RecordRefused:
        return None
