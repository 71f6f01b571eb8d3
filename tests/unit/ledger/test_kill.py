"""A writer killed at any moment leaves the old or the new state, and what it acknowledged."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

from governance_pipeline.ledger.ledger import Ledger

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from governance_pipeline.ledger.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]))
while True:
    event = ledger.append("NOTE", "writer", {"text": "x" * 300}, ts=datetime(2026, 11, 30, 12, tzinfo=UTC))
    print(event.seq, flush=True)
"""


def _acknowledged(path, wait_s: float) -> int:
    """Run a writer, kill it `wait_s` after its first acknowledgement, and give the last one it made."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        first = writer.stdout.readline()
        time.sleep(wait_s)
    finally:
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
    lines = [line for line in (first + rest).split("\n")[:-1] if line]
    return int(lines[-1])


def test_no_acknowledged_event_is_lost_when_the_writer_is_killed(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    dice = random.Random(20261130)
    for _ in range(4):
        acknowledged = _acknowledged(ledger.path, dice.uniform(0, 0.15))
        assert ledger.size() >= acknowledged
        assert ledger.verify() == []
        assert ledger.append("NOTE", "test", {}, ts=datetime(2026, 11, 30, tzinfo=UTC)).seq == ledger.size()
