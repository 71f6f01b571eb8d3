r"""A program for lock and kill tests: forks one process per line on its input, so that imports cost once.

A line is `<what>\t<project>\t<argument>`, parted by tabs. `hold` holds lock db until it is killed; `die` takes it and
kills itself immediately before the nth system call of it; `race` takes it, adds a line to a file and gives it back; a
racer that finds it held says so. `state`, `checkpoint` and `stage` change one of these files and kill themselves like
`die`. It answers with one line per finished process, and for `hold` with its number at once.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from governance_pipeline.framework.checkpoints import BatchCheckpoints
from governance_pipeline.framework.folder import GovernedFolder
from governance_pipeline.framework.gate_markers import complete_stage
from governance_pipeline.framework.locks import Locks
from governance_pipeline.framework.refusal import FrameworkRefused
from governance_pipeline.framework.state import StateKeeper

CALLS = ("open", "write", "fchmod", "fsync", "replace", "unlink", "mkdir", "link", "rename")


def die_before(nth: int) -> None:
    """Kill this process immediately before the nth of its system calls that change something."""
    calls = itertools.count(1)
    for name in CALLS:
        call = getattr(os, name)

        def counted(*args, call=call, **kwargs):
            if next(calls) == nth:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **kwargs)

        setattr(os, name, counted)


def hold(locks: Locks, _: str) -> str:
    with locks.held("db", "hold"):
        say(str(os.getpid()))
        time.sleep(60)
    return "ended"


def die(locks: Locks, nth: str) -> str:
    die_before(int(nth))
    with locks.held("db", "die"):
        pass
    return "done"


def state(locks: Locks, nth: str) -> str:
    keeper = StateKeeper(GovernedFolder(locks.folder.parent.parent))
    phase = f"phase-{nth}"
    die_before(int(nth))
    keeper.change({"current_phase": phase}, by="writer", reason=phase)
    return "done"


def checkpoint(locks: Locks, nth: str) -> str:
    batches = BatchCheckpoints(GovernedFolder(locks.folder.parent.parent))
    progress = batches.read("load") or batches.begin("load", "run", "a" * 64)
    die_before(int(nth))
    batches.advance(progress, f"unit-{progress.units_done + 1}")
    return "done"


def stage(locks: Locks, nth: str) -> str:
    die_before(int(nth))
    complete_stage(
        GovernedFolder(locks.folder.parent.parent),
        "A",
        run_id=f"run-{nth}",
        by="writer",
        now=datetime.now(UTC),
        outputs=["03_state/current_state.json"],
    )
    return "done"


def race(locks: Locks, folder: str) -> str:
    try:
        with locks.held("db", "race"):
            inside = Path(folder) / "inside"
            descriptor = os.open(inside, os.O_CREAT | os.O_EXCL)  # fails when another racer is inside
            time.sleep(0.002)
            inside.unlink()
            os.close(descriptor)
    except FrameworkRefused as refusal:
        return refusal.code
    return "held"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        group = line.rstrip("\n").split(";")
        children = []
        for what, project, argument in (entry.split("\t") for entry in group):
            pid = os.fork()
            if pid == 0:
                answer = "crashed"
                try:
                    answer = globals()[what](Locks(GovernedFolder(Path(project))), argument)
                except BaseException as error:  # noqa: BLE001 - the parent must hear of it
                    answer = f"crashed {error!r}"
                say(answer)
                os._exit(0)
            children.append((what, pid))
        for what, pid in children:
            status = 0 if what == "hold" else os.waitpid(pid, 0)[1]
            if os.WIFSIGNALED(status):
                say("killed")


if __name__ == "__main__":
    with_start = Locks  # imported before the first fork
    say("ready")
    main()
