"""Backfill through Dagster without its daemon: `python -m assets_defs.backfill --all`.

Registers rounds as partitions of the persistent instance and audits them, one run per chunk and a few at the same
time; a chunk that fails is halved until the bad round stands alone. The runs, materializations and
check results are in the web UI afterwards like those of any other run.

Rounds are measured first, all of them, then compared with each other, then judged: a verdict never rests on a cohort
that is only half there, and the result does not depend on the order of the chunks.

What belongs here: the command and its order of work. What does not: what a run does (assets) or what is due (arrivals).
"""

import math
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import click
import dagster as dg

from assets_defs.arrivals import Arrivals, arrivals, is_due
from assets_defs.definitions import build_defs
from assets_defs.jobs import cohort_job, full_audit_job, judge_job, measure_job
from assets_defs.kept_connections import with_kept_connections
from assets_defs.partitions import CHUNK_ROUNDS, chunks, halves, range_tags, rounds
from assets_defs.planned import FIRST_TABLE, WHOLE_HISTORY
from assets_defs.resources import PROJECT_ROOT, Gatekeeper, open_workspace
from governance_pipeline.storage.warehouse import rebuild
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.workspace import Workspace

_RANGE = 2
"""Rounds from which a run covers a range."""

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Dagster's event log goes to the instance, not to the terminal."""

_DONE = {
    full_audit_job.name: "audited",
    measure_job.name: "measured",
    cohort_job.name: "compared",
    judge_job.name: "judged",
}
"""Job of the backfill -> what it says of rounds it is done with."""

_REFUSED = f"{Refusal.__name__}: "
"""What the failure of a step says of a round before the words of a gate that said no."""

_FAILURE = f"{dg.Failure.__module__}.{dg.Failure.__name__}: "
"""What Dagster writes before the words of a failure a step has raised on purpose."""


class ChunkRun(NamedTuple):
    """One run: the rounds it covered (none: all), whether it succeeded, what its first failed step said, its job."""

    rounds: Sequence[str]
    is_success: bool
    reason: str
    job: str = full_audit_job.name

    @property
    def is_refused(self) -> bool:
        """Whether a gate said no to the plan; a smaller chunk of it would hear the same."""
        return not self.is_success and _REFUSED in self.reason

    @property
    def halves(self) -> tuple[Sequence[str], ...]:
        """The chunks to run instead."""
        return () if self.is_success or self.is_refused else halves(self.rounds)


def persistent_instance() -> dg.DagsterInstance:
    """Open the instance of `DAGSTER_HOME`, else that of `dagster.yaml` in the project root, as `dagster dev` does."""
    if os.environ.get("DAGSTER_HOME"):
        return dg.DagsterInstance.get()
    return dg.DagsterInstance.from_config(str(PROJECT_ROOT))


def register(instance: dg.DagsterInstance, round_ids: Sequence[str]) -> Sequence[str]:
    """Add rounds that are not partitions yet; return all partitions in the order of registration."""
    known = set(instance.get_dynamic_partitions(str(rounds.name)))
    instance.add_dynamic_partitions(str(rounds.name), [round_id for round_id in round_ids if round_id not in known])
    return instance.get_dynamic_partitions(str(rounds.name))


def run_chunk(
    instance: dg.DagsterInstance,
    workspace: Workspace,
    chunk: Sequence[str],
    gate: Gatekeeper,
    job: str = full_audit_job.name,
    *,
    is_whole: bool = False,
) -> ChunkRun:
    """Run a job over one chunk in this process; an empty chunk is for a job over all rounds.

    `is_whole`: the chunk is part of a plan over every round of the lake.
    """
    definition = build_defs(resources={"workspace": workspace, "gate": gate}).resolve_job_def(job)
    result = definition.execute_in_process(
        instance=instance,
        run_config=QUIET,
        partition_key=chunk[0] if len(chunk) == 1 else None,
        tags={
            **({} if len(chunk) < _RANGE else range_tags(chunk)),
            **({WHOLE_HISTORY: "true"} if is_whole else {}),
        },
        raise_on_error=False,
    )
    return ChunkRun(chunk, result.success, "" if result.success else failure_reason(result), job)


def backfill(plan: Iterable[Sequence[str]], run: Callable[[Sequence[str]], ChunkRun]) -> Iterator[ChunkRun]:
    """Run every chunk of a plan, and the halves of those that fail, yielding each run when it is done."""
    waiting = deque(plan)
    while waiting:
        chunk = waiting.popleft()
        done = run(chunk)
        yield done
        waiting.extendleft(reversed(done.halves))


def phased_backfill(
    plan: Iterable[Sequence[str]], processes: int, config: Path | None, *, is_whole: bool = False
) -> Iterator[ChunkRun]:
    """Measure every round of a plan, then compare them, then judge those that were measured; one chunk is one run.

    Args:
        plan: the chunks, neighbours in the order of registration.
        processes: runs at the same time.
        config: configuration of the gate; None means that of the account.
        is_whole: the plan covers every round of the lake.
    """
    planned = [tuple(chunk) for chunk in plan]
    if len(planned) <= 1:
        yield from parallel_backfill(planned, processes, config, is_whole=is_whole)
        return
    bad: set[str] = set()
    for run in parallel_backfill(planned, processes, config, measure_job.name, is_whole=is_whole):
        bad |= set(run.rounds) if not run.is_success and not run.halves else set()
        yield run
    for run in parallel_backfill([()], 1, config, cohort_job.name):
        yield run
        if not run.is_success:
            return
    left = [part for chunk in planned for part in chunks(set(chunk) - bad, chunk, len(chunk))]
    yield from parallel_backfill(left, processes, config, judge_job.name, is_whole=is_whole)


def parallel_backfill(
    plan: Iterable[Sequence[str]],
    processes: int,
    config: Path | None,
    job: str = full_audit_job.name,
    *,
    is_whole: bool = False,
) -> Iterator[ChunkRun]:
    """Do the same in several processes, each with the instance and workspace of the environment.

    Args:
        plan: the chunks.
        processes: runs at the same time.
        config: configuration of the gate; None means that of the account.
        job: what is run over each chunk.
        is_whole: the plan covers every round of the lake.
    """
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_run_in_process, chunk, config, job, is_whole) for chunk in plan}
        while waiting:
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                done = future.result()
                yield done
                waiting |= {pool.submit(_run_in_process, half, config, job, is_whole) for half in done.halves}


def _run_in_process(chunk: Sequence[str], config: Path | None, job: str, is_whole: bool) -> ChunkRun:
    gate = Gatekeeper(config)
    with persistent_instance() as opened, with_kept_connections(opened) as instance:
        return run_chunk(instance, open_workspace(gate, _warn), chunk, gate, job, is_whole=is_whole)


def _warn(text: str) -> None:
    click.echo(f"warning  {text}", err=True)


def failure_reason(result: dg.ExecuteInProcessResult) -> str:
    """Say in one line which step of a failed run failed first, and why."""
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error:
            error = event.step_failure_data.error
            said = " ".join((error.cause or error).message.split())
            return f"{event.step_key}: {said.removeprefix(_FAILURE)}"
    return "the run stopped before its first step; see its page in the web UI"


@click.command()
@click.option("--all", "is_all", is_flag=True, help="Every round of the landing folder, also those that are current.")
@click.option("--round", "named", multiple=True, metavar="ID", help="This round; may be given more than once.")
@click.option("--chunk", default=CHUNK_ROUNDS, show_default=True, type=click.IntRange(1, 1000), help="Rounds per run.")
@click.option("--processes", default=2, show_default=True, type=click.IntRange(1, 64), help="Runs at the same time.")
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="What the gate trusts; default: gate.toml of this account.",
)  # fmt: skip
def main(is_all: bool, named: tuple[str, ...], chunk: int, processes: int, config: Path | None) -> None:
    r"""Audit rounds through Dagster, without its daemon; without options those that are new or stale.

    \b
    Example:
      python -m assets_defs.backfill --all
    """
    workspace = open_workspace(Gatekeeper(config), _warn)
    with persistent_instance() as instance:
        arrived = arrivals(instance, workspace)
        wanted = _wanted(workspace, arrived, named=named, is_all=is_all)
        registered = register(instance, wanted)
    for name, reason in arrived.landing.refused:
        click.echo(f"skipped  {name}: {reason}", err=True)
    if not wanted:
        click.echo(f"nothing to do: {arrived.nothing_to_do()} ({workspace.landing})")
        return
    size = min(chunk, math.ceil(len(wanted) / processes))
    is_whole = set(wanted) >= set(workspace.lake.rounds(FIRST_TABLE))
    failed = report(phased_backfill(chunks(set(wanted), registered, size), processes, config, is_whole=is_whole))
    click.echo(f"tables   {rebuild(workspace.lake)}")
    if failed:
        click.echo(f"failed   {', '.join(failed)}", err=True)
        sys.exit(1)


def _wanted(workspace: Workspace, arrived: Arrivals, *, named: Sequence[str], is_all: bool) -> list[str]:
    present, known = arrived.landing.rounds, set(arrived.registered)
    strangers = [round_id for round_id in named if round_id not in present]
    if strangers:
        raise click.UsageError(f"{', '.join(strangers)}: no such round in {workspace.landing}")
    if named or is_all:
        return list(named or present)
    return [round_id for round_id in present if is_due(workspace, round_id, known)]


def report(runs: Iterator[ChunkRun]) -> list[str]:
    """Print each run when it is done; return the rounds that failed alone, and the job over all rounds that did."""
    failed: list[str] = []
    for run in runs:
        done = _DONE[run.job] if run.is_success else "failed"
        click.echo(f"{done:<8} {_covered(run.rounds)}{run.reason and f': {run.reason}'}")
        if not run.is_success and not run.halves:
            failed += run.rounds or [run.job]
    return failed


def _covered(round_ids: Sequence[str]) -> str:
    if not round_ids:
        return "all rounds with each other"
    if len(round_ids) == 1:
        return f"1 round: {round_ids[0]}"
    return f"{len(round_ids)} rounds: {round_ids[0]} to {round_ids[-1]}"


if __name__ == "__main__":
    main()
