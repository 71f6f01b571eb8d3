"""`govern red`: long processes without supervision, started with lock, checkpoint and a measured limit.

What belongs here: arguments and printing. What does not: rules; they are in `framework.red_processes`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG, PROJECT, folder_of, ledger_of
from governance_pipeline.cli.signing import LAKE, answer, clock, open_trusted
from governance_pipeline.vocabulary import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from governance_pipeline.framework.folder import GovernedFolder
    from governance_pipeline.framework.red_processes import Interruption
    from governance_pipeline.framework.timeouts import DerivedTimeout

NAME = click.argument("name", metavar="PROCESS")
DURATIONS_BYTES = 64 * 2**20
DURATIONS = click.option(
    "--durations", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
    help="Measured seconds of one unit each, one a line.",
)  # fmt: skip
PERCENTILE = click.option("--percentile", type=float, default=99, show_default=True, help="What the limit rests on.")
MULTIPLIER = click.option("--multiplier", type=float, default=2.0, show_default=True, help="Factor on top of it.")


@click.group(
    epilog="Example: govern red run corpus --durations units.txt --agent worker-1 --run night-7 -- python load.py"
)
def red() -> None:
    """Long processes without supervision: nothing starts without lock, checkpoint and a measured limit."""


@red.command(
    epilog="\b\nExample: govern red run corpus --durations units.txt --agent worker-1 --run night-7 --input corpus.db "
    "-- python load.py\n\b\n"
    "Exit: what COMMAND exits with, 124 when a unit took longer than the limit; 4 and nothing is run without "
    "a measured limit, while the lock is held, during a re-baseline, or before a relaunch is approved",
    context_settings={"ignore_unknown_options": True},
)
@NAME
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--run", "run_id", required=True, metavar="ID", help="Names this launch.")
@click.option("--agent", required=True, metavar="ID", help="Who launches it; nobody approves their own relaunch.")
@click.option("--input", "inputs", multiple=True, required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="File it works on; again for each. A batch goes on with the same bytes only.")  # fmt: skip
@DURATIONS
@PERCENTILE
@MULTIPLIER
@PROJECT
@LAKE
@CONFIG
@AS_JSON
def run(
    name: str, command: tuple[str, ...], run_id: str, agent: str, inputs: tuple[Path, ...], durations: Path,
    percentile: float, multiplier: float, project: Path | None, lake: Path, config_path: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Run COMMAND as the red process PROCESS, and end it when one unit takes longer than the derived limit."""
    from governance_pipeline.framework.checkpoints import inputs_digest
    from governance_pipeline.framework.locked_run import command_text
    from governance_pipeline.framework.locks import Locks
    from governance_pipeline.framework.red_command import run_red
    from governance_pipeline.framework.red_processes import RedPlan
    from governance_pipeline.report.json_text import json_text

    folder = folder_of(project)
    digest = inputs_digest(folder.root, inputs)
    timeout = _derived(durations, percentile, multiplier)
    plan = RedPlan(name, run_id, agent, command_text(command), digest, timeout)
    may_start, may_relaunch = _gates(folder, plan.agent, run_id, lake, config_path)
    locks = Locks(folder, ledger=ledger_of(config_path))
    ended = run_red(folder, plan, locks, command, may_start=may_start, may_relaunch=may_relaunch)
    for fault in (*ended.faults, *(["a unit took longer than the limit"] if ended.is_overdue else [])):
        click.echo(f"red process {name}: {fault}", err=True)
    if as_json:  # on stderr: stdout belongs to the command
        document = {"schema": "govern/red-run/v1", "process": name, "run_id": run_id, "exit_code": ended.code,
                    "is_overdue": ended.is_overdue}  # fmt: skip
        click.echo(json_text(document), err=True)
    return ended.code


@red.command(epilog="Example: govern red unit corpus 2026-11.csv")
@NAME
@click.argument("unit_name", metavar="UNIT")
@PROJECT
@AS_JSON
def unit(name: str, unit_name: str, project: Path | None, as_json: bool) -> None:
    """Record that one more UNIT of the running PROCESS is done; the limit counts from here."""
    from governance_pipeline.errors import UsageError
    from governance_pipeline.framework.checkpoints import BatchCheckpoints

    folder = folder_of(project)
    batches = BatchCheckpoints(folder)
    progress = batches.read(name)
    if progress is None or progress.is_finished:
        raise UsageError(f"red process {name} is not at work; start it with `govern red run {name}`")
    done = batches.advance(progress, unit_name)
    answer(_document(folder, name), [f"{done.units_done} units of {name} are done"], as_json=as_json)


@red.command(epilog="Example: govern red status corpus --json")
@NAME
@PROJECT
@AS_JSON
def status(name: str, project: Path | None, as_json: bool) -> None:
    """Show how PROCESS stands: what it was started with, how far it came, and what interrupted it."""
    document = _document(folder_of(project), name)
    record, progress, interruption = (document[part] for part in ("record", "progress", "interruption"))
    lines = [f"{name} never ran" if record is None else f"{name}: {record['state']}, run {record['run_id']}"]
    if progress is not None:
        lines.append(
            f"{progress['units_done']} units done, last {progress['last_unit'] or '-'} at {progress['updated_at']}"
        )
    if interruption is not None:
        lines.append(f"a relaunch needs an approval, bound to record {interruption['record_sha256']}")
    answer(document, lines, as_json=as_json)


@red.command(
    epilog="\b\nExample: govern red timeout units.txt --percentile 95\nExit: 4 when no real sample is behind it"
)
@click.argument("durations", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@PERCENTILE
@MULTIPLIER
@AS_JSON
def timeout(durations: Path, percentile: float, multiplier: float, as_json: bool) -> int:
    """Derive the limit of a unit of work from the measured seconds in FILE, one a line."""
    from governance_pipeline.framework.work_documents import timeout_document

    found = _derived(durations, percentile, multiplier)
    answer(timeout_document(found), _timeout_lines(found), as_json=as_json)
    return ExitCode.CLEAN if found.ok else ExitCode.REFUSED


def _timeout_lines(found: DerivedTimeout) -> list[str]:
    if not found.ok or found.interval_s is None:
        return [f"{str(found.reason_code).upper()}: {found.message}"]
    low, high = ("unbounded" if end is None else f"{end:g} s" for end in found.interval_s)
    return [
        f"limit {found.threshold_s:g} s: {found.safety_multiplier:g} times percentile {found.percentile:g}",
        f"percentile {found.percentile:g} of {found.n} durations is {found.percentile_s:g} s",
        f"{found.confidence:.0%} interval of that percentile: {low} to {high}",
        *(f"percentile {share:g}: {value:g} s" for share, value in (found.evidence_s or {}).items()),
    ]


def _derived(path: Path, percentile: float, multiplier: float) -> DerivedTimeout:
    """Derive a limit from a file of numbers; a line that is no number makes the sample none."""
    from governance_pipeline.framework.timeouts import derive_timeout_from_percentiles
    from governance_pipeline.strict.files import open_regular

    with open_regular(path) as stream:
        lines = stream.read(DURATIONS_BYTES).decode("utf-8", "replace").split()
    return derive_timeout_from_percentiles([_number(line) for line in lines], percentile, multiplier)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _document(folder: GovernedFolder, name: str) -> dict[str, Any]:
    from governance_pipeline.framework.checkpoints import BatchCheckpoints
    from governance_pipeline.framework.red_processes import interruption_of, red_record
    from governance_pipeline.framework.work_documents import red_document

    found = red_record(folder, name)
    record = None if found is None else found[0]
    return red_document(name, record, BatchCheckpoints(folder).read(name), interruption_of(folder, name))


def _gates(
    folder: GovernedFolder, agent: str, run_id: str, lake: Path, config_path: Path | None
) -> tuple[Callable[[], object] | None, Callable[[Interruption], object] | None]:
    """Give what asks whether anything critical may run, and whether a relaunch is approved; both need a ledger."""
    if ledger_of(config_path) is None:
        return None, None
    from governance_pipeline.framework.red_relaunch import relaunch_approved
    from governance_pipeline.framework.registry_changes import refuse_frozen

    verifier = open_trusted(config_path, lake, clock())
    return (
        lambda: refuse_frozen(verifier, clock()),
        lambda interruption: relaunch_approved(folder, verifier, interruption, agent, run_id, clock()),
    )
