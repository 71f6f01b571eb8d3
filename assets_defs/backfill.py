"""Backfill through Dagster without its daemon: `python -m assets_defs.backfill --all`.

Registers rounds as partitions of the persistent instance and runs `full_audit_job` over them, one run per chunk and a
few at the same time; a chunk that fails is halved until the bad round stands alone. The runs, materializations and
check results are in the web UI afterwards like those of any other run.

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
from assets_defs.jobs import full_audit_job
from assets_defs.partitions import CHUNK_ROUNDS, chunks, halves, range_tags, rounds
from assets_defs.resources import PROJECT_ROOT, Gatekeeper, open_workspace
from governance_pipeline.storage.warehouse import rebuild
from governance_pipeline.workspace import Workspace

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Dagster's event log goes to the instance, not to the terminal."""

_FAILURE = f"{dg.Failure.__module__}.{dg.Failure.__name__}: "
"""What Dagster writes before the words of a failure a step has raised on purpose."""


class ChunkRun(NamedTuple):
    """One run: the rounds it covered, whether it succeeded, and what its first failed step said."""

    rounds: Sequence[str]
    is_success: bool
    reason: str


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


def run_chunk(instance: dg.DagsterInstance, workspace: Workspace, chunk: Sequence[str], gate: Gatekeeper) -> ChunkRun:
    """Run the whole audit over one chunk in this process."""
    job = build_defs(resources={"workspace": workspace, "gate": gate}).resolve_job_def(full_audit_job.name)
    result = job.execute_in_process(
        instance=instance,
        run_config=QUIET,
        partition_key=chunk[0] if len(chunk) == 1 else None,
        tags={} if len(chunk) == 1 else dict(range_tags(chunk)),
        raise_on_error=False,
    )
    return ChunkRun(chunk, result.success, "" if result.success else failure_reason(result))


def backfill(plan: Iterable[Sequence[str]], run: Callable[[Sequence[str]], ChunkRun]) -> Iterator[ChunkRun]:
    """Run every chunk of a plan, and the halves of those that fail, yielding each run when it is done."""
    waiting = deque(plan)
    while waiting:
        chunk = waiting.popleft()
        done = run(chunk)
        yield done
        if not done.is_success:
            waiting.extendleft(reversed(halves(chunk)))


def parallel_backfill(plan: Iterable[Sequence[str]], processes: int, config: Path | None) -> Iterator[ChunkRun]:
    """Do the same in several processes, each with the instance and workspace of the environment.

    Args:
        plan: the chunks.
        processes: runs at the same time.
        config: configuration of the gate; None means that of the account.
    """
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_run_in_process, chunk, config) for chunk in plan}
        while waiting:
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                done = future.result()
                yield done
                if not done.is_success:
                    waiting |= {pool.submit(_run_in_process, half, config) for half in halves(done.rounds)}


def _run_in_process(chunk: Sequence[str], config: Path | None) -> ChunkRun:
    gate = Gatekeeper(config)
    with persistent_instance() as instance:
        return run_chunk(instance, open_workspace(gate, _warn), chunk, gate)


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
    failed = report(parallel_backfill(chunks(set(wanted), registered, size), processes, config))
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
    """Print each run when it is done; return the rounds that failed alone."""
    failed = []
    for run in runs:
        name = run.rounds[0] if len(run.rounds) == 1 else f"{run.rounds[0]} to {run.rounds[-1]}"
        count = f"{len(run.rounds)} round{'s' if len(run.rounds) > 1 else ''}"
        click.echo(f"{'audited ' if run.is_success else 'failed  '} {count}: {name}{run.reason and f': {run.reason}'}")
        if not run.is_success and len(run.rounds) == 1:
            failed.append(run.rounds[0])
    return failed


if __name__ == "__main__":
    main()
