"""tau-bench results: one JSON array with one entry per task and trial.

Versions seen: the historical trajectories of the repository (gpt-4o, airline, of 2024). Semantics from tau-bench
`tau_bench/run.py` and `tau_bench/envs/base.py` (`calculate_reward`).

Structure: an entry is `{task_id, trial, reward, info: {task, source, user_cost, reward_info}, traj[]}`. `traj` is the
conversation in OpenAI's chat form. Each entry is a run; the file names neither model nor time nor tokens.

Traps:
- reward_info is null when the run ended before the environment was asked: the reward is 0.0 and has no parts.
- reward is 1 only when the database ended as expected (r_actions) and every expected answer was given (r_outputs),
  but the second overwrites the first in `info`: where a task has expected answers, a reward of 1 cannot be checked.
- user_cost is what the simulated user cost; its calls are not in the file, nor is the cost of the agent.
- pass^k is declared in publications, never in the file, so there is no declared pass^k to check here.
- Only a tool call is a step; confirmations of the user are plain sentences and are not interpreted.
- `few_shot_data/*.jsonl` of the same repository holds prompts made from conversations, no runs: not supported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.extraction import value_kind, value_raw
from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.places import Place, records
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.tau2_simulation import number
from governance_pipeline.ingest.formats.trial_steps import steps_of
from governance_pipeline.ingest.formats.values import entries, members
from governance_pipeline.vocabulary import DataType, ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.logfile import LogFile, Sample

    Members = Mapping[str, Any]

NAME: Final = "tau_bench"
REWARD: Final = Field("reward", DataType.FLOAT, "reward")
USER_COST: Final = Field("user_cost", DataType.CURRENCY, "USD")
DECLARES: Final[tuple[str, ...]] = (REWARD.name, USER_COST.name)
RECOMPUTABLE: Final[tuple[str, ...]] = (REWARD.name,)
VERSIONS: Final = "historical trajectories of 2024 (gpt-4o)"

_ENTRY: Final = {"task_id", "reward", "traj", "info"}


def detect(sample: Sample) -> bool:
    """Tell by the members of the entries of the one array."""
    return sample.shape == "document" and any(_is_entry(entry) for value in sample.values for entry in entries(value))


def read(files: Sequence[LogFile], out: Extraction) -> None:
    """Read each entry as one run; its place is its id, for the file gives it none."""
    names = RunNames(out)
    for file in files:
        for document in records(file):
            for record in file.items(entries(document.value), ""):
                if not _is_entry(record.value):
                    file.quarantine(record, "no_result")
                    continue
                place = Place.of(file, record)
                run = Run(names.claim(place.address, file.path), NAME, place, platform="tau-bench", agent_id="agent")
                _write(out, run, record.value)


def _is_entry(value: Any) -> bool:
    entry = members(value)
    return entry.keys() >= _ENTRY and isinstance(entry["traj"], list)


def _write(out: Extraction, run: Run, entry: Members) -> None:
    place, info = run.place, members(entry.get("info"))
    run.steps = steps_of(place.below("/traj"), entries(entry.get("traj")), {"assistant": run.agent_id})
    run.write(out)
    subject = Subject(out, NAME, run.run_id, [place.file.path])
    subject.declare(place.below("/reward"), REWARD, entry["reward"])
    if "user_cost" in info:
        subject.declare(place.below("/info/user_cost"), USER_COST, info["user_cost"])
    _add_parts(subject, place.below("/info/reward_info/info"), members(members(info.get("reward_info")).get("info")))
    if value_kind(entry["reward"]) is ValueKind.NUMBER:
        result = value_raw(entry["reward"])
        place.below("/reward").add(out, "core_approvals", run_id=run.run_id, kind="review", by="rule", result=result)


def _add_parts(subject: Subject, place: Place, parts: Members) -> None:
    """Add the one part that decides the reward: r_actions, or r_outputs where it is 0.

    r_outputs 1 says nothing of the actions, which it has overwritten, so the part is missing.
    """
    if "r_actions" in parts:
        subject.component("reward_parts", 1, {"factor": (place.below("/r_actions"), parts["r_actions"])})
    elif "r_outputs" in parts:
        outputs = parts["r_outputs"]
        factor = outputs if number(outputs) == 0 or outputs is False else None
        subject.component("reward_parts", 1, {"factor": (place.below("/r_outputs"), factor)})
