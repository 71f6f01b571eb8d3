"""Reads rounds nobody can trust and says which of them broke a promise: a crash, a lost line, a broken contract, a hang.

Loaded by path from the tests that use it (`mutants` makes the rounds).
"""

from __future__ import annotations

import signal
import traceback
from contextlib import contextmanager
from itertools import count

from governance_pipeline.ingest.layout import FoundFile
from governance_pipeline.ingest.round import read_files
from governance_pipeline.pipeline import run_in_memory
from governance_pipeline.storage.scratch import ScratchStore

HANG_S = 60
"""Seconds after which a round of a few kilobytes hangs; the slowest ones take milliseconds."""
PARTS = ["accepted", "quarantined", "blank", "duplicates"]


@contextmanager
def no_hang(seconds=HANG_S):
    """Raise TimeoutError where the block takes longer; the alarm of the process is given back after it."""

    def expired(*_):
        raise TimeoutError(f"nothing came of it in {seconds} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Bench:
    """Reads rounds below a folder; each file gets a place of its own, so names of mutants never reach the disk."""

    def __init__(self, folder):
        self._folder = folder
        self._store = ScratchStore(folder / "store")
        self._numbers = count()
        (folder / "sources").mkdir(parents=True)

    def read(self, files, round_id):
        found = []
        for path, data in files.items():
            source = self._folder / "sources" / str(next(self._numbers))
            source.write_bytes(data)
            found.append(FoundFile(path, source, len(data), None))
        return read_files(found, round_id, self._store)

    def faults(self, rounds):
        """Give what broke, by the name of the round; `rounds` is round id -> files."""
        found, read = {}, []
        for round_id, files in rounds.items():
            try:
                with no_hang():
                    tables = self.read(files, round_id)
                    lost = lost_in(tables, files)
            except Exception as error:  # noqa: BLE001 - any of them is what is looked for
                lost = said(error)
            if lost:
                found[round_id] = lost
            else:
                read.append(tables)
        return found | _broken_tables(read)


def lost_in(tables, files):
    """Say what of a round is not accounted for; empty when everything is."""
    rows = tables.frame("raw_log_files")
    if sorted(rows["path"]) != sorted(files):
        return f"files {sorted(files)} became {sorted(rows['path'])}"
    if not (rows["lines_in"] == rows[PARTS].sum(axis=1)).all():
        return f"an account does not balance: {rows[['path', 'lines_in', *PARTS]].to_dict('records')}"
    whole = tables.frame("raw_quarantine")["disposition"] != "repeated_part"
    if rows["quarantined"].sum() + rows["duplicates"].sum() != whole.sum():
        return "not every record that was taken out has a row"
    for row in tables.rows("raw_log_files"):
        data = files[row["path"]]
        lines = data.count(b"\n") + bool(data and not data.endswith(b"\n"))
        if row["record_unit"] == "line" and row["lines_in"] not in (lines, lines - (data == b"\xef\xbb\xbf")):
            return f"{row['path']} has {lines} lines and {row['lines_in']} were counted"
    return ""


def _broken_tables(read):
    """Make every table of some rounds, each held to its contract; gives what broke by round, found by halving."""
    try:
        with no_hang(HANG_S * 5):
            run_in_memory(read)
    except Exception as error:  # noqa: BLE001 - as above
        if len(read) == 1:
            return {read[0].round_id: said(error)}
        middle = len(read) // 2
        apart = _broken_tables(read[:middle]) | _broken_tables(read[middle:])
        return apart or {"several rounds together": said(error)}
    return {}


def said(error):
    at = [frame for frame in traceback.extract_tb(error.__traceback__) if "governance_pipeline" in frame.filename]
    return f"{type(error).__name__} at {at[-1].filename}:{at[-1].lineno}: {error}" if at else repr(error)
