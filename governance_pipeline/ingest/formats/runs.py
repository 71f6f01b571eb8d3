"""Runs and their steps while a log is read, and the rows they become.

What belongs here: `core_runs`, `core_steps`, `core_file_changes` and `core_change_facts` of any foreign log. What does
not: how one format writes a step. A step is kept open until its result has been read, which may stand many lines or a
file later.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from governance_pipeline.ingest.change_facts.edit import Contents
from governance_pipeline.ingest.change_facts.rows import fact_columns
from governance_pipeline.rounds.paths import below, is_absolute

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from governance_pipeline.ingest.change_facts.edit import Edit
    from governance_pipeline.ingest.change_facts.fact import ChangeFact
    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.edits import LineCounts
    from governance_pipeline.ingest.formats.places import Place

OK, ERROR, REJECTED = "ok", "error", "rejected"


@dataclass
class Change:
    """One file a step changed.

    `place` is where that stands when not in the step itself; `edit` what the log shows of the content, `facts` what it
    says of it instead (a history that was read with its contents).
    """

    file_path: str
    counts: LineCounts
    tool: str | None
    place: Place | None = None
    edit: Edit | None = None
    facts: tuple[ChangeFact, ...] | None = None


@dataclass
class Step:
    """One tool call; what the log does not say stays None. `is_opaque`: what it did to files cannot be known."""

    place: Place
    tool: str | None = None
    call_id: str | None = None
    command: str | None = None
    agent_id: str | None = None
    at: datetime | None = None
    exit_code: int | None = None
    status: str | None = None
    duration_s: float | None = None
    output_sha256: str | None = None
    self_reported_status: str | None = None
    is_opaque: bool = False
    changes: list[Change] = field(default_factory=list)


@dataclass
class Run:
    """One agent session; `place` is where it begins, `working_dir` the folder the log says it was started in."""

    run_id: str
    format: str
    place: Place
    session_id: str | None = None
    parent_run_id: str | None = None
    agent_id: str | None = None
    platform: str | None = None
    thinking: str | None = None
    exit_status: str | None = None
    self_reported_status: str | None = None
    is_replay: bool | None = None
    working_dir: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    models: dict[str, None] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def saw(self, time: datetime | None) -> None:
        """Widen the span of the run to a time an event of it carries."""
        if time is not None:
            self.started_at = time if self.started_at is None else min(self.started_at, time)
            self.ended_at = time if self.ended_at is None else max(self.ended_at, time)

    def used(self, model: str | None) -> None:
        """Note a model the log names; several are listed in the order of their first use."""
        if model is not None:
            self.models.setdefault(model)

    def works_in(self, folder: str | None) -> None:
        """Note the folder the run works in: the first absolute one the log states, whatever it moves to later."""
        if self.working_dir is None and folder is not None and is_absolute(folder):
            self.working_dir = folder

    def changed_at_the_end(self, changes: list[Change]) -> None:
        """Count the final patch as a change of the last step, unless edit steps are known to have changed files.

        A patch repeats what the edits did, so both together would count it twice. Edits come first because they
        have a step each and also show what was taken back later. A run without steps has none to carry the patch.
        """
        if self.steps and not any(step.changes for step in self.steps):
            self.steps[-1].changes = changes

    def write(self, out: Extraction) -> None:
        """Add the rows of the run.

        A changed file below the folder the run works in has its path from there: scopes, modules and earlier rounds
        speak of a project by such paths, and a file has one name however the agent spells it.
        """
        if self.working_dir is not None:
            for change in (change for step in self.steps for change in step.changes):
                self._from_working_dir(change)
        self.place.add(
            out,
            "core_runs",
            run_id=self.run_id,
            parent_run_id=self.parent_run_id,
            session_id=self.session_id,
            agent_id=self.agent_id,
            format=self.format,
            platform=self.platform,
            model_id=", ".join(self.models) or None,
            thinking=self.thinking,
            started_at=self.started_at,
            ended_at=self.ended_at,
            exit_status=self.exit_status,
            self_reported_status=self.self_reported_status,
            is_replay=self.is_replay,
            opaque_step_count=sum(step.is_opaque for step in self.steps),
        )
        contents = Contents()
        for index, step in enumerate(self.steps, 1):
            self._write_step(out, index, step)
            if step.is_opaque:
                contents.ran(step.command)
            for position, change in enumerate(step.changes, 1):
                found = contents.facts(change.file_path, change.edit) if change.facts is None else change.facts
                self._write_facts(out, index, position, change, (change.place or step.place, found))

    def _from_working_dir(self, change: Change) -> None:
        change.file_path = below(change.file_path, self.working_dir)
        if change.edit is not None and change.edit.before_path is not None:
            change.edit = replace(change.edit, before_path=below(change.edit.before_path, self.working_dir))

    def _write_facts(
        self, out: Extraction, index: int, position: int, change: Change, found: tuple[Place, Iterable[ChangeFact]]
    ) -> None:
        place, facts = found
        for number, fact in enumerate(facts, 1):
            place.add(
                out,
                "core_change_facts",
                origin="log",
                run_id=self.run_id,
                step_index=index,
                change_index=position,
                fact_index=number,
                file_path=change.file_path,
                **fact_columns(fact),
            )

    def _write_step(self, out: Extraction, index: int, step: Step) -> None:
        step.place.add(
            out,
            "core_steps",
            run_id=self.run_id,
            step_index=index,
            call_id=step.call_id,
            agent_id=step.agent_id or self.agent_id,
            tool=step.tool,
            command=step.command,
            exit_code=step.exit_code,
            status=step.status,
            at=step.at,
            duration_s=step.duration_s,
            output_result_sha256=step.output_sha256,
            self_reported_status=step.self_reported_status,
        )
        for position, change in enumerate(step.changes, 1):
            (change.place or step.place).add(
                out,
                "core_file_changes",
                origin="log",
                run_id=self.run_id,
                step_index=index,
                change_index=position,
                file_path=change.file_path,
                added_count=change.counts.added,
                deleted_count=change.counts.deleted,
                tool=change.tool,
            )


class RunNames:
    """Run ids of a round, each given once: two logs may name the same session, and a table holds a run once."""

    def __init__(self, out: Extraction) -> None:
        self._taken: set[str] = set(out.frame("core_runs")["run_id"])
        self._copies: dict[str, int] = {}  # where to go on counting: a file may name one run a hundred thousand times

    def claim(self, wanted: str, path: str) -> str:
        """Give the id a log uses; when it is taken, that and the file it comes from."""
        name, copy = wanted, f"{wanted}@{path}"
        while name in self._taken:
            count = self._copies[copy] = self._copies.get(copy, 0) + 1
            name = copy if count == 1 else f"{copy}~{count}"
        self._taken.add(name)
        return name
