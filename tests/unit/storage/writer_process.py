"""A program for the kill tests: forks one writer per line on its input and prints its pid, so imports cost once.

A line is `<root> <first run> <count> <nth>`, parted by tabs. The writer puts frames whose run is `run-<first>`,
`run-<first + 1>` … into one round of one table: `count` of them, 0 for ever. With `nth` > 0 it kills itself
immediately before the nth system call of its writes. Contracts are not checked: the frames are known to be sound, and
the time between kills is better spent writing.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import signal
import sys
import tempfile
from pathlib import Path

from governance_pipeline.storage import atomic, lake

spec = importlib.util.spec_from_file_location("storage_conftest", Path(__file__).with_name("conftest.py"))
conftest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(conftest)
lake.validate = lambda *_, **__: None
with tempfile.TemporaryDirectory() as warm:  # what a first put imports, no writer imports again
    lake.Lake(Path(warm)).put("core_usage", "r1", conftest.make_usage())


def die_before(nth: int) -> None:
    calls = itertools.count(1)
    for name in ("open", "write", "fchmod", "fsync", "replace", "mkdir", "unlink"):
        call = getattr(os, name)

        def counted(*args, call=call, **kwargs):
            if next(calls) == nth:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **kwargs)

        setattr(atomic.os, name, counted)


def write(root: str, first: int, count: int, nth: int) -> None:
    table = lake.Lake(Path(root))
    for number in itertools.islice(itertools.count(first), count or None):
        frame = conftest.make_usage(run_id=f"run-{number}")
        if nth:
            die_before(nth)
        table.put("core_usage", "r1", frame)


def answer(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


for line in sys.stdin:
    folder, *numbers = line.split("\t")
    pid = os.fork()
    if pid == 0:
        try:
            write(folder, *map(int, numbers))
        finally:
            os._exit(0)
    answer(pid)
    if numbers[1] == "0" or int(numbers[2]):
        answer(os.waitpid(pid, 0)[1])
