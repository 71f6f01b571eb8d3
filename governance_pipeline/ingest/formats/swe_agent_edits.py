"""Actions of SWE-agent: its own commands, and what its edit commands did to files.

What belongs here: the text of an action and of the answer to it. What does not: the rest of a trajectory. An action
is a command line; what is not one of the interface's commands is a shell command.

Edit commands (SWE-agent `config/commands/*.sh` of 0.x, `tools/*` of 1.x) and the answer that shows they were applied:
- ``edit 4:7``, the new lines, ``end_of_edit`` (windowed, with or without linting): "File updated."
- ``edit 'search' 'replace' [all]`` (windowed_edit_replace): "Text replaced." or "Replaced n occurrences."
- ``edit 'text'`` (windowed_edit_rewrite, replaces what the window shows): "Edit successful."
- ``create path``: "[File: …". 0.x writes one empty line into the new file, 1.x none.
- ``insert 'text' [line]``: no message of its own, the window is shown: "[File: …".
- ``str_replace_editor create|str_replace|insert|undo_edit path --…`` (edit_anthropic): "File created successfully",
  "has been edited", "undone successfully".
Anything else in the answer means the edit was refused (a new syntax error, no open file, no match). Without an answer
(projections cut it) the edit may or may not have happened: nothing is counted, the step is opaque.
A replaced range counts as the command says, every line of it deleted and every new line added: what the range held
before is not in the log, so unchanged lines inside it count too.
"""

from __future__ import annotations

import itertools
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from governance_pipeline.ingest.change_facts.edit import Edit, inserted, swapped, written
from governance_pipeline.ingest.formats.edits import UNKNOWN, LineCounts, created, lines_of, replaced
from governance_pipeline.ingest.formats.runs import ERROR, OK, Change
from governance_pipeline.ingest.formats.shell import may_change_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HARMLESS: Final = frozenset(
    """open goto scroll_up scroll_down search_dir search_file find_file filemap submit view_image exit_forfeit
    exit_cost exit_context exit_format exit_error skip""".split()  # noqa: SIM905 - a list of words
)
EDITS: Final = frozenset({"edit", "create", "insert", "str_replace_editor"})
SHELL: Final = "bash"

_RANGE: Final = re.compile(r"edit (\d{1,9}):(\d{1,9})[^\n]*\n", re.ASCII)
_END: Final = re.compile(r"\n?end_of_edit\s*\Z")
_REPLACED: Final = re.compile(r"Replaced (\d{1,9}) occurrences", re.ASCII)
_FILE_SHOWN: Final = re.compile(r"\[File: (.{1,4096}?) \(\d+ lines total\)\]", re.ASCII)
_REFUSED: Final = "Your proposed edit has introduced new syntax error(s)"
_FAILED: Final = ("EXECUTION TIMED OUT", "EXECUTION FAILED OR COMMAND MALFORMED")
_RANGE_EDITED: Final = ("File updated.",)
_EDITED: Final = ("Text replaced.", "Replaced ", "Edit successful.")
_SHOWN: Final = ("[File: ",)
_EDITOR_DID: Final = ("File created successfully", "has been edited", "undone successfully")
_OPTIONS: Final = ("--file_text", "--old_str", "--new_str")
_NOT_OPEN: Final = "n/a"
LONGEST_SPLIT: Final = 2**20
"""Characters up to which a command line is split into words (shlex reads about 2 million a second)."""


@dataclass
class Outcome:
    """What an action was and did; `command` is set for shell commands only."""

    tool: str
    command: str | None = None
    status: str | None = None
    is_opaque: bool = False
    changes: list[Change] = field(default_factory=list)


def outcome_of(action: str, answer: str | None, open_file: str | None, empty_lines: int | None) -> Outcome:
    """Read one action.

    Args:
        action: the command line as logged.
        answer: the observation; None when the log has none.
        open_file: the file the interface shows after the action, which is the one `edit` works on.
        empty_lines: lines a file has that `create` made: 1 in 0.x, 0 in 1.x, None when the version is unknown.
    """
    command = action.strip("\n")
    tool = command.split(maxsplit=1)[0] if command.strip() else SHELL
    if tool in EDITS:
        return _edit(tool, command, answer, open_file, empty_lines)
    status = ERROR if answer is not None and answer.strip().startswith(_FAILED) else None
    if tool in HARMLESS:
        return Outcome(tool, status=status)
    return Outcome(SHELL, command, status, is_opaque=may_change_files(command))


def _edit(tool: str, command: str, answer: str | None, open_file: str | None, empty_lines: int | None) -> Outcome:
    words = _words(command)
    if tool == "str_replace_editor" and words[1:2] == ["view"]:
        return Outcome(tool)
    if answer is None:
        return Outcome(tool, is_opaque=True)
    if not _is_applied(tool, command, answer):
        return Outcome(tool, status=ERROR)
    named, counts = _change(tool, command, words, answer, empty_lines)
    is_open = open_file not in (None, _NOT_OPEN) and (named is None or str(open_file).endswith(f"/{named}"))
    path = open_file if is_open else named or _shown_file(answer)
    if path is None:
        return Outcome(tool, status=OK, is_opaque=True)
    return Outcome(tool, status=OK, changes=[Change(path, counts, tool, edit=_shown(tool, command, words))])


def _is_applied(tool: str, command: str, answer: str) -> bool:
    answer = answer.lstrip()
    if answer.startswith(_REFUSED):
        return False
    if tool == "str_replace_editor":
        return any(mark in answer for mark in _EDITOR_DID)
    if tool == "edit":
        return (
            any(mark in answer for mark in _RANGE_EDITED)
            if _RANGE.match(command + "\n")
            else answer.startswith(_EDITED)
        )
    return answer.startswith(_SHOWN)


def _change(
    tool: str, command: str, words: Sequence[str], answer: str, empty_lines: int | None
) -> tuple[str | None, LineCounts]:
    if tool == "str_replace_editor":
        return _editor(words)
    if tool == "create":
        path = words[1] if len(words) > 1 else None
        return path, UNKNOWN if empty_lines is None else LineCounts(empty_lines, 0)
    if tool == "insert":
        return None, created(words[1]) if len(words) > 1 else UNKNOWN
    match = _RANGE.match(command + "\n")
    if match is not None:
        first, last = int(match[1]), int(match[2])
        new = _END.sub("", command[match.end() :])
        return None, LineCounts(len(lines_of(new)), last - first + 1) if first <= last else UNKNOWN
    occurrences = _REPLACED.match(answer.lstrip())
    is_one = occurrences is None or occurrences[1] == "1"
    return None, replaced(words[1], words[2]) if is_one and len(words) > 2 else UNKNOWN  # noqa: PLR2004 - search, replace


def _shown(tool: str, command: str, words: Sequence[str]) -> Edit | None:
    """Tell what a command shows of the content; what a range or a window held before is not in the log."""
    if tool == "str_replace_editor":
        verb, options = words[1:2], _options(words[3:])
        if verb == ["create"] and "--file_text" in options:
            return written(options["--file_text"], is_created=True)
        if verb == ["str_replace"] and "--old_str" in options:
            return swapped(options["--old_str"], options.get("--new_str", ""))
        return inserted(options["--new_str"]) if verb == ["insert"] and "--new_str" in options else None
    if tool == "insert" and len(words) > 1:
        return inserted(words[1])
    if tool == "edit" and len(words) > 2 and not _RANGE.match(command + "\n"):  # noqa: PLR2004 - search, replace
        return swapped(words[1], words[2], is_everywhere="all" in words[3:])
    return None


def _editor(words: Sequence[str]) -> tuple[str | None, LineCounts]:
    verb, path = (*words[1:3], "", "")[:2]
    options = _options(words[3:])
    if verb == "create" and "--file_text" in options:
        return path or None, created(options["--file_text"])
    if verb == "str_replace" and "--old_str" in options:
        return path or None, replaced(options["--old_str"], options.get("--new_str", ""))
    if verb == "insert" and "--new_str" in options:
        return path or None, created(options["--new_str"])
    return path or None, UNKNOWN


def _options(words: Sequence[str]) -> Mapping[str, str]:
    return {name: value for name, value in itertools.pairwise(words) if name in _OPTIONS}


def _words(command: str) -> list[str]:
    """Split a command line as the shell would; one that it could not split, or is too long, has its name only."""
    try:
        return shlex.split(command) if len(command) <= LONGEST_SPLIT else command.split(maxsplit=1)[:1]
    except ValueError:
        return command.split(maxsplit=1)[:1]


def _shown_file(answer: str) -> str | None:
    match = _FILE_SHOWN.search(answer)
    return match[1] if match else None
