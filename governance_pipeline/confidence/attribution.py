"""Whose work a fact is about: the run, its agent and its runtime, or the reason why nobody can be named.

What belongs here: reading them off `core_runs`. What does not: what a fact is worth (`facts`). Nothing is guessed: an
unknown part of a runtime means no runtime, and two candidates mean none. Source: spec/confidence.md §5, §12.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from governance_pipeline.confidence import event_fields as form

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    Row = Mapping[str, Any]


class Unattributed(StrEnum):
    """Why a fact is nobody's; the first that applies."""

    NO_RUN = "no_run"
    SEVERAL_RUNS = "several_runs"
    NO_AGENT = "no_agent"
    NO_RUNTIME = "no_runtime"
    NO_TIME = "no_time"
    WRITTEN_BY_RUNTIME = "written_by_runtime"
    ONE_POOL = "one_pool"
    LOG_ONLY = "log_only"


class Doer(NamedTuple):
    """Who did it: run, agent, runtime and session of an event; `reason` says what is missing, None when nothing is."""

    run_id: str | None
    agent_id: str | None
    runtime: str | None
    session_id: str | None
    reason: Unattributed | None


def runtime_of(run: Row) -> str | None:
    """Return ``platform/model/thinking`` of a run; None when a part is unknown or cannot stand in a runtime.

    The version of a platform (what follows the first blank) is left out: a pool outlives an update.
    """
    platform, model, thinking = run["platform"], run["model_id"], run["thinking"]
    if platform is None or model is None or thinking is None or not platform.strip():
        return None
    try:
        return form.runtime(f"{platform.split()[0]}/{model}/{thinking}")
    except form.NotOfThisForm:
        return None


def doer_of(run: Row | None, agent_id: str | None = None) -> Doer:
    """Return who did what a run shows; `agent_id` is that of the step, where it is known."""
    if run is None:
        return Doer(None, None, None, None, Unattributed.NO_RUN)
    agent, runtime = agent_id or run["agent_id"], runtime_of(run)
    reason = None
    if not form.is_id(agent):
        agent, reason = None, Unattributed.NO_AGENT
    elif runtime is None:
        reason = Unattributed.NO_RUNTIME
    return Doer(run["run_id"], agent, runtime, _session(run), reason)


def only_producer(runs: Sequence[Row], validators: Collection[str]) -> Doer:
    """Return the one run a round's own statements can be of: no sub-agent and no validator; else why there is none."""
    known = {run["run_id"] for run in runs}
    roots = [run for run in runs if run["parent_run_id"] not in known and run["run_id"] not in validators]
    if len(roots) > 1:
        return Doer(None, None, None, None, Unattributed.SEVERAL_RUNS)
    return doer_of(roots[0] if roots else None)


def _session(run: Row) -> str:
    """Return the session of a run as an identifier; a name that is none is replaced by its digest."""
    name = run["session_id"] or run["run_id"]
    return name if form.is_id(name) else "session-" + hashlib.sha256(str(name).encode()).hexdigest()
