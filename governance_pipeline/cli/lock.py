"""`govern lock`: one holder at a time for whatever several processes share in a governed project.

What belongs here: arguments and printing. What does not: rules; they are in `framework.locks`.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from governance_pipeline.cli.governed_project import AS_JSON, CONFIG, PROJECT, folder_of, ledger_of
from governance_pipeline.report.json_text import json_text

if TYPE_CHECKING:
    from governance_pipeline.framework.locks import Locks

NAME = click.argument("name", metavar="LOCK")
WAIT = click.option(
    "--wait", "wait_s", type=click.FloatRange(0, 86_400), default=0, show_default=True, metavar="SECONDS",
    help="How long a live owner is waited for.",
)  # fmt: skip
PURPOSE = click.option("--purpose", metavar="TEXT", help="What for; whoever finds the lock taken is shown it.")
PID = click.option(
    "--pid", type=click.IntRange(1), metavar="N",
    help="Process in whose name; default: the one that called this command, such as your shell.",
)  # fmt: skip


@click.group(
    epilog="\b\nExample: govern lock run sales-db -- python load.py\n\b\n"
    "Exit: 4 when a live owner holds the lock, or one nobody can tell about; run: what the command exits with"
)
def lock() -> None:
    """Locks of a governed project: the dead never block, the living are never broken."""


@lock.command(epilog="Example: govern lock acquire sales-db --purpose 'monthly load'")
@NAME
@PURPOSE
@WAIT
@PID
@PROJECT
@CONFIG
@AS_JSON
def acquire(
    name: str, purpose: str | None, wait_s: float, pid: int | None, project: Path | None, config_path: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Take LOCK in the name of a process, until it is released or that process ends."""
    locks = _locks(project, config_path)
    owner = locks.claim(name, _caller(pid), _command(_caller(pid)), purpose=purpose, wait_s=wait_s)
    _answer(project, config_path, name, as_json=as_json, said=f"lock {name} is held for process {owner.process.pid}")


@lock.command(epilog="Example: govern lock release sales-db")
@NAME
@PID
@PROJECT
@CONFIG
@AS_JSON
def release(name: str, pid: int | None, project: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Give LOCK back, or clear away what a dead owner left; a lock that is free stays so."""
    locks = _locks(project, config_path)
    before = locks.release(name, _caller(pid))
    said = {"live": "released", "orphaned": "cleared away: its owner is dead", "free": "free already"}
    _answer(project, config_path, name, as_json=as_json, said=f"lock {name} {said[str(before.standing)]}")


@lock.command(epilog="Example: govern lock status --json")
@click.argument("name", metavar="[LOCK]", required=False)
@PROJECT
@CONFIG
@AS_JSON
def status(name: str | None, project: Path | None, config_path: Path | None, as_json: bool) -> None:
    """Show who holds LOCK, or every lock, whether they live, and how often it was taken from the dead."""
    rows = _rows(project, config_path, name)
    if as_json:
        _print(rows)
        return
    for row in rows:
        click.echo(_line(row))
    if not rows:
        click.echo("no lock was ever taken here" if name is None else f"lock {name} is free")


@lock.command(
    epilog="\b\nExample: govern lock run sales-db --wait 60 -- python load.py\n\b\n"
    "Exit: what COMMAND exits with (128 and the signal that ended it); 4 and nothing is run when the lock is held, "
    "2 when there is no such program",
    context_settings={"ignore_unknown_options": True},
)
@NAME
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@PURPOSE
@WAIT
@PROJECT
@CONFIG
@AS_JSON
def run(
    name: str, command: tuple[str, ...], purpose: str | None, wait_s: float, project: Path | None,
    config_path: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Run COMMAND while LOCK is held; signals reach it, and the lock ends with it, however it ends."""
    from governance_pipeline.framework.locked_run import run_locked

    ended = run_locked(_locks(project, config_path), name, command, purpose=purpose, wait_s=wait_s)
    for fault in ended.faults:
        click.echo(f"lock {name}: {fault}", err=True)
    if as_json:  # on stderr: stdout belongs to the command
        click.echo(json_text({"schema": "govern/lock-run/v1", "lock": name, "exit_code": ended.code}), err=True)
    return ended.code


def _locks(project: Path | None, config_path: Path | None) -> Locks:
    from governance_pipeline.framework.locks import Locks

    return Locks(folder_of(project), ledger=ledger_of(config_path))


def _caller(pid: int | None) -> int:
    """Give the process a lock is taken for; the init of the system stands for nobody."""
    found = os.getppid() if pid is None else pid
    if found == 1:
        raise click.UsageError("the process that called this command is gone or is the init; name one with --pid")
    return found


def _command(pid: int) -> str:
    """Give the command of a process, as the system shows it, for people."""
    from governance_pipeline.framework.locked_run import command_text

    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return f"process {pid}"
    return command_text([word for word in words if word]) or f"process {pid}"


def _answer(project: Path | None, config_path: Path | None, name: str, *, as_json: bool, said: str) -> None:
    if as_json:
        _print(_rows(project, config_path, name))
    else:
        click.echo(said)


def _rows(project: Path | None, config_path: Path | None, name: str | None) -> list[dict[str, Any]]:
    from governance_pipeline.framework.lock_rows import lock_rows

    rows = lock_rows(folder_of(project), datetime.now(UTC), ledger=ledger_of(config_path))
    return [row for row in rows if name in (None, row["lock"])]


def _print(rows: list[dict[str, Any]]) -> None:
    from governance_pipeline.framework.lock_rows import locks_document

    click.echo(json_text(locks_document(rows)))


def _line(row: dict[str, Any]) -> str:
    from governance_pipeline.strict.excerpt import excerpt

    text = f"{row['lock']:<24} {row['standing']:<9} {row['reason_code']}"
    if row.get("pid") is not None:
        text += f"  process {row['pid']} ({excerpt(row['user_name'] or '?', 40)}, {excerpt(row['command'] or '?', 80)})"
    if row.get("is_silent"):
        text += "  SILENT"
    if row["takeover_count"]:
        text += f"  taken from the dead {row['takeover_count']} times"
    return text
