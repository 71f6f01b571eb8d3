"""Approvals of Claude Code sessions: the permission mode in force, and what a person allowed or refused.

What belongs here: `core_approvals` of sessions and of stream output. What does not: how a refused call counts as a
step (claude_code_tools). Seen in 2.0.x to 2.1.220; the meaning is inferred from the texts the program writes.

- A mode stands on user lines (`permissionMode`) and on lines of the type `permission-mode`; only a change is a row.
  bypassPermissions means that nobody is asked, so the calls that follow were approved by no one.
- A refusal is `toolUseResult` "User rejected tool use", a `toolDenialKind` that begins with "user", or the sentence
  the program puts into the result; what the person said stands behind it.
- The only approval that is written down is that of a plan. That a call ran says nothing: a rule may have allowed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.ingest.formats.claude_code_tools import is_rejected
from governance_pipeline.ingest.formats.values import text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.ingest.formats.runs import Run

    Members = Mapping[str, Any]

MODE_LINE: Final = "permission-mode"
MODE_MEMBER: Final = "permissionMode"

_REASON: Final = "the user said:"
_PLAN_TOOL: Final = "exitplanmode"
_PLAN_APPROVED: Final = "User has approved"


class ToolResult(NamedTuple):
    """One result: its block and text, the line with what stands beside it, the tool called (None: unknown)."""

    block: Members
    output: str | None
    line: Members
    tool: str | None
    at: datetime | None


class _Mode(NamedTuple):
    place: Place
    run: Run | None
    session: str | None
    mode: str
    at: datetime | None


def answer_of(result: ToolResult) -> dict[str, Any] | None:
    """Give what a person answered, as columns; None where the result shows no answer."""
    is_plan = (result.tool or "").lower() == _PLAN_TOOL and (result.output or "").startswith(_PLAN_APPROVED)
    if not is_plan and not is_rejected(result.block, result.output, result.line):
        return None
    return {
        "kind": "approved" if is_plan else "rejected",
        "by": "human",
        "call_id": text(result.block.get("tool_use_id")) or text(result.line.get("sourceToolUseID")),
        "result": text(result.line.get("toolDenialKind")),
        "reason": None if is_plan else _reason(result.output),
        "at": result.at,
    }


class Approvals:
    """What the lines of a round say of approvals, in the order they are read."""

    def __init__(self, out: Extraction) -> None:
        self._out = out
        self._modes: list[_Mode] = []
        self._answered: set[str | None] = set()

    def saw_mode(self, place: Place, run: Run | None, session: str | None, line: Members, at: datetime | None) -> None:
        """Take in a line that may name a mode; `run` is None where the line belongs to a session and to no message."""
        mode = text(line.get(MODE_MEMBER))
        if mode is not None:
            self._modes.append(_Mode(place.below(f"/{MODE_MEMBER}"), run, session, mode, at))

    def saw_result(self, place: Place, run: Run, result: ToolResult) -> None:
        """Take in the result of a call: `place` is its block, `run` that of the call, or of its line if none fits.

        A call is answered once: another line with the answer (a fork, a resume) is a copy.
        """
        answer = answer_of(result)
        if answer is None or (answer["call_id"] is not None and answer["call_id"] in self._answered):
            return
        self._answered.add(answer["call_id"])
        place.add(self._out, "core_approvals", run_id=run.run_id, **answer)

    def write(self, main_runs: Mapping[str | None, Run]) -> None:
        """Add the changes of mode; `main_runs` gives the main chain of a session."""
        current: dict[str | None, str] = {}
        for mode in self._modes:
            run = mode.run or main_runs.get(mode.session)
            key = run.run_id if run else mode.session
            if current.get(key) != mode.mode:
                current[key] = mode.mode
                mode.place.add(
                    self._out,
                    "core_approvals",
                    run_id=run.run_id if run else None,
                    kind="mode",
                    result=mode.mode,
                    at=mode.at,
                )


def _reason(output: str | None) -> str | None:
    """Give what the person said, which the program writes behind a sentence of its own."""
    return text((output or "").partition(_REASON)[2].strip())
