"""Tools of Codex: the command of a call, how it ended, and what it did to files.

What belongs here: the meaning of a call, its output and its end event. What does not: finding them (codex_sessions).
The shell tool was renamed (shell, local_shell, exec_command) and so was the form of its output: JSON with `metadata`,
text that begins `Exit code: N`, text with `Process exited with code N`. Tools on no list may have changed anything.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.extraction import text_sha256
from governance_pipeline.ingest.formats.codex_patch import applied_files, patch_changes
from governance_pipeline.ingest.formats.runs import ERROR, OK, REJECTED
from governance_pipeline.ingest.formats.shell import may_change_files
from governance_pipeline.ingest.formats.values import entries, exit_code, members, seconds, text
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from governance_pipeline.ingest.formats.runs import Step

    Members = Mapping[str, Any]

SHELLS: Final = frozenset({"shell", "local_shell", "exec_command", "container.exec", "shell_command", "user_shell"})
PATCH: Final = "apply_patch"
HARMLESS: Final = frozenset(
    """update_plan view_image web_search tool_search request_user_input spawn_agent send_input wait wait_agent
    resume_agent close_agent list_agents send_message followup_task get_goal create_goal update_goal
    list_mcp_resources list_mcp_resource_templates read_mcp_resource read_file list_dir grep_files""".split()  # noqa: SIM905 - a list of words
)
"""Tools that change no file themselves; what a sub-agent does is in its own session."""

REFUSED_BY_USER: Final = ("exec command rejected by user", "patch rejected by user")
"""What the program answers the model when the person it asked said no."""

DECLINED: Final = "declined"
_VERIFICATION: Final = "verification failed"
_WRAPPERS: Final = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh"})
_SCRIPT_FLAGS: Final = frozenset({"-c", "-lc"})
_WRAPPED: Final = 3
_EXIT_CODE: Final = re.compile(r"(?:\A|\n)(?:Exit code:|Process exited with code) (-?\d{1,9})(?=\n|\Z)", re.ASCII)
_WALL_TIME: Final = re.compile(r"(?:\A|\n)Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds?\b", re.ASCII)
_OUTPUT_BEGINS: Final = "\nOutput:"
_HEREDOC: Final = re.compile(r"\s*(?:apply_patch|applypatch)\s*<<\s*(['\"]?)(\w+)\1\n(.*)\n\2\s*", re.DOTALL)


def arguments_of(payload: Members) -> Any:
    """Give what a call was given: an object, or a text that is none (a patch, redacted arguments)."""
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    if not isinstance(given, str):
        return given
    try:
        return parse_json(given.encode())
    except RecordRefused:
        return given


def command_of(tool: str | None, arguments: Any) -> str | None:
    """Give the exact command of a call that runs one: the script of a wrapping shell, else the words, quoted."""
    if tool not in SHELLS:
        return None
    call = members(arguments)
    return text(call.get("cmd")) or command_text(call.get("command"))


def command_text(command: Any) -> str | None:
    """Give a command, written as a text or as words, as a text."""
    words = [word for word in entries(command) if isinstance(word, str)]
    if not words or len(words) != len(entries(command)):
        return text(command)
    if len(words) == _WRAPPED and words[0] in _WRAPPERS and words[1] in _SCRIPT_FLAGS:
        return words[2] or None
    return shlex.join(words)


def patch_of(tool: str | None, arguments: Any, command: str | None) -> str | None:
    """Give the patch a call applies: the input of the tool, or of a shell command that does nothing else."""
    if tool == PATCH:
        return text(arguments) or text(members(arguments).get("input")) or text(members(arguments).get("patch"))
    words = entries(members(arguments).get("command"))
    if len(words) == len((PATCH, "patch")) and words[0] == PATCH:
        return text(words[1])
    match = _HEREDOC.fullmatch(command or "")
    return match[3] if match else None


def answer(step: Step, output: Any) -> str | None:
    """Complete a step with the output of its call; gives the text of the output."""
    content = output_text(output)
    if content is None:
        return None
    step.output_sha256 = step.output_sha256 or text_sha256(content)
    if content.startswith(REFUSED_BY_USER):
        step.status = REJECTED
        return content
    code, duration = _reported(content)
    step.exit_code = code if step.exit_code is None else step.exit_code
    step.duration_s = duration if step.duration_s is None else step.duration_s
    if step.status is None:
        step.status = _status(step, content, members(output).get("success"))
    return content


def ended(step: Step, event: Members) -> None:
    """Complete a step with the event that says how a command, a patch or a call of another server ended."""
    step.exit_code = exit_code(event.get("exit_code")) if "exit_code" in event else step.exit_code
    duration = members(event.get("duration"))
    whole, rest = seconds(duration.get("secs")), seconds(duration.get("nanos"), per_second=10**9)
    step.duration_s = step.duration_s if whole is None else whole + (rest or 0.0)
    said = text(event.get("aggregated_output")) or text(event.get("stdout"))
    step.output_sha256 = step.output_sha256 or text_sha256(said)
    result = members(event.get("result"))
    is_failed = event.get("success") is False or "Err" in result or members(result.get("Ok")).get("isError") is True
    if step.exit_code is not None:
        step.status = OK if step.exit_code == 0 else ERROR
    elif is_failed or text(event.get("status")) in ("failed", DECLINED):
        step.status = ERROR
    elif event.get("success") is True or "Ok" in result or text(event.get("status")) == "completed":
        step.status = OK
    if any((text(event.get(name)) or "").startswith(REFUSED_BY_USER) for name in ("aggregated_output", "stderr")):
        step.status = REJECTED
    if step.status == OK and isinstance(event.get("changes"), dict):
        step.changes = applied_files(event["changes"], step.tool)


def close(step: Step, patch: str | None, *, is_read_only: bool, output: str | None) -> None:
    """Tell what a step did to files, once all that is known of it was read."""
    if step.status == OK and patch is not None and not step.changes:
        step.changes = patch_changes(patch, step.tool)
    if step.status == REJECTED or step.changes or step.tool in HARMLESS or is_read_only:
        step.is_opaque = False
    elif step.tool in SHELLS:
        step.is_opaque = may_change_files(step.command)
    else:
        step.is_opaque = not (step.tool == PATCH and step.status == ERROR and _VERIFICATION in (output or ""))


def output_text(output: Any) -> str | None:
    """Give the text of an output: itself, that of its content items, or of the object it is wrapped in."""
    if isinstance(output, dict):
        return output_text(output.get("text", output.get("content")))
    if isinstance(output, list):
        texts = [part for item in output if (part := text(members(item).get("text"))) is not None]
        return "\n".join(texts) if texts else None
    return text(output)


def _reported(content: str) -> tuple[int | None, float | None]:
    if content.startswith("{"):
        try:
            metadata = members(members(parse_json(content.encode())).get("metadata"))
        except RecordRefused:
            return None, None
        return exit_code(metadata.get("exit_code")), seconds(metadata.get("duration_seconds"))
    head = content.partition(_OUTPUT_BEGINS)[0]  # what the command printed may look like a report
    code, wall = _EXIT_CODE.search(head), _WALL_TIME.search(head)
    return (exit_code(int(code[1])) if code else None), (float(wall[1]) if wall else None)


def _status(step: Step, content: str, success: Any) -> str | None:
    if step.exit_code is not None:
        return OK if step.exit_code == 0 else ERROR
    if isinstance(success, bool):
        return OK if success else ERROR
    if step.tool == PATCH:
        return OK if content.startswith("Success.") else ERROR if _VERIFICATION in content else None
    return None
