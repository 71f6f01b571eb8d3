"""A store of a million recorded events: `status`, one more event, and a late one (bench/confidence.py --store).

What belongs here: making the store, and asking it. What does not: the sides of the fold. The store is made by
`EventStore.take`, as an import is; each question opens it anew in a process of its own. Days are sealed by nobody and
three events in four carry evidence: the largest saved state so many events can leave.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from sides import Side, judge

STATUS = """
import sys
from pathlib import Path
from governance_pipeline.confidence.store import EventStore
from governance_pipeline.confidence.status import status_document
store = EventStore(Path(sys.argv[1]))
def work():
    standing = store.standing()
    return status_document(standing.folded.state, standing.registry, 740000)["subjects"][0]["global"]
timed(work)
"""
RECORD = """
import sys, time
from pathlib import Path
from governance_pipeline.confidence.store import EventStore
store, number = EventStore(Path(sys.argv[1])), [0]
def work():
    number[0] += 1
    name = f"{sys.argv[2][:10]}-{time.time_ns()}-{number[0]}"
    value = {"schema": "govern/confidence-event/v1", "event_id": name, "event_type": "correct", "ts": sys.argv[2],
             "day": sys.argv[2][:10], "session_id": "s", "role": "agent", "subject_id": "a1", "runtime": "a/b/c",
             "domain": "TECH"}
    return store.append(value).is_new
timed(work)
"""
START = 738000


def measured(events: int) -> list[bool]:
    """Make the store, ask it, and judge the answers."""
    from datetime import date

    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        _made(Path(folder), events)
        print(f"{events} events recorded in {time.perf_counter() - begin:.1f} s")
        at = {part: date.fromordinal(START + int(365 * part)).isoformat() + "T23:59:59Z" for part in (0.5, 0.99, 1.1)}
        sides = [Side("status", STATUS, [folder])]
        sides += [Side(f"an event at {part:g} of the time", RECORD, [folder, ts]) for part, ts in reversed(at.items())]
        for side in sides:
            side.run()
            print(f"{side.name:34} {side.median:8.2f} s  {side.megabytes:6.0f} MB  {side.answer}", flush=True)
        return [
            judge("status, seconds", sides[0].median, 1, at_least=False),
            judge("recording one more event, seconds", sides[1].median, 2, at_least=False),
        ]


def _made(folder: Path, events: int) -> None:
    import random
    from datetime import date

    from governance_pipeline.confidence.store import EventStore
    from governance_pipeline.confidence.terms import Domain

    draw, domains = random.Random(20260101), list(Domain)
    store = EventStore.create(folder)
    store.register({"pools": ["a/b/c"], "subjects": [{"role": "agent", "subject_id": f"a{n}"} for n in range(50)]})

    def event(number: int) -> dict:
        day = date.fromordinal(START + number * 365 // events).isoformat()
        second = number * 86_399 // events
        value = {
            "schema": "govern/confidence-event/v1", "event_id": f"e{number:08}", "day": day,
            "role": "agent",
            "ts": f"{day}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z", "runtime": "a/b/c",
            "session_id": f"s{number // 40}", "subject_id": f"a{draw.randrange(50)}", "domain": draw.choice(domains),
        }  # fmt: skip
        if draw.randrange(4):
            return {**value, "event_type": "correct", "trigger": "auto-score", "evidence": f"finding/{number}"}
        return {**value, "event_type": "error", "severity": draw.choice(["mild", "medium", "severe"])}

    for first in range(0, events, 100_000):
        store.take([event(number) for number in range(first, min(first + 100_000, events))])


if __name__ == "__main__":
    sys.exit(not all(measured(1_000_000)))
