"""Do the sensors run: the age of the heartbeats they leave in the lake.

What belongs here: which sensors leave one, and when one is late. What does not: Dagster, which is not asked: a sensor
that is switched off, a daemon that is down and a code location that does not load all look the same here, and all mean
that what people approve is not published.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from governance_pipeline.doctor.finding import Finding, Health
from governance_pipeline.storage.heartbeat import last_beat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.doctor.finding import Patient

SENSORS: Final = {
    "new_rounds": "rounds that arrive are not audited",
    "stale_verdicts": "verdicts of rounds whose cohort changed are not made again",
    "folder_changes": "the governed folder is verified by night only, and verdicts do not follow what it says",
    "decisions": "what people approve is not published",
    "notifications": "nobody is told of requests",
    "dismissals": "verdicts do not follow dismissals",
}
"""Sensors that leave a heartbeat at each tick -> what does not happen without them; a test holds them to Dagster's."""
LATE: Final = timedelta(minutes=5)
"""Five ticks of the slowest of them: longer than any tick may take (60 s, research/hitl.md c 8)."""

_START: Final = "start Dagster with `make up`, and look at its Sensors page"


def sensors_run(patient: Patient) -> Iterator[Finding]:
    """Tell for each sensor when it ticked last."""
    beats = {name: last_beat(patient.lake, name) for name in SENSORS}
    ages = {name: patient.now - beat for name, beat in beats.items() if beat is not None}
    if not ages:
        message = f"no sensor has ever ticked over {patient.lake.root}: Dagster has not run on this lake"
        yield Finding("sensors", Health.WARN, "daemon", message, _START)
        return
    if all(age > LATE for age in ages.values()) and len(ages) == len(SENSORS):
        newest = min(ages.values())
        message = f"the last tick of any sensor was {_words(newest)} ago: the daemon is not running"
        yield Finding("sensors", Health.FAIL, "daemon", message, _START)
        return
    for name, meaning in SENSORS.items():
        age = ages.get(name)
        if age is None:
            yield Finding("sensors", Health.FAIL, name, f"it has never ticked here: {meaning}", _START)
        elif age > LATE:
            yield Finding("sensors", Health.FAIL, name, f"its last tick was {_words(age)} ago: {meaning}", _START)
        elif age < -LATE:
            message = f"its last tick is {_words(-age)} ahead of this clock"
            yield Finding("sensors", Health.WARN, name, message, "set the clocks of both machines")
        else:
            yield Finding("sensors", Health.OK, name, f"it ticked {_words(abs(age))} ago")


def _words(age: timedelta) -> str:
    seconds = int(age.total_seconds())
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
