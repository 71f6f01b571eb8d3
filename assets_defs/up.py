"""Everything a team looks at, on this machine: the UI read-only, an operator's UI with the daemon, and the inbox.

What belongs here: starting these processes together and stopping them together. What does not: what they show.

Dagster's web server has no accounts and checks neither Host nor Origin (research/hitl.md c), so whoever reaches it may
launch runs. The address people are given is therefore read-only; the operator's is another one, on loopback too. It
decides nothing either way: every gated asset verifies signed decisions itself.

Usage: python -m assets_defs.up [--port 3000] [--operator-port 3001]        `make up`
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from assets_defs.resources import PROJECT_ROOT, lake_folder
from governance_pipeline.trust.config import default_config_path

LOOPBACK = "127.0.0.1"
GRACE_S = 15.0
"""What a process is given to end by itself, in seconds: a run under way is told, and Dagster ends its own children."""
LOOK_S = 0.5


class Part(NamedTuple):
    """One process: its name, what people are told of it, and its command."""

    name: str
    says: str
    command: tuple[str, ...]


def parts(port: int, operator_port: int, gate_config: Path, lake: Path) -> list[Part]:
    """Give what is started; the inbox only where a gate is configured, since without one nobody can decide."""
    dagster, workspace = [sys.executable, "-m"], ("-w", "workspace.yaml", "-h", LOOPBACK, "-p")
    found = [
        Part("operator", f"operator   http://{LOOPBACK}:{operator_port}  (launches runs; for this machine only)",
             (*dagster, "dagster", "dev", *workspace, str(operator_port))),
        Part("read-only", f"UI         http://{LOOPBACK}:{port}  (read-only)",
             (*dagster, "dagster_webserver", *workspace, str(port), "--read-only")),
    ]  # fmt: skip
    if gate_config.exists():
        serve = (sys.executable, "-m", "governance_pipeline.cli", "gate", "serve", "--lake", str(lake))
        found.append(Part("inbox", "inbox      the link printed below lets one browser in, once", serve))
    return found


@click.command(epilog="\b\nExample: python -m assets_defs.up --port 3000 --operator-port 3001\nCtrl-C stops all of it.")
@click.option("--port", type=click.IntRange(1024, 65535), default=3000, show_default=True, help="Of the read-only UI.")
@click.option("--operator-port", type=click.IntRange(1024, 65535), default=3001, show_default=True,
              help="Of the UI that may launch runs.")  # fmt: skip
def up(port: int, operator_port: int) -> None:
    """Serve the UI read-only, the operator's UI with the daemon, and the inbox, until Ctrl-C."""
    if port == operator_port:
        raise click.UsageError("the two ports must differ: one of them may launch runs, the other must not")
    for wanted in (port, operator_port):
        if not _is_free(wanted):
            raise click.UsageError(f"port {wanted} is taken; stop what listens there, or name another one")
    gate_config = default_config_path()
    wanted_parts = parts(port, operator_port, gate_config, lake_folder())
    for part in wanted_parts:
        click.echo(part.says)
    if not gate_config.exists():
        click.echo("inbox      not served: no gate is configured; make one with `govern trust init`")
    sys.exit(supervise(wanted_parts))


def supervise(wanted: Sequence[Part]) -> int:
    """Start processes and wait; when one ends, or somebody stops this one, end all of them.

    Returns:
        0 when it was stopped, 1 when a process ended by itself: what is half up must not look as if it were up.
    """
    with _stoppable() as stopped:
        running = {part.name: _started(part) for part in wanted}
        try:
            while not stopped:
                time.sleep(LOOK_S)
                ended = [name for name, process in running.items() if process.poll() is not None]
                if ended:
                    click.echo(f"{', '.join(ended)} ended by itself; stopping the rest", err=True)
                    return 1
            return 0
        finally:
            _end(list(running.values()))


def _started(part: Part) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, so that Ctrl-C reaches it once, through us, and its children with it."""
    home = {"DAGSTER_HOME": str(PROJECT_ROOT), "DAGSTER_DISABLE_TELEMETRY": "1"}
    return subprocess.Popen(part.command, cwd=PROJECT_ROOT, env={**os.environ, **home}, start_new_session=True)  # noqa: S603


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + GRACE_S
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
    for process in processes:  # what is left of each group, children of a process that ended included
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def _stoppable() -> Iterator[list[int]]:
    """Note SIGINT and SIGTERM in a list instead of dying of them; the handlers of before are put back."""
    stopped: list[int] = []
    before = {
        number: signal.signal(number, lambda n, _: stopped.append(n)) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


if __name__ == "__main__":
    up()
