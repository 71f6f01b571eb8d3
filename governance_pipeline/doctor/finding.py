"""What is found: one statement about one thing, how bad it is, and what to do.

What belongs here: the record and the order of its words. What does not: looking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from governance_pipeline.gate.passage import Verifier
    from governance_pipeline.storage.lake import Lake


class Health(StrEnum):
    """How bad a finding is, best first; `off` is not set up, which is nobody's fault."""

    OK = "ok"
    OFF = "off"
    WARN = "warn"
    UNKNOWN = "unknown"
    FAIL = "fail"

    def is_worse(self, other: Health) -> bool:
        """Tell whether this is worse than another."""
        order = tuple(Health)
        return order.index(self) > order.index(other)


class Finding(NamedTuple):
    """One finding: the check, how it stands, what it is about, what was seen, and what to do (None: nothing)."""

    check: str
    health: Health
    subject: str
    message: str
    remedy: str | None = None


class Patient(NamedTuple):
    """What is looked at: the configuration's place, what it opens (None: not usable, or none), lake, project, time."""

    config_path: Path
    is_named: bool
    verifier: Verifier | None
    lake: Lake
    project: Path | None
    now: datetime


Check = Callable[[Patient], Iterator[Finding]]
