"""What a round is made of before it becomes files, and what an expected finding says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from generator.dice import Dice
    from generator.text import Clock

Edit = tuple[str, int, int]
"""Path, lines added, lines deleted."""


@dataclass(frozen=True)
class Project:
    """A repository in which rounds happen; `cohort` None leaves it to project, task kind and language."""

    prefix: str
    name: str
    language: str
    task_kind: str
    cohort: str | None
    include: tuple[str, ...]
    non_goals: tuple[str, ...]
    public: tuple[str, ...]
    key_result: str
    runner: str
    coder: str
    scout: str
    checker: str
    first_round_at: datetime


@dataclass(frozen=True)
class Plan:
    """One round as its author would tell it: `steps` are its change events, `check` the command that proves C1.

    `modules` are (name, glob), `written` are (path, text) where the lines of an edit matter, `orphan` has no parent.
    """

    number: int
    objective: str
    criterion: str
    check: str
    steps: tuple[tuple[Edit, ...], ...]
    kind: str = "native"
    mode: str = "quick"
    baseline_version: str = "1.0.0"
    has_scout: bool = False
    second_criterion: tuple[str, str] | None = None
    goal_substitution: str | None = None
    modules: tuple[tuple[str, str], ...] = ()
    written: tuple[tuple[str, str], ...] = ()
    orphan: bool = False


@dataclass(frozen=True)
class Fault:
    """Rows that show one planted fault: `count` rows of `table` of the round have the values of `where`."""

    round_id: str
    fault: str
    table: str
    where: dict[str, Any]
    count: int
    why: str


@dataclass
class Tally:
    """How many cross-check records of each status the round has; None where the plan cannot say."""

    match: int = 0
    mismatch: int = 0
    unverifiable: int | None = 0


@dataclass
class Draft:
    """A round being written: rows of the native files, other files, and what is expected of them.

    `endings` replaces the last line of a file by bytes as they are; `envelopes` are (verifier, run, session) whose
    statements are made and signed once the files they speak of have their final bytes.
    """

    round_id: str
    project: Project
    plan: Plan
    dice: Dice
    clock: Clock
    contract: str | None = None
    audit: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    evidence: list[dict[str, Any]] = field(default_factory=list)
    declared: list[Any] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    envelopes: list[tuple[str, str, str]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    endings: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    @property
    def run_id(self) -> str:
        """The run that did the work."""
        return f"{self.round_id}-build"

    @property
    def scout_run_id(self) -> str:
        """The run the builder sent to look around."""
        return f"{self.round_id}-scout"

    @property
    def check_run_id(self) -> str:
        """The run that validated the work."""
        return f"{self.round_id}-check"

    def expect(self, fault: str, table: str, where: dict[str, Any], why: str, *, count: int = 1) -> None:
        """Note the rows in which `fault` must show."""
        self.faults.append(Fault(self.round_id, fault, table, where, count, why))
