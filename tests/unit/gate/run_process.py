r"""A program for the kill and race tests: forks one gated run per line on its input, so imports cost once.

A line is `<world>\t<asset>\t<run>\t<root run>\t<when>\t<nth>`, parted by tabs. The run asks the guard, writes and
records that it is done. With `when` before or after it kills itself immediately before or after the nth thing it makes
durable: a commit of the ledger or a rename in the lake. It answers with one line: `killed`, `done <digest>` or `refused
<code>`.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gate_world import HOUR, NOON, World

from governance_pipeline.gate.publication import publish
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.storage import atomic
from governance_pipeline.trust.reasons import Refusal


def die_at(when: str, nth: int) -> None:
    calls = itertools.count(1)

    def wrapped(call):
        def counted(*args, **kwargs):
            is_it = next(calls) == nth
            if is_it and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = call(*args, **kwargs)
            if is_it:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return counted

    Ledger._commit = wrapped(Ledger._commit)
    atomic.os.replace = wrapped(os.replace)


def gated_run(folder: str, asset: str, run: str, root_run: str, when: str, nth: str) -> str:
    world = World(Path(folder))
    if int(nth):
        die_at(when, int(nth))
    try:
        (release,) = world.guard(asset, "r1", run=run, root_run=root_run)
        stored = publish(release, now=lambda: NOON + HOUR)
    except Refusal as refusal:
        return f"refused {refusal.code}"
    return f"done {stored.digest}"


def warm() -> None:
    """Do once what no run should have to import or compile again."""
    with tempfile.TemporaryDirectory() as folder:
        world = World.create(Path(folder) / "w")
        world.make_round()
        world.decide(world.request())
        for asset in ("published_features", "published_round_report"):
            (release,) = world.guard(asset, "r1")
            publish(release, now=lambda: NOON + HOUR)


warm()
sys.stdout.write("ready\n")
sys.stdout.flush()
children: dict[int, int] = {}
for line in sys.stdin:
    if line == "wait\n":
        for child, reader in children.items():
            status = os.waitpid(child, 0)[1]
            with os.fdopen(reader) as stream:
                answer = stream.read()
            sys.stdout.write("killed\n" if os.WIFSIGNALED(status) else answer)
        children.clear()
        sys.stdout.flush()
        continue
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            answer = gated_run(*line.rstrip("\n").split("\t"))
        except BaseException as error:  # noqa: BLE001 - the parent must hear of it
            answer = f"crashed {error!r}"
        os.write(writer, f"{answer}\n".encode())
        os._exit(0)
    os.close(writer)
    children[pid] = reader
