"""ATIF trajectories (Agent Trajectory Interchange Format of Harbor): one JSON document per agent, sub-agents beside.

Versions seen: ATIF-v1.4 to v1.7 (Harbor golden runs of OpenHands and Terminus 2, examples of the specification, one
redacted run of 2026). Semantics from Harbor's `docs/rfcs/0001-trajectory-format.md` and its pydantic models.

Structure: `schema_version`, `session_id`, `agent`, `steps[]` (`step_id` from 1, `source` user, agent or system,
`tool_calls[]`, `observation.results[]`, `metrics`), `final_metrics`. A run is a document; several of them may lie in
one file, as members of one object or embedded in `subagent_trajectories`. A step names the documents of sub-agents in
`observation.results[].subagent_trajectory_ref[]`, by session (or, since 1.7, trajectory) id.

Traps:
- A total is defined as the sum over the steps of its document. Harbor's Terminus 2 adds the totals of its sub-agents,
  which are in other files: compared with its own steps the number is wrong, with those of its sub-agents it is right.
  Its totals are checked both ways, those of other agents by the definition alone. The steps of a sub-agent whose file
  is not in the round are unknown, so the second check then is.
- `is_copied_context` steps repeat the parent's: they count as steps, not as tool calls or usage of this run.
- cached_tokens are inside prompt_tokens. A step without the member does not know them; a total of 0 beside that is
  "not measured", and its parts are missing. A cost of 0 is no price.
- One observation without `source_call_id` answers the only call of its step, or nobody knows which.
- Nothing says how a call ended, so no step has a status or an exit code.
- Names and meaning of `final_metrics.extra` are the agent's own: declared as written, not checkable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging
from governance_pipeline.ingest.extraction import parse_time, text_sha256
from governance_pipeline.ingest.formats import atif_totals, tool_calls
from governance_pipeline.ingest.formats.atif_totals import COST, declare
from governance_pipeline.ingest.formats.atif_trajectories import Family, Trajectory, references, steps, trajectories
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Run, RunNames, Step
from governance_pipeline.ingest.formats.usage import Tokens, UsageReport, write_usage
from governance_pipeline.ingest.formats.values import entries, members, text, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

    Members = Mapping[str, Any]

NAME: Final = "atif"
DECLARES: Final[tuple[str, ...]] = atif_totals.DECLARES
RECOMPUTABLE: Final[tuple[str, ...]] = atif_totals.RECOMPUTABLE
VERSIONS: Final = "ATIF-v1.4, v1.5, v1.6, v1.7"


def detect(sample: Sample) -> bool:
    """Tell by the stated schema version of the document, or of a member of it."""
    return len(sample.values) == 1 and bool(trajectories(sample.values[0]))


def belonging(sample: Sample, _: Path) -> Belonging:
    """Give the trajectories a document holds, the first of which names it, and the sub-agents they name."""
    found, sub_agents = references(sample.values[0])
    return Belonging(next(iter(found), None), ids=found, sub_agents=sub_agents)


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read all files of a round together, so that sub-agents find their parents."""
    names = RunNames(out)
    family = Family()
    for file in files:
        for record in records(file):
            found = trajectories(record.value)
            if not found:
                file.quarantine(record, "no_trajectory")
            for pointer, document in found:
                place = Place.of(file, record, pointer)
                family.take(Trajectory(_run(names, place, document), place, document))
    found_all = family.trajectories()
    for trajectory in found_all:
        _write_run(out, trajectory)
        declare(out, trajectory)
    write_usage(out, [report for trajectory in found_all for report in _reports(trajectory)])


def _run(names: RunNames, place: Place, document: Members) -> Run:
    wanted = text(document.get("session_id")) or text(document.get("trajectory_id"))
    return Run(names.claim(wanted or place.address.rstrip(":"), place.file.path), NAME, place)


def _write_run(out: Extraction, trajectory: Trajectory) -> None:
    run, document = trajectory.run, trajectory.document
    agent = members(document.get("agent"))
    run.session_id = text(document.get("session_id"))
    run.agent_id = text(agent.get("name"))
    run.platform = " ".join(filter(None, (text(agent.get("name")), text(agent.get("version"))))) or None
    run.used(text(agent.get("model_name")))
    trajectory.place.file.state_version(str(document["schema_version"]))
    known = {name for model in run.models for name in _names_of(model)}
    for index, step in steps(document):
        run.saw(parse_time(step.get("timestamp")))
        run.thinking = run.thinking or text(step.get("reasoning_effort"))
        if step.get("is_copied_context") is not True:
            model = text(step.get("model_name"))
            if model is not None and model not in known:
                run.used(model)
                known |= _names_of(model)
            run.steps += _calls(trajectory.place.below(f"/steps/{index}"), step)
    run.write(out)


def _names_of(model: str) -> set[str]:
    """Give what a step may call a model: its name, also without its provider (openai/gpt-4o, gpt-4o)."""
    return {model, model.partition("/")[2] or model, model.rpartition("/")[2] or model}


def _calls(place: Place, step: Members) -> Iterator[Step]:
    calls = [members(call) for call in entries(step.get("tool_calls"))]
    results = [members(result) for result in entries(members(step.get("observation")).get("results"))]
    by_call = {name: result for result in reversed(results) if (name := text(result.get("source_call_id"))) is not None}
    for index, call in enumerate(calls):
        tool, arguments = text(call.get("function_name")), call.get("arguments")
        call_id = text(call.get("tool_call_id"))
        result = by_call.get(call_id or "", results[0] if len(calls) == len(results) == 1 else {})
        made = Step(place.below(f"/tool_calls/{index}"), tool, call_id, tool_calls.command_of(tool, arguments))
        made.at = parse_time(step.get("timestamp"))
        made.output_sha256 = text_sha256(result.get("content"))
        tool_calls.finish(made, arguments, result.get("content"))
        yield made


def _reports(trajectory: Trajectory) -> Iterator[UsageReport]:
    for place, step, metrics in trajectory.metrics():
        tokens = Tokens(
            input=whole(metrics.get("prompt_tokens")),
            output=whole(metrics.get("completion_tokens")),
            cache_read=whole(metrics.get("cached_tokens")),
            reasoning=whole(members(metrics.get("extra")).get("reasoning_tokens")),
        )
        yield UsageReport(
            place,
            trajectory.run.run_id,
            tokens.or_unknown(),
            model=text(step.get("model_name")) or text(members(trajectory.document.get("agent")).get("model_name")),
            is_cache_inside_input=True,
            cost=metrics.get(COST),
            at=parse_time(step.get("timestamp")),
        )
