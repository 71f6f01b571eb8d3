"""tau2-bench: result files with simulations, leaderboard submissions, and summaries of its judge.

Versions seen: results of August 2025 to March 2026 (`info.git_commit` names the exact code, tau2 0.3.0 in the
submission), one submission of March 2026, judge summaries of the `judge_viewer`. Semantics from tau2-bench
`src/tau2/utils/llm_utils.py` (`get_cost`), `src/tau2/evaluator/evaluator.py` and `src/tau2/metrics/agent_metrics.py`.

Structure:
- results: one document `{timestamp, info, tasks, simulations[]}`; a simulation is a run with `messages[]`, its two
  costs, its duration and `reward_info`.
- submission: `{model_name, results: {<domain>: {pass_1 … pass_4, cost}}}`; its trajectories lie beside it or in
  `trajectories/`, and import keeps them in one round with it.
- judge summary: `{total_judged, agree_count, disagree_count, total_cost_usd, entries[]}`.

Traps:
- agent_cost and user_cost are null, or 0.0 with used tokens, where nobody knew the price: unknown, never 0.
- The agent's greeting is a fixed text with cost 0.0 and no usage: that 0 is real.
- The user is a model as well: its calls and its cost are not the agent's. `requestor` of a call says whose it is.
- reward is the product of reward_breakdown, whose parts are 0 or 1; a run cut off has a reward without parts.
- Times have no offset and name no instant. duration is a monotonic clock, not end_time - start_time.
- Only a tool call is a step; confirmations of the user are plain sentences and are not interpreted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.belonging import Belonging, only_id, texts
from governance_pipeline.ingest.formats import tau2_judge, tau2_simulation, tau2_submission
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.result_folders import result_folder
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.usage import UsageReport, write_usage
from governance_pipeline.ingest.formats.values import entries, members, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Record, Sample

    Members = Mapping[str, Any]

NAME: Final = "tau2_bench"
TRAJECTORIES: Final = "trajectories"
_SIMULATION: Final = (
    tau2_simulation.AGENT_COST.name,
    tau2_simulation.USER_COST.name,
    tau2_simulation.REWARD.name,
)
_DERIVED: Final = tuple(field.name for field in (*tau2_submission.FIELDS, *tau2_judge.TOTALS))
DECLARES: Final[tuple[str, ...]] = (*_SIMULATION, tau2_simulation.DURATION.name, *_DERIVED)
RECOMPUTABLE: Final[tuple[str, ...]] = (*_SIMULATION, *_DERIVED)
VERSIONS: Final = "results, submissions and judge summaries of August 2025 to March 2026 (0.2, 0.3)"


def detect(sample: Sample) -> bool:
    """Tell by the members of the one document: results, a submission or a judge summary."""
    return sample.shape == "document" and any(
        _is_results(value) or tau2_submission.is_submission(value) or tau2_judge.is_judge_summary(value)
        for value in sample.values
    )


def belonging(sample: Sample, source: Path) -> Belonging:
    """Give the folder of the submission a file may be of; without one, the one simulation it holds names it."""
    document = members(next(iter(sample.values), None))
    if tau2_submission.is_submission(document):
        return Belonging(results=source.parent, leads=True)
    session_id = only_id(texts(entries(document.get("simulations")), "id"))
    return Belonging(session_id, results=result_folder(source, TRAJECTORIES))


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read all files of a round together, so that a submission finds the trajectories beside it."""
    names, submissions = RunNames(out), tau2_submission.Submissions()
    reports: list[UsageReport] = []
    for file in files:
        for record in records(file):
            place, document = Place.of(file, record), members(record.value)
            if tau2_submission.is_submission(document):
                submissions.take(place, document)
            elif tau2_judge.is_judge_summary(document):
                run = Run(names.claim(file.path, file.path), NAME, place, platform="tau2-bench judge")
                reports += tau2_judge.write_judge_summary(out, NAME, run, document)
            elif _is_results(document):
                reports += _read_results(out, names, submissions, file, document)
            else:
                file.quarantine(record, "no_simulations")
    submissions.write(out, NAME)
    write_usage(out, reports)


def _is_results(value: Any) -> bool:
    document = members(value)
    simulations, info = document.get("simulations"), members(document.get("info"))
    is_known = "environment_info" in info or "agent_info" in info
    return is_known and isinstance(simulations, list) and isinstance(document.get("tasks"), list)


def _read_results(
    out: Extraction, names: RunNames, submissions: tau2_submission.Submissions, file: LogFile, document: Members
) -> list[UsageReport]:
    info = members(document.get("info"))
    commit = text(info.get("git_commit"))
    if commit is not None:
        file.state_version(commit)
    reports: list[UsageReport] = []
    for record in file.items(entries(document.get("simulations")), "/simulations"):
        if not _is_simulation(record):
            file.quarantine(record, "no_simulation")
            continue
        place, simulation = Place.of(file, record), members(record.value)
        run_id = names.claim(text(simulation.get("id")) or place.address, file.path)
        run = Run(run_id, NAME, place, platform="tau2-bench" if commit is None else f"tau2-bench {commit}")
        tau2_simulation.write_simulation(out, NAME, run, info, simulation)
        reports += tau2_simulation.usage_of(run, info, simulation)
        submissions.saw(place, info, simulation)
    return reports


def _is_simulation(record: Record) -> bool:
    simulation = members(record.value)
    return "task_id" in simulation and isinstance(simulation.get("messages"), list)
