"""Threads of Claude Code sessions: the main chain of a session and each sub-agent is one run.

What belongs here: which run a line belongs to, and what is remembered of a run. What does not: tools, and the totals
a sub-agent's result declares (claude_code_tasks).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.formats.claude_code_lines import SYNTHETIC, session_of, text_of, thinking_of
from governance_pipeline.ingest.formats.places import Place
from governance_pipeline.ingest.formats.runs import Run, RunNames
from governance_pipeline.ingest.formats.values import members, text
from governance_pipeline.rounds.paths import below

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.usage import Tokens
    from governance_pipeline.ingest.logfile import LogFile, Record

    Members = Mapping[str, Any]

NAME: Final = "claude_code"
AGENT_PREFIX: Final = "agent-"


def outer(session: str | None, agent: str | None) -> str | None:
    """Give the folder whose paths a sub-agent's are told from: its session's, unless it works elsewhere.

    A session that moved into a folder starts its sub-agents there, and their files are still those of one project.
    """
    if session is None or agent is None:
        return session or agent
    return session if below(agent, session) != agent else agent


class LastCall(NamedTuple):
    """The last API call of a run: its message, where its usage stands, what was written there, and the counts."""

    message_id: str | None
    place: Place
    usage: Members
    tokens: Tokens


@dataclass
class Thread:
    """A run, what ties a sub-agent to the result its parent got, and the session a fork copied its first lines from."""

    run: Run
    session: str | None
    agent: str | None
    is_sub_agent: bool
    prompt: str | None = None
    last_text: str | None = None
    forked_from: str | None = None
    last_call: LastCall | None = None
    calls: list[tuple[Place, Any]] = field(default_factory=list)
    files: set[str] = field(default_factory=set)

    def heard(self, line: Members) -> None:
        """Take in a user message: the first one is what a sub-agent was asked."""
        content = text_of(members(line.get("message")).get("content"))
        if self.prompt is None:
            self.prompt = content
        self.run.thinking = self.run.thinking or thinking_of(line)

    def said(self, line: Members) -> None:
        """Take in an assistant message."""
        message = members(line.get("message"))
        self.last_text = text_of(message.get("content")) or self.last_text
        model = text(message.get("model"))
        self.run.used(model if model != SYNTHETIC else None)
        self.run.thinking = self.run.thinking or thinking_of(line)

    def called(self, call: LastCall) -> None:
        """Take in a usage report: of the repetitions of one call the one with the most output tokens."""
        last = self.last_call
        is_repetition = last is not None and call.message_id is not None and last.message_id == call.message_id
        if last is None or not is_repetition or (call.tokens.output or 0) >= (last.tokens.output or 0):
            self.last_call = call


class Threads:
    """All threads of a round, made as their lines appear."""

    def __init__(self, out: Extraction) -> None:
        self._names = RunNames(out)
        self._threads: dict[tuple[str, str], Thread] = {}
        self._roots: dict[str, str] = {}

    def __iter__(self) -> Any:
        """Give the threads in the order of their first line."""
        return iter(self._threads.values())

    def main_runs(self) -> dict[str | None, Run]:
        """Give the main chain of each session."""
        return {thread.session: thread.run for thread in self._threads.values() if not thread.is_sub_agent}

    def root(self, line: Members) -> str:
        """Give the first line of the sidechain a line belongs to; empty on the main chain.

        Must see every line once, in order: a chain runs over lines of all types. A compaction cuts `parentUuid`, not
        the chain.
        """
        if line.get("isSidechain") is not True:
            return ""
        uuid = text(line.get("uuid")) or ""
        parent = text(line.get("parentUuid")) or text(line.get("logicalParentUuid")) or ""
        root = self._roots.get(parent, uuid)
        self._roots[uuid] = root
        return root

    def of(self, file: LogFile, record: Record, line: Members, root: str, agent: str | None = None) -> Thread:
        """Give the thread of a line, `root` being its sidechain and `agent` the agent it is of."""
        session = session_of(line)
        agent = agent or text(line.get("agentId"))
        part = agent or root
        key = (session or file.path, part)
        thread = self._threads.get(key)
        if thread is None:
            thread = self._threads[key] = self._new(file, record, line, key, agent)
        thread.files.add(file.path)
        return thread

    def _new(self, file: LogFile, record: Record, line: Members, key: tuple[str, str], agent: str | None) -> Thread:
        session, version = session_of(line), text(line.get("version"))
        run = Run(
            run_id=self._names.claim("/".join(part for part in key if part), file.path),
            format=NAME,
            place=Place.of(file, record),
            session_id=session,
            agent_id=agent,
            platform=None if version is None else f"claude-code {version}",
        )
        return Thread(run, session, agent, is_sub_agent=bool(key[1]))

    def adopt(self) -> None:
        """Give sub-agents without a known parent the main chain of the session they name.

        A sub-agent's file carries the session of its parent. When that session is not in the round its id is still
        what the log says. A sub-agent that names itself as its session (old fixtures do) has no known parent.
        """
        for thread in self._threads.values():
            main = self._main_of(thread)
            if main is not None:
                thread.run.working_dir = outer(main.run.working_dir, thread.run.working_dir)
            if not thread.is_sub_agent or thread.run.parent_run_id is not None:
                continue
            if main is not None:
                thread.run.parent_run_id = main.run.run_id
            elif thread.session != f"{AGENT_PREFIX}{thread.agent}":
                thread.run.parent_run_id = thread.session
        self._adopt_forks()

    def _main_of(self, thread: Thread) -> Thread | None:
        return self._threads.get((thread.session or thread.run.place.file.path, ""))

    def _adopt_forks(self) -> None:
        """Give a session that copied lines of another one that session as its parent, never in a circle."""
        mains = {thread.session: thread for thread in self._threads.values() if not thread.is_sub_agent}
        for thread in mains.values():
            origin = mains.get(thread.forked_from) if thread.forked_from else None
            above, passed = origin, {id(thread)}
            while above is not None and id(above) not in passed:
                passed.add(id(above))
                above = mains.get(above.forked_from) if above.forked_from else None
            if origin is not None and above is None:
                thread.run.parent_run_id = origin.run.run_id
