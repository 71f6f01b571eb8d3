"""Tools of OpenHands: how a call ended, and what it did to files.

What belongs here: the meaning of tool names, observations and edit reports of all generations. What does not: finding
them. Tools were renamed between generations (execute_bash is terminal, str_replace_editor is file_editor in SDK v1);
what is on no list may have changed anything and makes its step opaque.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.ingest.change_facts.edit import Edit, all_swapped, written
from governance_pipeline.ingest.formats.edits import UNKNOWN, LineCounts, created, patch_files, replaced, total
from governance_pipeline.ingest.formats.runs import ERROR, OK, REJECTED, Change
from governance_pipeline.ingest.formats.shell import may_change_files
from governance_pipeline.ingest.formats.values import exit_code, members, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.formats.runs import Step

    Members = Mapping[str, Any]

SHELLS: Final = frozenset({"run", "terminal", "execute_bash", "bash"})
EDITORS: Final = frozenset({"edit", "write", "file_editor", "str_replace_editor", "planning_file_editor", "write_file"})
HARMLESS: Final = frozenset(
    """read think finish reject delegate task task_tracker task_tracking browse browse_interactive glob grep read_file
    list_directory""".split()  # noqa: SIM905 - a list of words
)
"""Tools that change no file themselves; what a delegate does are its own events."""

_FAILED: Final = "ERROR"
_VIEW: Final = "view"


def exit_code_of(report: Members) -> int | None:
    """Give the exit code of a command: in `metadata` since 2025, beside the output before; -1 is none."""
    metadata = members(report.get("metadata"))
    return exit_code(metadata.get("exit_code", report.get("exit_code")))


def event_status(kind: str | None, event: Members, content: str | None, code: int | None) -> str | None:
    """Tell how a call of the event stream ended, from its observation."""
    if kind == "user_rejected":
        return REJECTED
    if kind == "error" or event.get("success") is False or (content or "").startswith(_FAILED):
        return ERROR
    if kind == "run" and event.get("success") is not True:
        return None if code is None else OK if code == 0 else ERROR
    return OK


def edit_of(tool: str | None, report: Members, path: str | None) -> Change | None:
    """Give the change an editor reports; None when it names no file.

    The texts before and after are the whole file or just the replaced part, depending on version and command; their
    line diff is the same. A report without the text before is of new lines only: a new file, or an insertion.
    """
    path = text(report.get("path")) or text(report.get("file_path")) or path
    return None if path is None else Change(path, _counts(report), tool, edit=_edit(report))


def _edit(report: Members) -> Edit | None:
    """Tell what a report shows; texts before and after may be a part of the file, so they are taken for one."""
    old, new, diff = report.get("old_content"), report.get("new_content"), report.get("diff")
    is_new = report.get("prev_exist") is False or report.get("is_new_file") is True
    if isinstance(new, str) and old is None and is_new:
        return written(new, is_created=True)
    if isinstance(new, str) and isinstance(old, str):
        return all_swapped([(old, new)])
    files = patch_files(diff) if isinstance(diff, str) else []
    return files[0].edit if len(files) == 1 else None


def _counts(report: Members) -> LineCounts:
    old, new, diff = report.get("old_content"), report.get("new_content"), report.get("diff")
    if isinstance(new, str) and isinstance(old, str):
        return replaced(old, new)
    is_new = report.get("prev_exist") is False or report.get("is_new_file") is True
    if isinstance(new, str) and old is None and is_new:
        return created(new)
    files = patch_files(diff) if isinstance(diff, str) else []
    return total([file.counts for file in files]) if files else UNKNOWN


def is_opaque(step: Step, kind: str, arguments: Members) -> bool:
    """Tell whether nobody can know what a step did to files; `kind` is the action or tool it is of."""
    if step.status == REJECTED or step.changes or kind in HARMLESS or kind.startswith("browser"):
        return False
    if kind in SHELLS:
        return may_change_files(step.command)
    if kind in EDITORS:
        return arguments.get("command") != _VIEW and step.status != ERROR
    return True
