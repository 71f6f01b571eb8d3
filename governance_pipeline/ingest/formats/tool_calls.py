"""Tool calls of agents that call their tools as they like: which run a shell, which edit files, which do neither.

What belongs here: what the name and the arguments of a call say about files. What does not: formats whose tools are
one closed set with its own reports (Claude Code, Codex, OpenHands). An exchange format (ATIF, Inspect AI, Langfuse,
OpenTelemetry) carries the calls of any agent, so names are those of the widespread tools: the shells, the text editor
of Anthropic (`str_replace_editor` and its later names), plain file writers, patchers. A tool that is on no list may
have changed anything.
An edit is counted where its success is known: the log states it, or the answer begins as the tool does when it has
edited. An answer that begins with a refusal outweighs a status, which often only says that the tool did not crash.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.change_facts.edit import inserted, swapped, written
from governance_pipeline.ingest.formats.codex_patch import patch_changes
from governance_pipeline.ingest.formats.codex_tools import output_text
from governance_pipeline.ingest.formats.edits import UNKNOWN, LineCounts, created, patch_files, replaced
from governance_pipeline.ingest.formats.runs import ERROR, OK, REJECTED, Change
from governance_pipeline.ingest.formats.shell import may_change_files
from governance_pipeline.ingest.formats.values import members, text
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.change_facts.edit import Edit
    from governance_pipeline.ingest.formats.runs import Step

    Members = Mapping[str, Any]

SHELLS: Final = frozenset(
    """bash bash_command bash_session execute_bash execute_command run run_command run_in_terminal run_shell_command
    shell terminal""".split()  # noqa: SIM905 - a list of words
)
EDITORS: Final = frozenset(
    """edit edit_file file_editor str_replace str_replace_based_edit_tool str_replace_editor text_editor write
    write_file""".split()  # noqa: SIM905 - a list of words
)
PATCHERS: Final = frozenset({"apply_patch", "patch"})
"""Tools that are given a patch, of Codex or of git."""

HARMLESS: Final = frozenset(
    """file_search finish get_file glob grep list_directory ls mark_task_complete read read_file search submit
    task_complete think view web_search""".split()  # noqa: SIM905 - a list of words
)
"""Tools that change no file themselves."""

_APPLIED: Final = re.compile(
    r"(?:Exit code: 0\n(?:Wall time: [^\n]{1,40}\n)?Output:\n)?"
    r"(?:File created successfully|The file [^\n]{1,4096}? has been (?:edited|updated)"
    r"|Last edit to [^\n]{1,4096}? undone successfully|Success\. Updated the following files"
    r"|Successfully (?:created and wrote to new file|modified file|overwrote file|wrote to)\b)"
)
"""How the text editor of Anthropic, `apply_patch` of Codex and the file tools of Claude Code and Gemini begin to say
that they have edited."""

_REFUSED: Final = (
    "ERROR",
    "Error",
    "No replacement was performed",
    "No edit was",
    "Invalid `",
    "File already exists",
    "Failed ",
    "apply_patch verification failed",
)
"""How the same tools begin to say that they have not."""

_UNTRIED: Final = "verification failed"
"""In the answer of `apply_patch` when it has not begun to write; any other failure may leave half a patch."""

_JSON: Final = ("{", "[")
_COMMANDS: Final = ("command", "cmd", "keystrokes")
_PATCHES: Final = ("patch", "input", "diff")
_PATHS: Final = ("path", "file_path", "filePath", "filename")
_VIEW: Final = "view"


def command_of(tool: str | None, arguments: Any) -> str | None:
    """Give the exact command of a tool that runs one; a final line end only sends it and is not part of it."""
    if (tool or "").lower() not in SHELLS:
        return None
    values = [text(members(arguments).get(name)) for name in _COMMANDS]
    command = next((value for value in values if value is not None), None)
    return None if command is None else command.removesuffix("\n")


def finish(step: Step, arguments: Any, answer: Any) -> None:
    """Fill in what a call did to files, once it is known how it ended.

    `step.status` is None where the log states none; `answer` is what the tool gave back: a text, the JSON of one, an
    object or items of content, None when there is none.
    """
    call, name = members(arguments), (step.tool or "").lower()
    said = _text_of(answer) if name in EDITORS | PATCHERS else ""
    step.changes = _changes(step, name, call) if _is_applied(step, said) else []
    step.is_opaque = _is_opaque(step, name, call, said)


def _text_of(answer: Any) -> str:
    given = answer
    if isinstance(answer, str) and answer.startswith(_JSON):
        try:
            given = parse_json(answer.encode())
        except RecordRefused:
            return answer
    return (output_text(members(given).get("output", given)) or "").lstrip()


def _is_applied(step: Step, said: str) -> bool:
    if step.status in (ERROR, REJECTED) or said.startswith(_REFUSED):
        return False
    return step.status == OK or _APPLIED.match(said) is not None


def _is_opaque(step: Step, name: str, call: Members, said: str) -> bool:
    if step.status == REJECTED or step.changes or name in HARMLESS:
        return False
    if name in SHELLS:
        return may_change_files(step.command)
    if name in PATCHERS:
        return step.status != ERROR or _UNTRIED not in said
    if name in EDITORS:
        return call.get("command") != _VIEW and step.status != ERROR
    return True


def _changes(step: Step, name: str, call: Members) -> list[Change]:
    if name in PATCHERS:
        patch = next((value for key in _PATCHES if (value := text(call.get(key))) is not None), "")
        files = [Change(file.path, file.counts, step.tool, edit=file.edit) for file in patch_files(patch)]
        return patch_changes(patch, step.tool) or files
    change = _change(step, call) if name in EDITORS else None
    return [] if change is None else [change]


def _change(step: Step, call: Members) -> Change | None:
    path = next((value for name in _PATHS if (value := text(call.get(name))) is not None), None)
    if path is None or call.get("command") == _VIEW:
        return None
    return Change(path, _counts(call), step.tool, edit=_edit(call))


def _edit(call: Members) -> Edit | None:
    """Tell what the arguments show of the content; a plain writer may have overwritten something."""
    command, content = call.get("command"), call.get("file_text", call.get("content"))
    if isinstance(content, str) and command in (None, "create", "write"):
        return written(content, is_created=command == "create")
    given = call.get("new_str", call.get("insert_text"))
    if command == "insert" and isinstance(given, str):
        return inserted(given)
    old, new = (call.get(f"{side}_str", call.get(f"{side}_string")) for side in ("old", "new"))
    if isinstance(old, str) and isinstance(new, str):
        return swapped(old, new, is_everywhere=call.get("replace_all") is True)
    return None


def _counts(call: Members) -> LineCounts:
    """Count from the arguments; only a tool that refuses an existing file says that all its lines are new."""
    command = call.get("command")
    if command == "create" and isinstance(call.get("file_text"), str):
        return created(call["file_text"])
    inserted = call.get("new_str", call.get("insert_text"))
    if command == "insert" and isinstance(inserted, str):
        return created(inserted)
    old, new = (call.get(f"{side}_str", call.get(f"{side}_string")) for side in ("old", "new"))
    if isinstance(old, str) and isinstance(new, str) and call.get("replace_all") is not True:
        return replaced(old, new)
    return UNKNOWN
