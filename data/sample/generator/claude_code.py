"""A plan told as a Claude Code session: a sub-agent looks around, the main agent edits, runs the check and reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from generator.claude_session import Chain, session_bytes, text_block
from generator.code_lines import code_lines
from generator.native import add_change, add_evidence

if TYPE_CHECKING:
    from generator.model import Draft, Edit

INLINE_VERSION = "1.0.98"
FILES_VERSION = "2.1.44"


@dataclass
class SubAgent:
    """What a Task result declares of one sub-agent, and what its own lines give."""

    task_line: int
    path: str
    chain: Chain
    declared: dict[str, Any]

    @property
    def computed_tokens(self) -> int:
        """Tokens of its last message."""
        return self.chain.total_tokens

    @property
    def computed_tool_uses(self) -> int:
        """Distinct tool calls."""
        return len(set(self.chain.tool_uses))


@dataclass
class Session:
    """A session being written: the main chain and the sub-agents it has run."""

    draft: Draft
    main: Chain
    sub_agents: list[SubAgent]

    @property
    def path(self) -> str:
        """File of the main chain below the round folder."""
        return f"logs/{self.main.session_id}.jsonl"


def work(draft: Draft, *, sub_agents: int = 0, in_files: bool = False, repeats: int = 0) -> Session:
    """Write the session of a round, with change events and evidence beside it.

    `repeats` writes the last line of each message of the sub-agents that many times more, under the same message id.
    """
    session_id = draft.dice.uuid()
    version = FILES_VERSION if in_files else INLINE_VERSION
    session = Session(draft, Chain(draft, version, session_id, []), [])
    main = session.main
    main.user(f"{draft.plan.objective}. Prove it with `{draft.plan.check}`.")
    for index in range(sub_agents):
        _delegate(session, index, in_files=in_files, repeats=repeats)
    is_bugfix = draft.project.task_kind == "bugfix"
    for number, edits in enumerate(draft.plan.steps, 1):
        for edit in edits:
            _edit(main, edit)
        add_change(draft, number, edits)
        is_last = number == len(draft.plan.steps)
        if is_last or is_bugfix:
            _run_check(main, number, is_passed=is_last)
    main.assistant([text_block(f"Done: {draft.plan.criterion}.")])
    return session


def close(session: Session) -> None:
    """Turn the lines into files and count what the declared totals will be compared with."""
    draft = session.draft
    draft.files[session.path] = session_bytes(session.main.lines)
    for agent in session.sub_agents:
        if agent.path != session.path:
            draft.files[agent.path] = session_bytes(agent.chain.lines)
        pairs = [
            (agent.declared["totalTokens"], agent.computed_tokens),
            (agent.declared["totalToolUseCount"], agent.computed_tool_uses),
        ]
        for declared, computed in pairs:
            if declared == computed:
                draft.tally.match += 1
            else:
                draft.tally.mismatch += 1


def _delegate(session: Session, index: int, *, in_files: bool, repeats: int) -> None:
    main, draft = session.main, session.draft
    path = draft.plan.steps[-1][0][0]
    prompt = f"Part {index + 1}: find every place that depends on {path} and say what would break."
    task_id = main.call("Task", {"subagent_type": "Explore", "description": "Find dependents", "prompt": prompt})
    agent_id = draft.dice.hexadecimal(8) if in_files else None
    lines: list[Any] = [] if in_files else main.lines
    chain = main.sub_agent(lines, agent_id)
    chain.first_at = draft.clock.now
    chain.user(prompt)
    _explore(chain, path, repeats)
    span_ms = int((draft.clock.now - chain.first_at).total_seconds() * 1000)
    answer = [text_block(f"{path} is used in {draft.dice.between(2, 6)} places; none depends on the old result.")]
    draft.clock.tick(draft.dice.between(34, 74))
    details: dict[str, Any] = {"status": "completed", "prompt": prompt, "agentId": agent_id} if in_files else {}
    details |= {
        "content": answer,
        "totalDurationMs": span_ms + draft.dice.between(34, 74),
        "totalTokens": chain.total_tokens,
        "totalToolUseCount": len(chain.tool_uses),
        "usage": dict(chain.usage),
    }
    main.result(task_id, answer, details)
    file = f"logs/{main.session_id}/subagents/agent-{agent_id}.jsonl" if in_files else session.path
    session.sub_agents.append(SubAgent(len(main.lines), file, chain, details))


def _explore(chain: Chain, path: str, repeats: int) -> None:
    draft = chain.draft
    for _ in range(draft.dice.between(2, 4)):
        say = "Looking for callers." if repeats else None
        word = PurePosixPath(path).stem
        call_id = chain.call("Grep", {"pattern": word, "output_mode": "files_with_matches"}, say=say, repeats=repeats)
        count = draft.dice.between(1, 5)
        chain.result(
            call_id, f"Found {count} files", {"mode": "files_with_matches", "numFiles": count, "filenames": []}
        )
    final = [text_block("Reading is finished."), text_block(f"Nothing outside {path} relies on the old result.")]
    chain.assistant(final if repeats else final[1:], repeats)


def _edit(chain: Chain, edit: Edit) -> None:
    path, added, deleted = edit
    draft = chain.draft
    full = f"/srv/projects/{draft.project.prefix}/{path}"
    literal = dict(draft.plan.written).get(path)
    new = [literal] if literal else code_lines(draft.dice, path, added)
    if not deleted and not literal:
        content = "\n".join(new) + "\n"
        call_id = chain.call("Write", {"file_path": full, "content": content})
        details = {"type": "create", "filePath": full, "content": content, "structuredPatch": []}
        chain.result(call_id, f"File created successfully at: {full}", details)
        return
    replace(chain, path, code_lines(draft.dice, path, deleted), new)


def replace(chain: Chain, path: str, old: list[str], new: list[str]) -> None:
    """Append an Edit that replaces `old` by `new` below one line that stays, and its result."""
    draft = chain.draft
    full = f"/srv/projects/{draft.project.prefix}/{path}"
    anchor = "# below: as agreed" if path.endswith(".py") else "-- below: as agreed"
    arguments = {
        "file_path": full,
        "old_string": "\n".join([anchor, *old]),
        "new_string": "\n".join([anchor, *new]),
    }
    call_id = chain.call("Edit", arguments)
    start = draft.dice.between(8, 180)
    hunk = {
        "oldStart": start,
        "oldLines": 1 + len(old),
        "newStart": start,
        "newLines": 1 + len(new),
        "lines": [f" {anchor}", *(f"-{line}" for line in old), *(f"+{line}" for line in new)],
    }
    details = {
        "filePath": full,
        "oldString": arguments["old_string"],
        "newString": arguments["new_string"],
        "structuredPatch": [hunk],
        "userModified": False,
        "replaceAll": False,
    }
    chain.result(call_id, f"The file {full} has been updated.", details)


def _run_check(chain: Chain, number: int, *, is_passed: bool) -> None:
    draft = chain.draft
    call_id = chain.call("Bash", {"command": draft.plan.check, "description": "Run the check of the round"})
    passed = draft.dice.between(11, 40)
    output = f"{passed} passed in 1.{draft.dice.between(10, 99)}s"
    if is_passed:
        details: Any = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        chain.result(call_id, output, details)
    else:
        output = f"1 failed, {output}"
        chain.result(call_id, f"Exit code 1\n{output}", f"Error: Exit code 1\n{output}", is_error=True)
    add_evidence(draft, number, "C1", draft.plan.check, output, is_passed=is_passed)
