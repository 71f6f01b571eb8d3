"""Which runs of a round produced something, and which one is the validator's own.

What belongs here: telling the runs of a validator from the runs it validates. What does not: rules about the two
(`pair`). Every run that made a step or is named by a change counts as a producer, except a run of the validator alone
that is known to have changed nothing: no change and no output names it or its agent, and either its log shows all its
changes or every change event of the round names another run.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.contracts.frames import plain_rows
from governance_pipeline.strict.numbers import exact_number, is_number
from governance_pipeline.trust.lineage import Lineage, Run, lineage_of
from governance_pipeline.trust.principals import are_alike, skeleton
from governance_pipeline.vocabulary import SHA256_PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    Rows = Sequence[Mapping[str, Any]]

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "runs": (
        "run_id", "parent_run_id", "session_id", "agent_id", "platform", "model_id", "opaque_step_count",
    ),
    "steps": ("run_id", "agent_id", "input_hash", "output_hash", "output_path", "output_result_sha256"),
    "changes": ("run_id", "agent_id"),
    "file_changes": ("run_id",),
    "declared": ("value_raw",),
    "evidence": ("output_sha256",),
}  # fmt: skip
"""Columns of each table that `round_work` reads; a log of a million steps need not be turned into rows whole."""

_SHA256 = re.compile(SHA256_PATTERN, re.ASCII)


@dataclass(frozen=True)
class RoundWork:
    """The work of one round as the rules see it.

    Attributes:
        lineage: all runs.
        active: skeletons of the runs that made a step or are named by a change.
        changing: skeletons of the runs that a change or a named output belongs to.
        changing_agents: skeletons of the agents named by change events that name no run.
        is_attributed: every change event names its run, so a run without one changed nothing; False when no change
            events are known.
        hashes: run -> hashes its steps declare; those of evidence, which names no run, under "".
        numbers: declared aggregates, in the one spelling of `value_key`.
        is_declared_known: whether declared aggregates are known at all.
        outputs: run -> digests of the outputs its steps had.
    """

    lineage: Lineage
    active: frozenset[str]
    changing: frozenset[str]
    changing_agents: frozenset[str]
    is_attributed: bool
    hashes: Mapping[str, frozenset[str]]
    numbers: frozenset[str]
    is_declared_known: bool
    outputs: Mapping[str, frozenset[str]]

    def own_runs(self, is_validator: Callable[[str], bool]) -> list[Run]:
        """Give the runs that a validator took part in, by id."""
        return [run for run in self.lineage.runs() if any(map(is_validator, run.agents))]

    def producers(self, is_validator: Callable[[str], bool]) -> list[Run]:
        """Give the runs that produced, by id, as a validator has to see them."""
        active = (run for run in self.lineage.runs() if skeleton(run.run_id) in self.active)
        return [run for run in active if not self._is_clear(run, is_validator)]

    def changed(self, run: Run) -> bool | None:
        """Tell whether a run changed something; None when its log does not show."""
        name = skeleton(run.run_id)
        if name in self.changing or self.active <= {name}:
            return True  # who else could have done the work
        if any(skeleton(agent) in self.changing_agents for agent in run.agents):
            return True
        if run.is_listed and run.opaque_steps == 0:
            return False
        return False if self.is_attributed else None

    def is_derived(self, value: str, validation_run: Run | None) -> bool | None:
        """Tell whether a value was derived again in a validation run; None when that cannot be told.

        It was when it came out of one of the run's tools, or when nobody declared it. It was not when it was declared
        before and the run's logged outputs do not hold it.
        """
        own = "" if validation_run is None else skeleton(validation_run.run_id)
        outputs = self.outputs.get(own) if own else None
        if outputs and hashlib.sha256(value.encode()).hexdigest() in outputs:
            return True
        key = value_key(value)
        if key in self.numbers or any(key in values for run, values in self.hashes.items() if run != own or not own):
            return False if outputs else None
        return True if self.is_declared_known or _SHA256.fullmatch(key) else None

    def _is_clear(self, run: Run, is_validator: Callable[[str], bool]) -> bool:
        return bool(run.agents) and all(map(is_validator, run.agents)) and self.changed(run) is False


def round_work(
    runs: Rows,
    steps: Rows,
    *,
    changes: Rows | None = None,
    file_changes: Rows | None = None,
    declared: Rows | None = None,
    evidence: Rows | None = None,
) -> RoundWork:
    """Make the work of one round from rows of its core tables (nulls as None); None for a table that is not known.

    Args:
        runs: core_runs.
        steps: core_steps.
        changes: core_changes.
        file_changes: core_file_changes.
        declared: core_declared.
        evidence: core_evidence.
    """
    events = [*(changes or ()), *(file_changes or ())]
    made = [{"run_id": row["run_id"], "agent_id": row.get("agent_id")} for row in events if row["run_id"]]
    writing = [row for row in steps if row["output_path"] is not None]
    return RoundWork(
        lineage=lineage_of(runs, [*steps, *made]),
        active=frozenset(skeleton(row["run_id"]) for row in (*steps, *made)),
        changing=frozenset(skeleton(row["run_id"]) for row in (*made, *writing)),
        changing_agents=frozenset(
            skeleton(row["agent_id"]) for row in changes or () if not row["run_id"] and row["agent_id"] is not None
        ),
        is_attributed=bool(changes) and all(row["run_id"] for row in events),
        hashes={
            **_by_run(steps, ("input_hash", "output_hash")),
            "": frozenset(row["output_sha256"] for row in evidence or () if row["output_sha256"] is not None),
        },
        numbers=frozenset(value_key(row["value_raw"]) for row in declared or () if row["value_raw"] is not None),
        is_declared_known=declared is not None,
        outputs=_by_run(steps, ("output_result_sha256",)),
    )


def rows_by_round(frame: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Give the rows of a table by round, in order, nulls as None."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in plain_rows(frame):
        groups.setdefault(row["round_id"], []).append(row)
    return groups


def same_actor(one: Iterable[str], other: Iterable[str], identity: Callable[[str], str] = skeleton) -> str | None:
    """Give a name of the first side that stands for an actor of the other; None when there is none such."""
    known = {identity(name) for name in other}
    return next((name for name in sorted(one) if identity(name) in known), None)


def value_key(value: str) -> str:
    """Give one spelling of a value: numbers by their exact value, texts in small letters (hashes come in both)."""
    if is_number(value) and (number := exact_number(value)) is not None:
        return str(number.normalize())
    return value.casefold()


def runtime_family(run: Run) -> str | None:
    """Give the family of a run's model, else of its platform: the first word of its name, without provider or version.

    `anthropic/claude-sonnet-4-5` and `claude-3-opus` are both `claude`; None when the log names neither.
    """
    for name in (run.model_id, run.platform):
        if name is not None:
            words = name.rsplit("/", 1)[-1].casefold()
            letters = "".join(c if c.isalpha() else " " for c in words).split()
            if letters:
                return letters[0]
    return None


def is_same_runtime(one: Run, other: Run) -> bool | None:
    """Tell whether two runs used the same family; None when either is not known."""
    first, second = runtime_family(one), runtime_family(other)
    if first is None or second is None:
        return None
    return are_alike(first, second)


def _by_run(steps: Rows, columns: Sequence[str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in steps:
        values = found.setdefault(skeleton(row["run_id"]), set())
        values.update(value_key(row[column]) for column in columns if row[column] is not None)
    return {run: frozenset(values) for run, values in found.items()}
