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
- A retrying agent's totals are those of all attempts and of the reviewing model (`rloop_model_stats`) together; the
  trajectory at the top is a copy of the best attempt and is not counted again. A file saved before it has chosen holds
  attempts only. `info.review` (accept: a score) and `info.chooser` are verdicts of a model.
- The file names no run: its path is its id. Actions have no exit codes and no times.
- Edits are counted step by step (swe_agent_edits); the submitted patch only where no edit step is known to have
  changed a file, as a change of the last step. `info.summarizer` holds totals of another model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.extraction import text_sha256, value_raw
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.edits import patch_files
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Change, Run, RunNames, Step
from governance_pipeline.ingest.formats.swe_agent_edits import outcome_of
from governance_pipeline.ingest.formats.values import entries, members, seconds, text, unpriced, whole
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
ALL_ATTEMPTS: Final = tuple(Field(f"all_attempts_{field.name}", field.data_type, field.unit) for field in TOTALS)
"""The same totals where a retrying agent declares them for its attempts and their reviews together."""
DECLARES: Final[tuple[str, ...]] = tuple(field.name for field in (*TOTALS, *ALL_ATTEMPTS))
RECOMPUTABLE: Final[tuple[str, ...]] = ("api_calls", *(field.name for field in ALL_ATTEMPTS))
VERSIONS: Final = "0.x (2024, total_cost), 1.x (2025)"

_NO_ANSWERS: Final = frozenset({"human", "human_thought", "replay", "instant_empty_submit"})
"""Models of SWE-agent that are no language model; `replay` replays, the others send nothing either."""


def detect(sample: Sample) -> bool:
    """Tell by a trajectory of actions beside an info block."""
    if len(sample.values) != 1:
        return False
    document = members(sample.values[0])
    attempts = entries(document.get("attempts"))
    if attempts and "trajectory" not in document:
        return all(_is_trajectory(members(attempt)) for attempt in attempts)
    return _is_trajectory(document)


def _is_trajectory(document: Members) -> bool:
    steps = document.get("trajectory")
    if not isinstance(steps, list) or not isinstance(document.get("info"), dict):
        return False
    return isinstance(document.get("history"), list) or any("action" in members(step) for step in steps)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each trajectory as one run."""
    names = RunNames(out)
    for file in files:
        for record in records(file):
            document = members(record.value)
            if not isinstance(document.get("trajectory"), list) and not entries(document.get("attempts")):
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
        self._has_attempts = bool(entries(document.get("attempts")))

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
        for where, result, said in self._verdicts():
            columns = {"kind": "review", "by": "model", "result": result, "reason": text(said)}
            where.add(out, "core_approvals", run_id=run.run_id, **columns)
        self._declare(out)

    def _parts(self) -> Iterator[tuple[Place, Members]]:
        if not self._has_attempts:
            yield self._run.place, self._document
        for index, attempt in enumerate(entries(self._document.get("attempts"))):
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
        return [Change(file.path, file.counts, "submission", place, file.edit) for file in files]

    def _verdicts(self) -> Iterator[tuple[Place, str, Any]]:
        """Give what a reviewing or choosing model said: where, its verdict and its words."""
        for place, part in self._parts():
            review = members(members(part.get("info")).get("review"))
            if value_raw(review.get("accept")) is not None:
                said = next(iter(entries(review.get("outputs"))), None)
                yield place.below("/info/review"), f"accept: {value_raw(review['accept'])}", said
        choice = members(self._info.get("chooser"))
        if value_raw(choice.get("chosen_idx")) is not None:
            result = f"chosen_idx: {value_raw(choice['chosen_idx'])}"
            yield self._run.place.below("/info/chooser"), result, choice.get("response")

    def _declare(self, out: Extraction) -> None:
        run_id, paths = self._run.run_id, [self._run.place.file.path]
        attempts = list(self._parts()) if self._has_attempts else []
        whole_run = Subject(out, NAME, run_id, paths)
        _declare_stats(whole_run, self._run.place.below("/info"), self._info, ALL_ATTEMPTS if attempts else TOTALS)
        for number, (place, part) in enumerate(self._parts()):
            subject = Subject(out, NAME, f"{run_id}/attempts/{number}", paths) if attempts else whole_run
            if attempts:
                _declare_stats(subject, place.below("/info"), members(part.get("info")), TOTALS)
            _add_calls(subject, place, part)
        for number, (place, part) in enumerate(attempts, 1):
            stats = members(part.get("info")).get("model_stats")
            _add_stats(whole_run, "attempts", number, place.below("/info/model_stats"), stats)
        if attempts:
            reviews = self._info.get("rloop_model_stats")
            _add_stats(whole_run, "reviews", 1, self._run.place.below("/info/rloop_model_stats"), reviews)


def _declare_stats(subject: Subject, place: Place, info: Members, fields: Sequence[Field]) -> None:
    stats = members(info.get("model_stats"))
    for total, field in zip(TOTALS, fields, strict=True):
        if total.name in stats:
            subject.declare(place.below(f"/model_stats/{total.name}"), field, stats[total.name])


def _add_stats(subject: Subject, source: str, number: int, place: Place, stats: Any) -> None:
    """Add the totals of an attempt, or of all reviews, as parts; a cost of 0 for calls is a price nobody knew."""
    known = members(stats)
    columns = {field.name: (place.below(f"/{field.name}"), known.get(field.name)) for field in TOTALS}
    if whole(known.get("api_calls")):
        costs = (field.name for field in TOTALS if field.data_type is DataType.CURRENCY)
        columns |= {name: (place.below(f"/{name}"), unpriced(known.get(name))) for name in costs}
    subject.component(source, number, columns)


def _add_calls(subject: Subject, place: Place, part: Members) -> None:
    for number, step in enumerate(entries(part.get("trajectory")), 1):
        where = place.below(f"/trajectory/{number - 1}/action")
        subject.component("steps", number, {"action": (where, members(step).get("action"))})
    answers = [
        index
        for index, message in enumerate(entries(part.get("history")))
        if members(message).get("role") == "assistant" and not _is_demo(members(message))
    ]
    for number, index in enumerate(answers, 1):
        subject.component("messages", number, {"role": (place.below(f"/history/{index}/role"), "assistant")})


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
