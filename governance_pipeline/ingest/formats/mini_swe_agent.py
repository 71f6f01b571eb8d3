"""mini-SWE-agent trajectories (`.traj.json`): one JSON document per run, and the bare message list of its first days.

Versions seen: `trajectory_format` mini-swe-agent-1.1 of 2.2.7 (complete runs), the bare list of 1.0 without `info`;
mini-swe-agent-1 (1.x) and the Responses API messages of 2.x are read by the program's source only. Semantics from
mini-swe-agent `src/minisweagent/agents/default.py` and `models/litellm_model.py`.

Structure: `info.model_stats` declares `instance_cost` and `api_calls`; `messages[]` holds one assistant message per
call with `extra.{cost, response.usage, actions, timestamp}`, and one message per action with the same `tool_call_id`
(or, without tool calls, in the same order) and `extra.{returncode, raw_output, exception_info}`. Every action is a
shell command.

Traps:
- `n_calls` grows before the query: a call that raised (timeout, server error) is declared and leaves no message.
  Up to 2.2.x a call whose answer could not be parsed leaves none either; since 2.3 the user message that reports it
  carries the cost and the response, and counts as a call.
- A call is priced by the configured name of the model, not by the one its response states.
- A cost of 0.0 is written where the price list does not know the model: the part is missing, the total unknown.
- returncode -1 is no exit code: the command timed out or was not run.
- The last command has no result: the program stops when it sees the submission.
- Edits are shell commands, so changed files are known only from the submitted patch, as a change of the last step.
- `preds.json`, `report.json` and `exit_statuses_*.yaml` beside the runs are files of the benchmark, not runs.
- A rejection by the user follows the results of the batch it stopped, each "not executed"; in 1.x it stands in their
  place. `config.agent.mode` is the mode at the end: a switch is not logged, so no command is known to be approved.
- In human mode the user's own commands are messages of the user with actions: steps, but no calls.
- The bare list declares nothing; its commands stand in one fenced block, its exit codes in `<returncode>`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import parse_time, text_sha256
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.edits import patch_files
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.priced import add_priced_call
from governance_pipeline.ingest.formats.runs import ERROR, OK, REJECTED, Change, Run, RunNames, Step
from governance_pipeline.ingest.formats.shell import may_change_files
from governance_pipeline.ingest.formats.usage import UsageReport, chat_completion_tokens, write_usage
from governance_pipeline.ingest.formats.values import entries, exit_code, members, text, unpriced
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

    Members = Mapping[str, Any]

NAME: Final = "mini_swe_agent"
COST: Final = Field("instance_cost", DataType.CURRENCY, "USD")
TOTALS: Final = (
    COST,
    Field("api_calls", DataType.INTEGER, "calls"),
)
AT_LIST_PRICE: Final = Field("instance_cost_at_list_price", DataType.CURRENCY, "USD")
"""instance_cost once more, to be held against tokens and prices; only where every call has a price, so that a model
without one leaves the sum of the logged costs as the only check."""

DECLARES: Final[tuple[str, ...]] = (*(field.name for field in TOTALS), AT_LIST_PRICE.name)
RECOMPUTABLE: Final[tuple[str, ...]] = DECLARES
VERSIONS: Final = "mini-swe-agent-1.1 (2.2.7), bare list (1.0)"

FORMAT_PREFIX: Final = "mini-swe-agent-"
_MARKS: Final = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT", "```mswea_bash_command")
_BLOCK: Final = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*+\n")
_BLOCK_END: Final = "\n```"
_RETURN_CODE: Final = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>", re.ASCII)
_NOT_RUN: Final = "action was not executed"
_REJECTED: Final = re.compile(r"Commands? not executed\.")
_REJECTION: Final = "UserRejection"
_REASON: Final = "with the following message: "
_USER: Final = "user"
_TOOL: Final = "bash"


def detect(sample: Sample) -> bool:
    """Tell by the stated trajectory format, or by messages that hold the program's own marks."""
    if len(sample.values) != 1:
        return False
    document = sample.values[0]
    if (text(members(document).get("trajectory_format")) or "").startswith(FORMAT_PREFIX):
        return True
    messages = entries(document)
    is_chat = bool(messages) and all(text(members(message).get("role")) is not None for message in messages)
    return is_chat and any(mark in _content(members(message)) for message in messages for mark in _MARKS)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each document as one run; its path is its id, for several runs may be of one instance."""
    names = RunNames(out)
    for file in files:
        for record in records(file):
            is_list = isinstance(record.value, list)
            messages = record.value if is_list else members(record.value).get("messages")
            if not isinstance(messages, list):
                file.quarantine(record, "no_messages")
                continue
            place = Place.of(file, record)
            run = Run(names.claim(place.address.rstrip(":"), file.path), NAME, place)
            where = place if is_list else place.below("/messages")
            _Trajectory(run, members(record.value), where, [members(message) for message in messages]).write(out)


class _Trajectory:
    def __init__(self, run: Run, document: Members, place: Place, messages: Sequence[Members]) -> None:
        self._run = run
        self._document = document
        self._info = members(document.get("info"))
        self._place = place
        self._messages = messages
        self._approvals: list[tuple[Place, Mapping[str, Any]]] = []

    def write(self, out: Extraction) -> None:
        run, info = self._run, self._info
        config = members(info.get("config"))
        model = members(config.get("model"))
        version = text(info.get("mini_version"))
        run.platform = "mini-swe-agent" if version is None else f"mini-swe-agent {version}"
        run.agent_id = text(config.get("agent_type"))
        run.exit_status = text(info.get("exit_status"))
        run.used(text(model.get("model_name")))
        run.thinking = text(members(model.get("model_kwargs")).get("reasoning_effort"))
        if (stated := text(self._document.get("trajectory_format"))) is not None:
            run.place.file.state_version(stated)
        if (mode := text(members(config.get("agent")).get("mode"))) is not None:
            self._approvals.append((run.place.below("/info/config/agent/mode"), {"kind": "mode", "result": mode}))
        for message in self._messages:
            run.saw(_time(message))
        self._take_steps()
        run.changed_at_the_end(self._submitted())
        run.write(out)
        for where, columns in self._approvals:
            where.add(out, "core_approvals", run_id=run.run_id, **columns)
        write_usage(out, self._reports())
        self._declare(out)

    def _calls(self) -> Iterator[tuple[int, Members, Members]]:
        """Give each call that left a message: its position, the message and its extra."""
        for index, message in enumerate(self._messages):
            extra = members(message.get("extra"))
            if message.get("role") == "assistant" or "response" in extra or message.get("object") == "response":
                yield index, message, extra

    def _take_steps(self) -> None:
        waiting: list[Step] = []
        not_run: list[Step] = []
        for index, message in enumerate(self._messages):
            extra = members(message.get("extra"))
            found = list(self._steps_of(index, message, extra))
            if found:
                waiting, not_run = found, []
                self._run.steps += found
            elif _is_rejection(message, extra):
                self._refuse(index, message, extra, [*not_run, *waiting])
                waiting, not_run = [], []
            elif waiting:
                left = _answer(waiting, message, extra)
                if extra.get("exception_info") == _NOT_RUN:
                    waits = {id(step) for step in left}
                    not_run += [step for step in waiting if id(step) not in waits]
                waiting = left

    def _refuse(self, index: int, message: Members, extra: Members, steps: Sequence[Step]) -> None:
        for step in steps:
            step.status, step.is_opaque = REJECTED, False
        reason = _content(message).partition(_REASON)[2].strip() or None
        refusal = {
            "kind": "rejected",
            "by": "human",
            "call_id": steps[0].call_id if len(steps) == 1 else None,
            "result": text(extra.get("interrupt_type")),
            "reason": reason,
            "at": _time(message),
        }
        self._approvals.append((self._place.below(f"/{index}"), refusal))

    def _steps_of(self, index: int, message: Members, extra: Members) -> Iterator[Step]:
        place = self._place.below(f"/{index}")
        actions = extra.get("actions")
        if isinstance(actions, list):
            for position, action in enumerate(actions):
                command = text(members(action).get("command")) or text(members(action).get("action"))
                where = place.below(f"/extra/actions/{position}")
                step = _step(where, message, command, text(members(action).get("tool_call_id")))
                step.agent_id = _USER if message.get("role") == _USER else None
                yield step
        elif message.get("role") == "assistant":
            commands = _commands(_content(message))
            if len(commands) == 1:  # the program runs exactly one block and refuses every other number
                yield _step(place.below("/content"), message, commands[0].strip(), None)

    def _submitted(self) -> list[Change]:
        patch = self._info.get("submission")
        place = self._run.place.below("/info/submission")
        files = patch_files(patch) if isinstance(patch, str) else []
        return [Change(file.path, file.counts, "submission", place, file.edit) for file in files]

    def _reports(self) -> Iterator[UsageReport]:
        for index, message, extra in self._calls():
            response = members(extra.get("response") if "response" in extra else message)
            usage = response.get("usage")
            if not isinstance(usage, dict) and extra.get("cost") is None:
                continue
            yield UsageReport(
                self._place.below(f"/{index}/extra"),
                self._run.run_id,
                chat_completion_tokens(usage),
                call_id=text(response.get("id")),
                model=text(response.get("model")),
                is_cache_inside_input=True,
                cost=extra.get("cost"),
                at=_time(message),
            )

    def _declare(self, out: Extraction) -> None:
        stats = members(self._info.get("model_stats"))
        place = self._run.place
        subject = Subject(out, NAME, self._run.run_id, [place.file.path])
        for field in TOTALS:
            if field.name in stats:
                subject.declare(place.below(f"/info/model_stats/{field.name}"), field, stats[field.name])
        for number, (index, _, extra) in enumerate(self._calls(), 1):
            where = self._place.below(f"/{index}/extra/cost")
            subject.component("calls", number, {"cost": (where, unpriced(extra.get("cost")))})
        if COST.name in stats and self._add_priced_calls(subject):
            subject.declare(place.below(f"/info/model_stats/{COST.name}"), AT_LIST_PRICE, stats[COST.name])

    def _add_priced_calls(self, subject: Subject) -> bool:
        """Add the calls with their prices; tell whether there are any and each has one."""
        model = text(members(members(self._info.get("config")).get("model")).get("model_name"))
        priced = [
            add_priced_call(
                subject,
                number,
                self._place.below(f"/{index}/extra/response/usage"),
                model,
                _time(message),
                chat_completion_tokens(members(extra.get("response")).get("usage")),
            )
            for number, (index, message, extra) in enumerate(self._calls(), 1)
        ]
        return bool(priced) and all(priced)


def _step(place: Place, message: Members, command: str | None, call_id: str | None) -> Step:
    is_opaque = may_change_files(command)
    return Step(place, _TOOL, call_id, command, at=_time(message), is_opaque=is_opaque)


def _is_rejection(message: Members, extra: Members) -> bool:
    """Tell the message by which the user refuses the commands before it; an output may quote one."""
    is_result = "returncode" in extra or "tool_call_id" in message
    is_refused = extra.get("interrupt_type") == _REJECTION or _REJECTED.match(_content(message)) is not None
    return is_refused and message.get("role") == _USER and not is_result


def _answer(waiting: list[Step], message: Members, extra: Members) -> list[Step]:
    """Give a result to the step it belongs to; give the steps that still wait for theirs."""
    content = _content(message)
    call_id = text(message.get("tool_call_id"))
    match = _RETURN_CODE.match(content)
    if "returncode" not in extra and match is None:
        return [] if message.get("role") in ("user", "exit") else waiting
    step = next((step for step in waiting if call_id is not None and step.call_id == call_id), waiting[0])
    code = extra.get("returncode", int(match[1]) if match else None)
    step.exit_code = exit_code(code)
    failure = text(extra.get("exception_info"))
    step.status = OK if step.exit_code == 0 and failure is None else ERROR if code is not None else None
    step.is_opaque &= failure != _NOT_RUN
    output = extra.get("raw_output")
    step.output_sha256 = text_sha256(output if isinstance(output, str) else content)
    return [other for other in waiting if other is not step]


def _commands(content: str) -> list[str]:
    """Give what stands in the shell blocks; in linear time, as one pattern for begin and end would not be."""
    commands: list[str] = []
    begin = _BLOCK.search(content)
    while begin is not None and (end := content.find(_BLOCK_END, begin.end())) != -1:
        commands.append(content[begin.end() : end])
        begin = _BLOCK.search(content, end + len(_BLOCK_END))
    return commands


def _content(message: Members) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part for block in entries(content) if (part := text(members(block).get("text"))) is not None)


def _time(message: Members) -> Any:
    return parse_time(members(message.get("extra")).get("timestamp")) or parse_time(message.get("timestamp"))
