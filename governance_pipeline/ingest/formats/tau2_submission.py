"""A leaderboard submission of tau2-bench: what it declares per domain, against the trajectory files beside it.

What belongs here: `submission.json`. What does not: the trajectories themselves (tau2_simulation).

A declared number is held against one evaluation at a time: the files of one domain that were made by the same agent
(implementation, model and its arguments), so that trials spread over files are counted together and several agents
are not. pass_1 of a "best of several agents" is such a number: it says pass^1 and is not pass^1 of any of them, so
each evaluation contradicts it in a record of its own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.formats.aggregates import Field, Subject
from governance_pipeline.ingest.formats.places import Place, escaped
from governance_pipeline.ingest.formats.tau2_simulation import cost_of, is_success
from governance_pipeline.ingest.formats.trials import Trial, add_trials, all_pass
from governance_pipeline.ingest.formats.values import members, text
from governance_pipeline.vocabulary import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from governance_pipeline.ingest.extraction import Extraction

    Members = Mapping[str, Any]

PASSES: Final = {k: Field(f"pass_{k}", DataType.PERCENT, "percent") for k in (1, 2, 3, 4)}
COST: Final = Field("cost", DataType.CURRENCY, "USD")
FIELDS: Final = (*PASSES.values(), COST)
TRAJECTORIES: Final = "trajectories"
"""Folder beside a submission that holds its files, where they do not lie beside it themselves."""

_MARKS: Final = ("submitting_organization", "model_organization", "submission_date", "trajectories_available")


class Entry(NamedTuple):
    """What a submission needs of one simulation: where it stands, its task, how it ended and what it cost."""

    trial: Trial
    cost: Any


class Evaluation(NamedTuple):
    """Simulations of one domain by one agent, in the files of one folder."""

    domain: str
    folder: str
    files: dict[str, None]
    entries: list[Entry]


def is_submission(value: Any) -> bool:
    """Tell a submission by the members it is made of."""
    document = members(value)
    results = document.get("results")
    is_by_domain = isinstance(results, dict) and all(isinstance(domain, dict) for domain in results.values())
    return is_by_domain and "model_name" in document and any(mark in document for mark in _MARKS)


class Submissions:
    """The submissions and evaluations of a round, put together when all its files have been read."""

    def __init__(self) -> None:
        self._documents: list[tuple[Place, Members]] = []
        self._evaluations: dict[tuple[str, str, str], Evaluation] = {}

    def take(self, place: Place, document: Members) -> None:
        """Keep a submission; only its `results` are needed later."""
        self._documents.append((place, members(document.get("results"))))

    def saw(self, place: Place, info: Members, simulation: Members) -> None:
        """Note a simulation that a submission may be about; without its domain or its task it can be about none."""
        domain = text(members(info.get("environment_info")).get("domain_name"))
        task = simulation.get("task_id")
        if domain is None or not isinstance(task, str | int):
            return
        folder = _folder(place.file.path)
        key = domain, folder, _agent(members(info.get("agent_info")))
        evaluation = self._evaluations.setdefault(key, Evaluation(domain, folder, {}, []))
        evaluation.files.setdefault(place.file.path)
        trial = Trial(str(task), is_success(simulation), place)
        evaluation.entries.append(Entry(trial, cost_of(simulation)))

    def write(self, out: Extraction, format_name: str) -> None:
        """Add each declared number once per evaluation of its domain, or once when there is none."""
        by_domain: dict[str, list[Evaluation]] = defaultdict(list)
        for evaluation in self._evaluations.values():
            by_domain[evaluation.domain].append(evaluation)
        for place, results in self._documents:
            folder = _folder(place.file.path)
            for domain, declared in results.items():
                beside = [e for e in by_domain.get(domain, ()) if e.folder in (folder, f"{folder}{TRAJECTORIES}/")]
                for evaluation in beside or [Evaluation(domain, folder, {}, [])]:
                    _hold_against(out, format_name, place, members(declared), evaluation)


def _hold_against(out: Extraction, format_name: str, place: Place, declared: Members, evaluation: Evaluation) -> None:
    where = place.below(f"/results{escaped(evaluation.domain)}")
    files = ", ".join(evaluation.files) or "no trajectory file"
    subject = Subject(out, format_name, f"{place.file.path} {evaluation.domain}: {files}", list(evaluation.files))
    claims = [field for field in FIELDS if declared.get(field.name) is not None]  # null: not evaluated, so no claim
    for field in claims:
        subject.declare(where.below(f"/{field.name}"), field, declared[field.name])
    for k, field in PASSES.items():
        if field in claims:
            add_trials(subject, f"{field.name}_tasks", (entry.trial for entry in evaluation.entries), k, all_pass)
    if COST in claims:
        _add_costs(subject, evaluation.entries)


def _add_costs(subject: Subject, simulations: Iterable[Entry]) -> None:
    for number, entry in enumerate(simulations, 1):
        cost = (entry.trial.place.below("/agent_cost"), entry.cost)
        subject.component("simulations", number, {"agent_cost": cost})


def _agent(agent: Members) -> str:
    """Give what tells agents apart, as a text that is equal when they are."""
    return json.dumps([agent.get(name) for name in ("implementation", "llm", "llm_args")], sort_keys=True)


def _folder(path: str) -> str:
    """Give the folder of a file with its final separator; empty at the top."""
    return "".join(path.rpartition("/")[:2])
