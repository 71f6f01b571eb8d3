"""Tools of Claude Code: how a call ended, and what it did to files.

What belongs here: the meaning of a tool's input and result. What does not: finding them (claude_code_threads). Tools
are renamed between versions (Task is Agent since 2.1, KillBash KillShell, MultiEdit is gone), so an edit is known by
its self-describing result (`filePath` with `structuredPatch`) first, and by its name only where an old log has no
such result. A tool that is on no list here may have changed anything: its steps count as opaque.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.change_facts.edit import Edit, all_swapped, signed, swapped, written
from governance_pipeline.ingest.formats.edits import UNKNOWN, LineCounts, created, hunk_lines, replaced, total
from governance_pipeline.ingest.formats.runs import ERROR, OK, REJECTED, Change
from governance_pipeline.ingest.formats.shell import may_change_files
from governance_pipeline.ingest.formats.values import entries, exit_code, members, seconds, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.formats.runs import Step

    Members = Mapping[str, Any]

SHELLS: Final = frozenset({"bash"})
EDITS: Final = frozenset({"write", "edit", "multiedit", "notebookedit"})
HARMLESS: Final = frozenset(
    """read glob grep ls notebookread todoread todowrite webfetch websearch task agent taskoutput agentoutputtool
    bashoutput killbash killshell taskstop taskcreate taskget tasklist taskupdate askuserquestion enterplanmode
    exitplanmode toolsearch listmcpresourcestool readmcpresourcetool""".split()  # noqa: SIM905 - a list of words
)
"""Tools that change no file themselves, lower case; what a sub-agent does is in its own run."""

_REJECTIONS: Final = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
_EXIT_CODE: Final = re.compile(r"(?:Error: )?Exit code (\d{1,5})\b", re.ASCII)
_CREATED: Final = "File created successfully"


def finish(step: Step, call: Members, block: Members, output: str | None, line: Members) -> None:
    """Complete a step with its `tool_result` block; `line` carries the structured result when it has one result."""
    result = line.get("toolUseResult")
    step.status = _status(block, output, line)
    step.exit_code = _exit_code(result, output)
    report = members(result)
    step.duration_s = seconds(report.get("durationMs", report.get("totalDurationMs")), per_second=1000)
    if step.duration_s is None:
        step.duration_s = seconds(report.get("durationSeconds"))
    if step.status == OK:
        change = _change(step, call, report, output)
        step.changes = [] if change is None else [change]


def is_opaque(step: Step) -> bool:
    """Tell whether nobody can know what a step did to files: a shell command, an edit without result, a new tool."""
    name = (step.tool or "").lower()
    if step.status == REJECTED or step.changes or name in HARMLESS:
        return False
    if name in SHELLS:
        return may_change_files(step.command)
    return step.status is None if name in EDITS else True


def is_rejected(block: Members, output: str | None, line: Members) -> bool:
    """Tell a call a person refused from one that failed."""
    return block.get("is_error") is True and (
        line.get("toolUseResult") == "User rejected tool use"
        or (text(line.get("toolDenialKind")) or "").startswith("user")
        or (output or "").startswith(_REJECTIONS)
    )


def _status(block: Members, output: str | None, line: Members) -> str:
    if block.get("is_error") is not True:
        return OK
    return REJECTED if is_rejected(block, output, line) else ERROR


def _exit_code(result: Any, output: str | None) -> int | None:
    code = exit_code(members(result).get("exitCode"))
    match = None if code is not None else _EXIT_CODE.match(text(result) or output or "")
    return int(match[1]) if match else code


def _change(step: Step, call: Members, result: Members, output: str | None) -> Change | None:
    path = text(result.get("filePath"))
    if path is not None and isinstance(result.get("structuredPatch"), list):
        return Change(path, _by_result(call, result), step.tool, edit=_shown(call, result))
    path = text(call.get("file_path")) or text(call.get("notebook_path"))
    if path is None or (step.tool or "").lower() not in EDITS:
        return None
    return Change(path, _by_input(call, output), step.tool, edit=_given(call, output))


def _shown(call: Members, result: Members) -> Edit | None:
    """Tell what a structured result shows: the file before the edit, where its version keeps it, and the hunks."""
    content = result.get("content")
    before = text(result.get("originalFile")) or text(result.get("originalFileContents"))
    if result.get("type") == "create" and isinstance(content, str):
        return written(content, is_created=True)
    if isinstance(content, str):
        return written(content, before)
    if before is not None and isinstance(call.get("new_string"), str):
        return swapped(call.get("old_string") or "", call["new_string"], before, is_everywhere=_is_everywhere(call))
    hunks = [entries(members(hunk).get("lines")) for hunk in entries(result.get("structuredPatch"))]
    if hunks:
        return Edit(parts=tuple(signed([line for line in lines if isinstance(line, str)]) for lines in hunks))
    return _given(call, None)


def _given(call: Members, output: str | None) -> Edit | None:
    """Tell what the input of a call shows."""
    content, edits = call.get("content"), call.get("edits")
    if isinstance(content, str):
        return written(content, is_created=(output or "").startswith(_CREATED))
    pairs = [members(edit) for edit in edits] if isinstance(edits, list) else [call]
    texts = [(edit.get("old_string"), edit.get("new_string")) for edit in pairs]
    known = [(old, new) for old, new in texts if isinstance(old, str) and isinstance(new, str)]
    if not known or len(known) != len(texts):
        return None
    return swapped(*known[0], is_everywhere=_is_everywhere(call)) if len(known) == 1 else all_swapped(known)


def _is_everywhere(call: Members) -> bool:
    return call.get("replace_all") is True


def _by_result(call: Members, result: Members) -> LineCounts:
    content = result.get("content")
    if result.get("type") == "create" and isinstance(content, str):
        return created(content)
    hunks = entries(result.get("structuredPatch"))
    if not hunks and isinstance(call.get("new_string"), str):
        return _replacement(call)
    return total([hunk_lines(entries(members(hunk).get("lines"))) for hunk in hunks])


def _by_input(call: Members, output: str | None) -> LineCounts:
    content = call.get("content")
    if isinstance(content, str):  # what the file held before is known only when there was none
        return created(content) if (output or "").startswith(_CREATED) else UNKNOWN
    edits = call.get("edits")
    if isinstance(edits, list):
        return total([_replacement(members(edit)) for edit in edits])
    return _replacement(call)


def _replacement(edit: Members) -> LineCounts:
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str) or edit.get("replace_all") is True:
        return UNKNOWN
    return replaced(old, new)
